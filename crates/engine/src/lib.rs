//! The loop: an event, a decision, one durable record of both, and then what was decided is performed.
//!
//! ```text
//! event    = next outside event (a result, a person)
//! decision = decide(state, event)          pure
//! journal.append(expected, event+decision) durable, before anything happens
//! state.apply(event, decision)             records, never decides
//! perform(decision.commands)               each has one end, which is an event
//! ```
//!
//! Owns the order of these steps, resuming and replaying. Refuses decisions, and knowing any adapter. Invariant:
//! nothing is performed that is not on the disk, and nothing on the disk is decided again.

mod engine;
mod legacy;
mod record;
mod replay;

pub use engine::{Desk, Ending, Engine, EngineError, Return};
pub use record::{FORMAT, Opening, Record, RecordError, Recorded};
pub use replay::{Difference, Replayed, replay};
