//! The executor over real repositories, with agents that are played.

#[cfg(test)]
mod merging;
#[cfg(test)]
mod played;
