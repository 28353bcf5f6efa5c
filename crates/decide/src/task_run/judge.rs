//! The judge of a task: asked only where the evidence leaves something to judge, and never believed against it.
//!
//! Two questions. Checks and scope are clean: is the acceptance met? Attempts get nowhere and the stage rises: is it
//! worth going on? What the judge finds missing counts as failures, so a judge that asks for the same thing again and
//! again is a stall like any other. Invariant: an answer that cannot be read never counts as a yes.

use fixpoint_vocabulary::ask::{ModelAnswer, ModelQuestion, ParsedAnswer, QuestionKind, Retry, TaskQuestion};
use fixpoint_vocabulary::documents::{Document, JudgeAnswer};
use fixpoint_vocabulary::work::{Command, CommitId, FailureId, ReportedFailure};
use fixpoint_vocabulary::{Cause, Redacted, Redactor};
use serde::{Deserialize, Serialize};

use super::evaluation::Evaluation;
use super::next_attempt::CheckFindings;
use super::proof_tree::TreeKind;
use super::{Decision, JudgeOptions, TaskActivity, TaskRun, TaskStart};
use crate::convergence::AttemptOutcome;
use crate::judging::{self, Code, Evidence, Limits};
use crate::prelude::*;

/// An answer of the judge, and what becomes of the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub question: TaskQuestion,
    pub answer: JudgeAnswer,
    pub outcome: judging::Outcome,
    pub code: Code,
}

/// An answer of the judge that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnreadableAnswer {
    problem: Redacted,
    text: Redacted,
}

impl TaskRun {
    pub const fn judgement(&self) -> Option<&Judgement> {
        self.judgement.as_ref()
    }

    /// Whether the judge asked for smaller tasks in the place of this one.
    pub fn asks_for_replan(&self) -> bool {
        self.judgement.as_ref().is_some_and(|said| said.outcome == judging::Outcome::Replan)
    }

    /// The judge's last answer, where it could not be read.
    pub fn rejected_answer(&self) -> Option<&Redacted> {
        self.unreadable_answers.last().map(|last| &last.text)
    }

    /// What the next agent is told of the judge's words: those on the last attempt, not on one before it.
    pub(super) fn remarks(&self) -> Vec<Redacted> {
        let current = self.judgement.as_ref().filter(|_| self.attempts_at_judgement == self.attempts());
        let Some(said) = current else { return Vec::new() };
        match said.outcome {
            judging::Outcome::Continue => Vec::from([Redactor::default().redact(&said.answer.reason)]),
            judging::Outcome::Done | judging::Outcome::Replan | judging::Outcome::Blocked => Vec::new(),
        }
    }

    pub(super) fn ask_judge(&self, question: TaskQuestion, commit: &CommitId, sample: u32) -> Decision {
        let origin = self.baseline.base.as_ref().map_or_else(|| commit.clone(), |base| base.commit.clone());
        let (task, commit) = (self.options.task.clone(), commit.clone());
        let about = QuestionKind::JudgeTask { task, commit, origin, question, sample };
        Decision::execute(TaskActivity::Judging, Command::Ask(ModelQuestion::new(about)))
    }

    /// The evidence is clean: the task is done, unless the judge must agree and has not yet.
    pub(super) fn accept(
        &self,
        activity: TaskActivity,
        evaluation: &Evaluation,
        findings: CheckFindings,
    ) -> Decision {
        match &self.options.judge {
            Some(judge) if evaluation.yeses < judge.yeses => {
                self.ask_judge(TaskQuestion::Acceptance, &evaluation.commit, evaluation.yeses + 1)
            }
            // To undo what earlier attempts did leaves nothing that could be the result.
            Some(_) | None if self.is_undone(evaluation) => {
                self.conclude(activity, evaluation, CheckFindings::incomplete(Vec::new()))
            }
            Some(_) | None => self.conclude(activity, evaluation, findings),
        }
    }

