//! Every test runs real processes, and fails if one of them is left; it looks for them in `/proc`.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod exits;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod killed_supervisors;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod output;
#[cfg(test)]
mod trees;
