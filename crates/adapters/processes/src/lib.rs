//! Programs run under supervision: when one has ended, no process that it started is left.
//!
//! Three processes take part in a run:
//!
//! ```text
//! this process ──► watchdog ──► supervisor ──► the program ──► whatever it starts
//! ```
//!
//! The supervisor starts the program and stops its whole tree: when told to, when the program has exited, and when this
//! process is gone, which it notices by the end of its socket. The kernel makes it the parent of processes that lost
//! theirs or moved to another session, so it finds them all. The watchdog does one thing: if the supervisor is killed,
//! the kernel makes the watchdog the parent of the tree, and it kills that. Either of the two may be killed without
//! anything being left.
//!
//! Owns: the supervisor, the limits, the output file of bounded size, the environment that an agent may see. Refuses:
//! knowing what an agent is or what its output means.
//!
//! Invariant: when [`Processes::run`](fixpoint_ports::Processes::run) returns a
//! [`ProcessExit`](fixpoint_ports::ProcessExit), no process of that run exists.

mod connection;
mod environment;
mod limits;
mod output_file;
mod protocol;
mod rotate;
mod run;
mod supervisor;
mod tree;

pub use environment::filtered_environment;
pub use run::SupervisedProcesses;
pub use supervisor::supervisor_main;
