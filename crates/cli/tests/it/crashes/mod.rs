//! `fixpoint loop` for real while everything that can go wrong does: processes killed, disks full, files gone.
//!
//! Each test has a repository, an agent and checks of its own, a few lines of shell, with children that leave their
//! parents. Every wait has a bound; nothing may be left running, and nothing an agent wrote may be lost.

mod bit_flips;
mod damage;
mod disks;
mod hostile_text;
mod kills;
mod overlap;
mod scene;
mod stopping;
mod supervisors;
mod two_processes;
mod watching;
