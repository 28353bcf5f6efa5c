//! The executor over real repositories: agents that are played, and checks that really run.

#[cfg(test)]
mod baselines;
#[cfg(test)]
mod checked;
#[cfg(test)]
mod merging;
#[cfg(test)]
mod played;
#[cfg(test)]
mod right_tree;
