//! The one test binary of this crate. Every test runs real processes on a stage, which fails the test if any of
//! them is left; it looks for them in `/proc`.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod deaths;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod given;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod output;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod trees;
