//! Runs on disk: where they are, what they came to, and what is written about them for people and programs.
//!
//! Owns the layout of a run's directory, the story told out of its journal, the artifacts beside it and the diagnosis.
//! Refuses to decide and to perform: everything here is read out of what was recorded.
//!
//! ```text
//! <state>/<repository>/runs/<run>/
//!   journal, lock, blobs/     the record; the rest can be made again from it
//!   context/<task>/           baseline_failures.json, current_failures.json, failure_fingerprint_history.json,
//!                             completion_reasons.json, and on a stop diagnosis.md and diagnosis.json;
//!                             of each iteration a copy under iterations/<n>/
//!   output/, prompts/         what agents and checks printed, what agents were told
//! <state>/<repository>/baselines/   what checks showed at a base, beyond one run
//! <state>/locks/                    locks that checks name
//! ```

mod artifact_writer;
mod artifacts;
mod diagnosis;
mod directory;
mod explanation;
mod history;
mod loaded_run;
mod phase_time;
mod plan_summary;
mod planning_history;
mod run_explanation;
mod summary;
mod view;
mod words;

pub use artifact_writer::ArtifactWriter;
pub use artifacts::{
    BaselineCheck, BaselineFailures, CompletionReasons, CurrentFailures, FingerprintHistory, HistoryEntry,
};
pub use diagnosis::{Diagnosis, Persistent, Tried, cause_name, diagnosis_markdown};
pub use directory::{Home, RunDirectory, RunError, RunId};
pub use explanation::{Explanation};
pub use history::{FinishedAttempt, FinishedChecks, Iteration, RunHistory, TaskHistory};
pub use loaded_run::LoadedRun;
pub use phase_time::{PhaseTime, PhaseTimes};
pub use plan_summary::{PlanLine, RevisionLine, TaskLine};
pub use planning_history::{PlanningHistoryLine, planning_history};
pub use run_explanation::{explain};
pub use summary::{Cost, FailureLine, IterationLine, Status, Summary, Violation, texts};
pub use view::{FoldedRun, RunView, TaskView};
pub use words::{progress_words, state_words, status_words};
