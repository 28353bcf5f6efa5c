//! The judge of a task: asked only where the evidence leaves something to judge, and never believed against it.
//!
//! Two questions. Checks and scope are clean: is the acceptance met? Attempts get nowhere and the stage rises: is it
//! worth going on? What the judge finds missing counts as failures, so a judge that asks for the same thing again and
//! again is a stall like any other. Invariant: an answer that cannot be read never counts as a yes.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixpoint_vocabulary::ask::{About, ModelAnswer, ModelQuestion, Reading, Retry, TaskQuestion};
use fixpoint_vocabulary::documents::{Document, JudgeAnswer};
use fixpoint_vocabulary::work::{Command, CommitId, Conflict, FailureId, ReportedFailure};
use fixpoint_vocabulary::{Cause, Redacted, Redactor};
use serde::{Deserialize, Serialize};

use super::next_attempt::Told;
use super::{Decision, JudgeOrder, Judged, Start, TaskRun, Trial, Unreadable, Work};
use crate::convergence::Outcome;
use crate::judging::{self, Code, Evidence, Limits};

const OTHER_DOCUMENT: &str = "another kind of answer was given";

/// What the judge's words came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What was asked.
    pub question: TaskQuestion,
    /// The judge's answer.
    pub answer: JudgeAnswer,
    /// What becomes of the task.
    pub outcome: judging::Outcome,
    /// Which rule decided.
    pub code: Code,
}

impl TaskRun {
    /// What the judge said last.
    pub const fn judgement(&self) -> Option<&Judgement> {
        self.judgement.as_ref()
    }

    /// Whether the judge asked for smaller tasks in the place of this one.
    pub fn asks_for_replan(&self) -> bool {
        self.judgement.as_ref().is_some_and(|said| said.outcome == judging::Outcome::Replan)
    }

    /// What two sides the task is to bring together.
    pub(super) const fn conflict(&self) -> Option<&Conflict> {
        match &self.order.start {
            Start::Trial { conflict, .. } => conflict.as_ref(),
            Start::TakeBase | Start::At(_) | Start::On(_) => None,
        }
    }

    /// What the agent is told of the judge's words: those on the last attempt, not on one before it.
    pub(super) fn remarks(&self) -> Vec<Redacted> {
        let current = self.judgement.as_ref().filter(|_| self.judged_then == self.attempts());
        let Some(said) = current else { return Vec::new() };
        match said.outcome {
            judging::Outcome::Continue => Vec::from([Redactor::default().redact(&said.answer.reason)]),
            judging::Outcome::Done | judging::Outcome::Replan | judging::Outcome::Blocked => Vec::new(),
        }
    }

    pub(super) fn ask_judge(&self, question: TaskQuestion, commit: &CommitId, sample: u32) -> Decision {
        let origin = self.ground.base.as_ref().map_or_else(|| commit.clone(), |base| base.commit.clone());
        let (task, commit) = (self.order.task.clone(), commit.clone());
        let about = About::JudgeTask { task, commit, origin, question, sample };
        Decision::perform(Work::Judging, Command::Ask(ModelQuestion::new(about)))
    }

    /// The judge's last answer, where it could not be read.
    pub fn rejected_answer(&self) -> Option<&Redacted> {
        self.unreadable.last().map(|last| &last.text)
    }

    /// The evidence is clean: the task is done if nobody else must agree.
    pub(super) fn accept(&self, work: Work, trial: &Trial, told: Told) -> Decision {
        match &self.order.judge {
            Some(judge) if trial.yeses < judge.yeses => {
                self.ask_judge(TaskQuestion::Acceptance, &trial.commit, trial.yeses + 1)
            }
            // To take back what earlier attempts did leaves nothing that could be the result.
            Some(_) | None if self.is_undone(trial) => self.judge(work, trial, Told::incomplete(Vec::new())),
            Some(_) | None => self.judge(work, trial, told),
        }
    }

    /// Whether attempts led back to the tree they began with. Work that was there before them is a result in itself.
    fn is_undone(&self, trial: &Trial) -> bool {
        let is_from_base = match &self.order.start {
            Start::TakeBase | Start::At(_) | Start::On(_) => !self.ground.is_unproven,
            Start::Trial { .. } => false,
        };
        let base = self.ground.base.as_ref().filter(|_| is_from_base && trial.start_tree.is_some());
        base.is_some_and(|base| base.tree == trial.tree)
    }

    /// Nothing was changed. Where nothing is known to fail either, the judge may say that nothing had to be.
    pub(super) fn without_change(&self, trial: &Trial, unjudged: Told) -> Decision {
        if self.order.judge.is_some() && unjudged.failures.is_empty() && trial.violations.is_empty() {
            return self.evaluate(trial);
        }
        self.judge(Work::Attempting, trial, unjudged)
    }

