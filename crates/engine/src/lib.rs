//! The loop: events, their decisions, one durable batch of both, and only then the commands.
//!
//! ```text
//! events    = what has happened outside (results, a person): one, and all that are waiting
//! decisions = for event in events: run.step(event)    pure; decides and advances in place
//! journal.append(expected, [(event, decision) …])     one durable batch, before anything happens
//! for command in decisions: executor.start(command)   each has one end, which is an event
//! ```
//!
//! Owns the order of these steps, resuming and replaying. Refuses decisions, and knowing any adapter. Invariants:
//! nothing is executed that is not on the disk; nothing on the disk is decided again; a run is folded once. When the
//! batch cannot be written, the engine ends: its state is ahead of the disk and must be dropped.

mod engine;
mod record;
mod replay;

pub use engine::{Engine, EngineDeps, EngineError, EngineExit, ResumeRequest};
pub use record::{FORMAT, JournalHeader, Record, RecordError, RecordedRun};
pub use replay::{Difference, ReplayReport, replay};