    /// Whether attempts led back to the tree they began with. Work that was there before them is a result in itself.
    fn is_undone(&self, evaluation: &Evaluation) -> bool {
        let is_from_base = match &self.options.start {
            TaskStart::TakeBase
            | TaskStart::FromCommit(_)
            | TaskStart::FromCheckedBase(_)
            | TaskStart::FromBaseline(_) => !self.baseline.is_unproven,
            TaskStart::Evaluate { .. } => false,
        };
        let base = self.baseline.base.as_ref().filter(|_| is_from_base && evaluation.start_tree.is_some());
        base.is_some_and(|base| base.tree == evaluation.tree)
    }

    /// Nothing was changed. Where nothing is known to fail either, the judge may say that nothing had to be.
    pub(super) fn after_no_change(&self, evaluation: &Evaluation, unchecked: CheckFindings) -> Decision {
        if self.options.judge.is_some() && unchecked.failures.is_empty() && evaluation.violations.is_empty() {
            return self.evaluate(evaluation);
        }
        self.conclude(TaskActivity::Attempting, evaluation, unchecked)
    }

    /// Folds what the judge said: a yes counts for the attempt under evaluation.
    pub(super) fn record_answer(&mut self, answer: &ModelAnswer) {
        match &answer.reading {
            ParsedAnswer::Document(Document::TaskJudgement(said)) => {
                self.unreadable_answers.clear();
                if let Some(evaluation) = self.evaluation.as_mut().filter(|_| said.success) {
                    evaluation.yeses += 1;
                }
            }
            // Another document is no answer. It must count, or it would be asked for again for ever.
            ParsedAnswer::Document(_) => {
                let problem = Redacted::ours("another kind of answer was given");
                self.unreadable_answers.push(UnreadableAnswer { problem, text: Redacted::default() });
            }
            ParsedAnswer::Unreadable { problem, text } => {
                self.unreadable_answers
                    .push(UnreadableAnswer { problem: problem.clone(), text: text.clone() });
            }
            ParsedAnswer::Unanswered { .. } => {}
        }
    }

    pub(super) fn after_answer(&self, answer: &ModelAnswer) -> Decision {
        let Some(judge) = &self.options.judge else { return Decision::end(Cause::JudgeUnavailable) };
        match &answer.reading {
            ParsedAnswer::Document(Document::TaskJudgement(said)) => self.after_judgement(judge, said),
            ParsedAnswer::Document(_) | ParsedAnswer::Unreadable { .. } => self.after_unreadable(judge),
            // Nobody answered, which is no verdict: somebody may see to it.
            ParsedAnswer::Unanswered { .. } => {
                Decision::pause(TaskActivity::Judging, Cause::ModelUnavailable)
            }
        }
    }

    fn after_unreadable(&self, judge: &JudgeOptions) -> Decision {
        let tries = u32::try_from(self.unreadable_answers.len()).unwrap_or(u32::MAX);
        match (&self.last_command, self.unreadable_answers.last()) {
            (Some(Command::Ask(question)), Some(last)) if tries <= judge.max_format_retries => {
                let retry = Some(Retry { tries, problem: last.problem.clone() });
                let again = ModelQuestion { retry, ..question.clone() };
                Decision::execute(TaskActivity::Judging, Command::Ask(again))
            }
            (_, _) => self.give_up(Cause::JudgeUnavailable, Vec::new()),
        }
    }

