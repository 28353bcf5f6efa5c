//! Runs on disk: their directories, their state and history read from the journal, and the files written about them.
//!
//! Owns the layout of a run's directory, the artifacts, summaries, explanations and the diagnosis. Decides nothing and
//! starts nothing: everything here comes from the journal.
//!
//! ```text
//! <state>/<repository>/runs/<run>/
//!   journal, lock, blobs/     the record; everything else can be made from it again
//!   context/<task>/           baseline_failures.json, current_failures.json, failure_fingerprint_history.json,
//!                             completion_reasons.json, for a failed task diagnosis.md and diagnosis.json;
//!                             a copy for each iteration in iterations/<n>/
//!   output/, prompts/         output of agents and checks, prompts of agents
//! <state>/<repository>/planning_history/<run>.jsonl
//! <state>/<repository>/baselines/   results of checks at a base, which later runs reuse
//! <state>/locks/                    locks that checks name
//! ```

mod artifact_writer;
mod artifacts;
mod base_report;
mod damage;
mod diagnosis;
mod directory;
mod error;
mod explanation;
mod failure_words;
mod history;
mod loaded_run;
mod past_cost;
mod phase_time;
mod plan_summary;
mod planning_history;
mod reached_limits;
mod run_explanation;
mod summary;
mod view;
mod words;

pub use artifact_writer::ArtifactWriter;
pub use artifacts::{
    BaselineCheck, BaselineFailures, CompletionReasons, CurrentFailures, FingerprintHistory, HistoryEntry,
};
pub use base_report::{environment_lines, implied_goal_lines, known_finding_lines};
pub use damage::{ReadRun, RunDamage};
pub use diagnosis::{Diagnosis, PersistentFailure, TriedAttempt, diagnosis_markdown};
pub use directory::{RunDirectory, RunId, StateDirectory};
pub use error::RunError;
pub use explanation::Explanation;
pub use failure_words::{FailureWords, scope_words};
pub use history::{FinishedAttempt, FinishedChecks, Iteration, RunHistory, TaskHistory};
pub use loaded_run::LoadedRun;
pub use past_cost::{PastKind, past_runs};
pub use phase_time::{PhaseTime, PhaseTimes};
pub use plan_summary::{PlanLine, RevisionLine, TaskLine};
pub use planning_history::{PlanningHistoryLine, planning_history};
pub use run_explanation::explain;
pub use summary::{Cost, FailureLine, IterationLine, Status, Summary, UsageLine, texts};
pub use view::{FoldedRun, RunView, TaskView};
pub use words::{beginning, cause_name, progress_words, say, state_words, status_words};
