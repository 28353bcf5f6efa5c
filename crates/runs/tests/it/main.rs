//! Runs on a disk: what is recorded comes back whole, and the files written about it are right.

#[cfg(test)]
mod incremental_artifacts;
#[cfg(test)]
mod on_disk;
#[cfg(test)]
mod planned_run;
