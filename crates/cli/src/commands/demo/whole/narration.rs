//! What the demo explains while the run goes on: each thing once, when it happens for the first time.
//!
//! Says nothing that is not recorded at that time.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use fixpoint_decide::progress::ProgressKind;
use fixpoint_decide::refinement::Code;
use fixpoint_decide::run::{Change, MergeChange, PlanReviewChange, Run, TaskChange, TaskKind};
use fixpoint_decide::task_run::JudgedAttempt;
use fixpoint_engine::Record;
use fixpoint_runs::RunView;
use fixpoint_vocabulary::work::{Command, Event};
use fixpoint_vocabulary::{Cause, Lang, TaskState};

use super::moments::Moment;
use crate::scripted_person::DemoScript;
use crate::text_layout::wrap;

/// The answers of the scripted person. The scripted planner expects the beginning of the first one.
const ANSWERS: [&str; 2] = [
    "The discount, the receipts, the stock and the tax: what `sh tests/run.sh` says of them.",
    "The opening hours. I know that a test of them fails.",
];

/// Before every line of an explanation.
const MARK: &str = " ┃ ";
/// As wide as the terminal that most people have, so that a recorded demo looks the same everywhere.
const WIDTH: usize = 80;

#[derive(Debug)]
pub(super) struct Narration {
    lang: Lang,
    said: Mutex<BTreeSet<Moment>>,
}

impl Narration {
    pub(super) fn in_lang(lang: Lang) -> Self {
        Self { lang, said: Mutex::default() }
    }
}

impl DemoScript for Narration {
    fn answer(&self, number: usize) -> Option<&str> {
        ANSWERS.get(number).copied()
    }

    fn person(&self) -> &str {
        match self.lang {
            Lang::En => "you (scripted)",
            Lang::Ja => "あなた（台本）",
        }
    }

    fn comment(&self, record: &Record, view: RunView<'_>) -> Vec<String> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<Moment> =
            moments(record, view.run).into_iter().filter(|moment| said.insert(*moment)).collect();
        new.into_iter().flat_map(|moment| lines(moment.explanation(self.lang))).collect()
    }
}

/// An explanation, in lines.
pub(super) fn lines(text: &str) -> Vec<String> {
    wrap(text, WIDTH, MARK, MARK)
}

/// What a record is about, in the order of explanation.
fn moments(record: &Record, run: &Run) -> Vec<Moment> {
    let mut found = Vec::new();
    if matches!(record.event, Event::Started) {
        found.push(Moment::ExpectedCost);
    }
    found.extend(record.decision.changes.iter().filter_map(|change| moment_of(change, run)));
    let judged = record.decision.task_decisions().filter_map(|(_, decision)| decision.judged.as_ref());
    found.extend(judged.flat_map(moments_of_attempt));
    if record.decision.commands(0).any(|(_, _, command)| matches!(command, Command::AskPerson(_))) {
        found.push(Moment::Unclear);
    }
    if running_agents(run) > 1 {
        found.push(Moment::AtOnce);
    }
    found
}

/// Agents that are working.
pub(super) fn running_agents(run: &Run) -> usize {
    run.in_flight().filter(|(_, _, command)| matches!(command, Command::RunAttempt(_))).count()
}

fn moment_of(change: &Change, run: &Run) -> Option<Moment> {
    match change {
        Change::PlanReview(change) => moment_of_plan(change, run),
        Change::Task(change) => moment_of_task(change, run),
        Change::Merge(MergeChange::Merged { .. }) => Some(Moment::Merging),
        Change::FinalReview(_) => Some(Moment::Whole),
        Change::Merge(MergeChange::LeftOut { .. })
        | Change::Run(_)
        | Change::BaseChecks(_)
        | Change::Planning(_)
        | Change::FinalProof(_)
        | Change::Reflection(_)
        | Change::Delivery(_) => None,
    }
}

fn moment_of_plan(change: &PlanReviewChange, run: &Run) -> Option<Moment> {
    match change {
        PlanReviewChange::Planned { .. } => (run.review().revisions.len() == 1).then_some(Moment::Planned),
        PlanReviewChange::Decided { answer } => {
            let of_code = [
                (Code::QualityNotMet, Moment::TooLow),
                (Code::ApplyingSuggestions, Moment::OneMoreIdea),
                (Code::StagnatedInNoise, Moment::InNoise),
            ];
            of_code.into_iter().find(|(code, _)| *code == answer.reason.code).map(|(_, moment)| moment)
        }
        PlanReviewChange::Scored { .. }
        | PlanReviewChange::Accepted { .. }
        | PlanReviewChange::Flagged { .. } => None,
    }
}

fn moment_of_task(change: &TaskChange, run: &Run) -> Option<Moment> {
    match change {
        TaskChange::StateChanged { task, state, cause } => {
            let node = run.task(task)?;
            let is_for_nothing = node.run.as_ref().is_some_and(|run| run.attempts() == 0);
            let is_kept = *state == TaskState::Done && node.kind == TaskKind::Replanned && is_for_nothing;
            let is_blocked = *state == TaskState::Blocked && *cause == Some(Cause::NotConverging);
            is_kept.then_some(Moment::KeptWork).or_else(|| is_blocked.then_some(Moment::Blocked))
        }
        TaskChange::Started { .. } => Some(Moment::Begins),
        TaskChange::Replaced { .. } => Some(Moment::Replanned),
        TaskChange::Added { .. } | TaskChange::Decided { .. } | TaskChange::Rewired { .. } => None,
    }
}

fn moments_of_attempt(judged: &JudgedAttempt) -> Vec<Moment> {
    let progress = judged.verdict.progress;
    let is_complete = progress == ProgressKind::Complete;
    let is_raised = judged.verdict.stage > judged.stage && judged.verdict.stage == 2;
    let found = [
        (progress == ProgressKind::Repeated, Moment::Repeated),
        (progress == ProgressKind::Oscillating, Moment::Circles),
        (is_raised, Moment::StageTwo),
        (!judged.outside.is_empty(), Moment::Reverted),
        (is_complete && judged.stage == 2, Moment::Recovered),
        (is_complete && !judged.comparison.known.is_empty(), Moment::Known),
    ];
    found.into_iter().filter(|(is_so, _)| *is_so).map(|(_, moment)| moment).collect()
}