    /// Folds what the judge said: a yes counts for the attempt on trial.
    pub(super) fn record_answer(&mut self, answer: &ModelAnswer) {
        match &answer.reading {
            Reading::Document(Document::TaskJudgement(said)) => {
                self.unreadable.clear();
                if let Some(trial) = self.trial.as_mut().filter(|_| said.success) {
                    trial.yeses += 1;
                }
            }
            // Another document is no answer, and must count: or it would be asked for again for ever.
            Reading::Document(_) => {
                let (problem, text) = (Redacted::ours(OTHER_DOCUMENT), Redacted::default());
                self.unreadable.push(Unreadable { problem, text });
            }
            Reading::Unreadable { problem, text } => {
                self.unreadable.push(Unreadable { problem: problem.clone(), text: text.clone() });
            }
            Reading::Unanswered { .. } => {}
        }
    }

    pub(super) fn with_answer(&self, answer: &ModelAnswer) -> Decision {
        let Some(judge) = &self.order.judge else { return Decision::end(Cause::JudgeUnavailable) };
        match &answer.reading {
            Reading::Document(Document::TaskJudgement(said)) => self.with_judgement(judge, said),
            Reading::Document(_) => self.unreadable(judge, Redacted::ours(OTHER_DOCUMENT)),
            Reading::Unreadable { problem, .. } => self.unreadable(judge, problem.clone()),
            // Nobody answered: that is no verdict, and may be mended.
            Reading::Unanswered { .. } => Decision::pause(Work::Judging, Cause::ModelUnavailable),
        }
    }

    fn unreadable(&self, judge: &JudgeOrder, problem: Redacted) -> Decision {
        let tries = u32::try_from(self.unreadable.len()).unwrap_or(u32::MAX);
        match &self.under_way {
            Some(Command::Ask(ask)) if tries <= judge.max_format_retries => {
                let retry = Some(Retry { tries, problem });
                let again = ModelQuestion { retry, ..ask.clone() };
                Decision::perform(Work::Judging, Command::Ask(again))
            }
            Some(_) | None => self.abandon(Cause::JudgeUnavailable, Vec::new()),
        }
    }

    fn with_judgement(&self, judge: &JudgeOrder, said: &JudgeAnswer) -> Decision {
        let question =
            if self.trial.is_some() { TaskQuestion::Acceptance } else { TaskQuestion::WorthGoingOn };
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
            judging::Outcome::Done => self.agreed(said),
            judging::Outcome::Continue => self.continued(said),
            judging::Outcome::Replan => self.abandon(Cause::JudgeGaveUp, missing(said)),
            judging::Outcome::Blocked => {
                self.abandon(verdict.cause.unwrap_or(Cause::JudgeGaveUp), missing(said))
            }
        };
        Decision { judgement: Some(judgement), ..next }
    }

    /// The judge agrees that the acceptance is met.
    fn agreed(&self, said: &JudgeAnswer) -> Decision {
        let Some(trial) = &self.trial else { return self.next_after_stage() };
        let is_changed = trial.start_tree.as_ref() != Some(&trial.tree.0) && !self.is_undone(trial);
        match (is_changed, said.already_satisfied) {
            (true, _) => self.with_suspects(Work::Judging, trial),
            (false, true) => {
                let judged =
                    self.judge(Work::Judging, trial, Told::without_failures(Outcome::Complete)).judged;
                Decision { judged, ..Decision::end(Cause::AlreadySatisfied) }
            }
            // To say that it is done does not do it.
            (false, false) => self.judge(Work::Judging, trial, Told::incomplete(Vec::new())),
        }
    }

    /// The judge asks for another attempt.
    fn continued(&self, said: &JudgeAnswer) -> Decision {
        match &self.trial {
            Some(trial) => self.judge(Work::Judging, trial, Told::incomplete(missing(said))),
            None => self.next_after_stage(),
        }
    }

    /// The next attempt, once it is known to be worth making.
    fn next_after_stage(&self) -> Decision {
        let counts = self.controller().counts();
        let from = if counts.stage >= 2 { self.best() } else { self.last.as_ref() };
        match from.or(self.last.as_ref()) {
            Some(left) => self.attempt(counts.iterations + 1, left.commit.clone(), counts.stage),
            None => Decision::end(Cause::NotConverging),
        }
    }

    /// The task ends; an attempt that is still on trial is put on record.
    fn abandon(&self, cause: Cause, failures: Vec<ReportedFailure>) -> Decision {
        let judged: Option<Judged> = self
            .trial
            .as_ref()
            .and_then(|trial| self.judge(Work::Judging, trial, Told::incomplete(failures)).judged);
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

/// Words instead of a number, as far as they are likely to be the same next time.
fn shortened(requirement: &str) -> String {
    let words = requirement.split_whitespace().take(8).collect::<Vec<_>>().join(" ");
    words.to_lowercase()
}
