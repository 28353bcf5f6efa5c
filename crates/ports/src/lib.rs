//! What Fixpoint needs from the outside world, as traits: a journal, a place for large payloads, processes,
//! workspaces, models.
//!
//! Owns the words in which the engine and the adapters localize with each other. Refuses implementations, and any
//! knowledge of which there are. Errors are told apart by what the caller can do about them.

mod blobs;
mod cancel;
mod clock;
mod executor;
mod journal;
mod model;
mod processes;
mod workspaces;

pub use blobs::{BlobError, Blobs};
pub use fixpoint_vocabulary::work::{BlobId, BranchUpdate, CommitId, TreeId};

pub use cancel::{Cancel, Urgency};
pub use clock::Clock;
pub use executor::{Executor, Inbox, Outbox, mailbox};
pub use journal::{Journal, JournalError, Seq};
pub use model::{
    AnswerFormat, Message, Model, ModelError, ModelFailure, ModelReply, ModelRequest, StopReason, Tool,
    ToolCall, ToolOutcome,
};
pub use processes::{
    AccessKind, CapturedOutput, ExitCause, FileAccess, Invocation, ProcessError, ProcessExit, ProcessLimits,
    Processes, Program, Purpose, RefusedAccess, Stdin,
};
pub use workspaces::{
    ChangeKind, CommittedTree, CopyRefusal, CopyReport, DiffStyle, FileChange, FileState, LeftOut,
    MergedTree, RecoveredWork, Recovery, Slot, SlotLeftovers, SlotPurpose, SlotRequest, Snapshot,
    SnapshotOrigin, SymbolicLink, UnrecoveredSlot, UntrackedFile, WorkspaceError, Workspaces,
};
