//! Programs run under supervision, so that nothing of them is left, whatever they do.
//!
//! Three processes stand behind a run:
//!
//! ```text
//! this process ──► guard ──► keeper ──► the program ──► whatever it starts
//! ```
//!
//! The keeper starts the program and ends its tree: when told to, when the program has ended, and when this process
//! is gone, which it sees by its socket closing. Processes that left their parent or their session are handed to it
//! by the kernel, so it finds them all. The guard does one thing: should the keeper be killed, the tree is handed to
//! the guard, which ends it. Either of the two may be killed without anything being left.
//!
//! Owns: the supervisor, the limits, the capped output, the environment an agent may see. Refuses: knowing what an
//! agent is or means by its output.
//!
//! Invariant: when [`Processes::run`](fixpoint_ports::Processes::run) returns an [`ProcessExit`](fixpoint_ports::ProcessExit), no
//! process of that run exists.

mod capture;
mod environment;
mod limits;
mod link;
mod rotate;
mod run;
mod supervisor;
mod tree;
mod wire;

pub use environment::scrubbed;
pub use run::SupervisedProcesses;
pub use supervisor::supervisor_main;
