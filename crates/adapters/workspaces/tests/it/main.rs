//! What workspaces promise, tried with the installed git on scratch repositories.

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod mischief;
#[cfg(test)]
mod places;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod results;
#[cfg(test)]
mod same_second;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod slots;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod unfinished;
#[cfg(test)]
mod upkeep;
