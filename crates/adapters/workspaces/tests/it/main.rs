//! What workspaces promise, tested with the installed git on temporary repositories.

#[cfg(test)]
mod agent_actions;
#[cfg(test)]
mod apply;
#[cfg(test)]
mod commits;
#[cfg(test)]
mod concurrency;
#[cfg(test)]
mod copy_ignored;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hidden_edits;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod pristine;
mod prune;
#[cfg(test)]
mod read;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod repositories;
#[cfg(test)]
mod same_second;
#[cfg(test)]
mod slots;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod switching;