    fn after_judgement(&self, judge: &JudgeOptions, said: &JudgeAnswer) -> Decision {
        let question =
            if self.evaluation.is_some() { TaskQuestion::Acceptance } else { TaskQuestion::WorthGoingOn };
        let contradicting = match (question, &self.last) {
            (TaskQuestion::WorthGoingOn, Some(last)) => {
                last.failures.iter().map(|failure| failure.id().to_string()).collect()
            }
            (TaskQuestion::WorthGoingOn, None) | (TaskQuestion::Acceptance, _) => Vec::new(),
        };
        let verdict = judging::decide(&judging::Question {
            answer: said.clone(),
            evidence: Evidence { new_failures: contradicting, scope_violations: Vec::new() },
            attempts_run: 0,
            lineage_iteration: judge.lineage_iteration,
            config: Limits { replanning: judge.replanning.clone(), ..Limits::default() },
        });
        let judgement =
            Judgement { question, answer: said.clone(), outcome: verdict.outcome, code: verdict.reason.code };
        let next = match verdict.outcome {
            judging::Outcome::Done => self.after_yes(said),
            judging::Outcome::Continue => self.after_no(said),
            judging::Outcome::Replan => self.give_up(Cause::JudgeGaveUp, missing(said)),
            judging::Outcome::Blocked => {
                self.give_up(verdict.cause.unwrap_or(Cause::JudgeGaveUp), missing(said))
            }
        };
        Decision { judgement: Some(judgement), ..next }
    }

    /// The judge agrees that the acceptance is met.
    fn after_yes(&self, said: &JudgeAnswer) -> Decision {
        let Some(evaluation) = &self.evaluation else { return self.next_after_stage() };
        let is_changed = !evaluation.is_unchanged() && !self.is_undone(evaluation);
        match (is_changed, said.already_satisfied) {
            (true, _) => self.conclude_guards(TaskActivity::Judging, evaluation, TreeKind::Proof),
            (false, true) => {
                let complete = CheckFindings::without_failures(AttemptOutcome::Complete);
                let judged = self.conclude(TaskActivity::Judging, evaluation, complete).judged;
                Decision { judged, ..Decision::end(Cause::AlreadySatisfied) }
            }
            // To say that it is done does not do it.
            (false, false) => {
                self.conclude(TaskActivity::Judging, evaluation, CheckFindings::incomplete(Vec::new()))
            }
        }
    }

    /// The judge asks for another attempt.
    fn after_no(&self, said: &JudgeAnswer) -> Decision {
        match &self.evaluation {
            Some(evaluation) => {
                self.conclude(TaskActivity::Judging, evaluation, CheckFindings::incomplete(missing(said)))
            }
            None => self.next_after_stage(),
        }
    }

    /// The next attempt, once it is known to be worth making.
    fn next_after_stage(&self) -> Decision {
        let counts = self.controller().counts();
        let from = if counts.stage >= 2 { self.best() } else { self.last.as_ref() };
        match from.or(self.last.as_ref()) {
            Some(from) => self.attempt(counts.iterations + 1, from.commit.clone(), counts.stage),
            None => Decision::end(Cause::NotConverging),
        }
    }

    /// The task ends; an attempt that is still under evaluation is put on record.
    fn give_up(&self, cause: Cause, failures: Vec<ReportedFailure>) -> Decision {
        let judged = self.evaluation.as_ref().and_then(|evaluation| {
            self.conclude(TaskActivity::Judging, evaluation, CheckFindings::incomplete(failures)).judged
        });
        Decision { judged, ..Decision::end(cause) }
    }
}

/// What the judge finds missing, as failures: by the number of the acceptance where one is named.
fn missing(said: &JudgeAnswer) -> Vec<ReportedFailure> {
    let failure = |requirement: &String| {
        let name = item_number(requirement).unwrap_or_else(|| shortened(requirement));
        ReportedFailure::new(FailureId::Missing(name), Redactor::default().redact(requirement))
    };
    if said.missing_requirements.is_empty() {
        return Vec::from([failure(&"unsaid".to_string())]);
    }
    said.missing_requirements.iter().map(failure).collect()
}

/// The `A2` of "A2", "A2: the parser" or "(A2) …".
fn item_number(requirement: &str) -> Option<String> {
    let word = requirement.trim_start_matches(|c: char| !c.is_alphanumeric());
    let digits: String = word.strip_prefix(['A', 'a'])?.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("A{digits}"))
}

/// The first words, in lower case: they are likely to be the same next time.
fn shortened(requirement: &str) -> String {
    let words = requirement.split_whitespace().take(8).collect::<Vec<_>>().join(" ");
    words.to_lowercase()
}
