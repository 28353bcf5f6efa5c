//! A small made-up world in which whole runs are played, for tests: commands end as a script says, or well.

use fixpoint_vocabulary::ask::{
    ModelAnswer, ModelQuestion, ParsedAnswer, PersonAnswer, PersonPresence, PlanningStyle, QuestionKind,
};
use fixpoint_vocabulary::documents::{
    Complexity, Document, GoalUnderstanding, JudgeAnswer, PlanJudgement, PlanRevision, PlanningDocument,
    Reflection, ReflectionDocument, ReflectionPhase, ReflectionStatus, Subtask, TaskDecomposition,
    TypedChange, WholeJudgement,
};
use fixpoint_vocabulary::run_spec::{BaseSource, PlacedCheck, RunSpec};
use fixpoint_vocabulary::settings::{Check, CheckKind, Settings};
use fixpoint_vocabulary::usage::{Allowance, Usage};
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, Base, CachedPlanMatch, CheckEnd, CheckReport, Command, CommandEnd, CommandId,
    CommandResult, CommitId, Delivered, Event, Merged, ReportedFailure, TestName, TreeId,
};
use fixpoint_vocabulary::{Cause, Redacted, Score, TaskState};

use super::*;
use crate::task_run::TestEdits;

pub(super) fn base(name: &str) -> Base {
    Base { commit: CommitId(name.into()), tree: TreeId(name.into()) }
}

pub(super) fn subtask(id: &str, after: &[&str]) -> Subtask {
    Subtask {
        id: id.into(),
        description: format!("do {id}"),
        dependencies: after.iter().map(|id| (*id).into()).collect(),
        estimated_complexity: Complexity::Medium,
        required_tools: Vec::new(),
        acceptance: Vec::new(),
        scope_paths: vec![format!("src/{id}/**")],
        goals: vec![format!("check {id}")],
        context: String::new(),
        subtasks: Vec::new(),
    }
}

pub(super) fn document(tasks: Vec<Subtask>) -> Document {
    Document::Planning(PlanningDocument {
        goal_understanding: Some(GoalUnderstanding::default()),
        task_decomposition: Some(TaskDecomposition { reasoning: String::new(), subtasks: tasks }),
        ..PlanningDocument::default()
    })
}

pub(super) fn answer(document: Document) -> CommandEnd {
    let reading = ParsedAnswer::Document(document);
    let answer = ModelAnswer { model: "m".into(), usage: Usage::default(), reading };
    CommandEnd::Completed(CommandResult::Answer(answer))
}

pub(super) fn judgement(success: bool) -> Document {
    Document::TaskJudgement(JudgeAnswer {
        success,
        should_continue: true,
        should_replan: false,
        already_satisfied: false,
        reason: String::new(),
        missing_requirements: Vec::new(),
    })
}

/// A run under way in the small world, whose commands end in the order in which they began.
pub(super) struct RunFixture {
    pub(super) run: Run,
    pub(super) seq: u64,
    pub(super) plan: Vec<Subtask>,
    /// Every command that was begun.
    pub(super) begun: Vec<(Owner, Command)>,
}

impl RunFixture {
    pub(super) fn new(plan: Vec<Subtask>, change: impl FnOnce(&mut Settings, &mut PlanOptions)) -> Self {
        let mut settings = Settings::default();
        let placed = |command: &str, kind| PlacedCheck {
            check: Check::new(command, command, kind),
            directory: String::new(),
        };
        let mut options = PlanOptions {
            calls: PlanningCalls::AtOnce,
            style: PlanningStyle::default(),
            reflection_interval: 0,
            person: PersonPresence::Available,
            judging: Judging::ByModel,
            extent: RunExtent::Whole,
            sigma: None,
            prices: BTreeMap::new(),
            tools: Vec::new(),
            guards: BTreeSet::from([0]),
            goals: BTreeSet::new(),
            test_edits: TestEdits::Checked,
        };
        change(&mut settings, &mut options);
        let spec = RunSpec {
            version: String::new(),
            repository: String::new(),
            directory: String::new(),
            goal: Redacted::ours("everything"),
            agent: Vec::new(),
            checks: vec![placed("guard", CheckKind::Guard), placed("check everything", CheckKind::Goal)],
            base: BaseSource::WorkingTree,
            settings,
            delivery: fixpoint_vocabulary::run_spec::Delivery::Branch,
        };
        let run = Run::new(RunOptions::planned(options, Allowance::default()), Some(spec));
        Self { run, seq: 0, plan, begun: Vec::new() }
    }

    pub(super) fn send(&mut self, event: &Event) {
        self.seq += 1;
        let turn = Turn { seq: self.seq, elapsed_ms: 0 };
        let mut resumed = self.run.clone();
        let decision = self.run.step(turn, event).unwrap();
        self.begun.extend(decision.commands(turn.seq).map(|(_, owner, command)| (owner, command.clone())));
        // Whatever is recorded leads to the same state again.
        resumed.apply(turn, event, &decision);
        assert!(resumed == self.run, "{event:?} folds into something else than it was decided to be");
    }

    pub(super) fn end(&mut self, command: CommandId, end: CommandEnd) {
        self.send(&Event::Ended { command, end, took_ms: 0 });
    }

    /// Lets commands end, as a script says or as they usually do, until the run rests or nothing may end.
    pub(super) fn go(&mut self, script: &mut dyn FnMut(&Owner, &Command) -> Option<CommandEnd>) -> RunStatus {
        if self.run.status() == RunStatus::New {
            self.send(&Event::Started);
        }
        for _ in 0..400 {
            let Some((id, owner, command)) = self.run.in_flight().next() else { break };
            let (owner, command) = (owner.clone(), command.clone());
            let end = script(&owner, &command).unwrap_or_else(|| self.usual(&owner, &command));
            self.end(id, end);
        }
        self.run.status()
    }

    pub(super) fn play(&mut self) -> RunStatus {
        self.go(&mut |_, _| None)
    }

    fn usual(&self, owner: &Owner, command: &Command) -> CommandEnd {
        CommandEnd::Completed(match command {
            Command::TakeBase => CommandResult::Base(base("0")),
            Command::FindCachedPlan => CommandResult::CachedPlan(CachedPlanMatch::Nothing),
            Command::StorePlan => CommandResult::PlanStored,
            Command::RunChecks(run) => {
                let report = |call: &fixpoint_vocabulary::work::CheckCall| {
                    let checked = self.run.checks().get(call.check as usize).unwrap();
                    let part = checked.check.command.strip_prefix("check ").unwrap_or("0");
                    report(call.check, run.commit.0.split(' ').any(|word| word == part))
                };
                CommandResult::Checks { reports: run.calls.iter().map(report).collect() }
            }
            Command::RunAttempt(attempt) => {
                let Owner::Task(task) = owner else { panic!("{owner:?}") };
                let part = if task.as_str().starts_with("goals-") { "everything" } else { task.as_str() };
                let after = base(&format!("{} {part}", attempt.base.0));
                CommandResult::Attempt(AttemptResult::new(AgentEnd::Exited, after.commit, after.tree))
            }
            Command::RestorePaths(restore) => {
                CommandResult::Restored { commit: restore.onto.clone(), tree: TreeId(restore.onto.0.clone()) }
            }
            Command::FindProtected(_) => CommandResult::Protected { changes: Vec::new() },
            Command::Merge(merge) => {
                let merged = base(&format!("{} {}", merge.ours, merge.theirs));
                let (commit, tree) = (merged.commit, merged.tree);
                CommandResult::Merged(Merged { commit, tree, conflicts: Vec::new() })
            }
            Command::Ask(ask) => return answer(self.words(&ask.about)),
            Command::AskPerson(_) => CommandResult::Person(PersonAnswer::Nobody),
            Command::Deliver(_) => CommandResult::Delivered(Delivered::default()),
        })
    }

    fn words(&self, about: &QuestionKind) -> Document {
        match about {
            QuestionKind::Plan
            | QuestionKind::Understand
            | QuestionKind::Decompose
            | QuestionKind::Order
            | QuestionKind::Refine { .. } => document(self.plan.clone()),
            QuestionKind::ReplanTask { task } => document(vec![subtask(&format!("{task}-1"), &[])]),
            QuestionKind::JudgePlan { .. } => Document::PlanJudgement(PlanJudgement {
                is_acceptable: true,
                issues: Vec::new(),
                suggestions: Vec::new(),
                overall_score: Some(Score::nearest(90.0)),
            }),
            QuestionKind::JudgeTask { .. } => judgement(true),
            QuestionKind::JudgeWhole { .. } => Document::WholeJudgement(WholeJudgement {
                is_complete: true,
                missing_aspects: Vec::new(),
                additional_tasks: Vec::new(),
                completion_score: None,
            }),
            QuestionKind::Reflect { .. } => looking_back(),
        }
    }

    pub(super) fn asked(&self, is_it: impl Fn(&QuestionKind) -> bool) -> usize {
        let asks = self.begun.iter().filter_map(|(_, command)| {
            if let Command::Ask(ModelQuestion { about, .. }) = command { Some(about) } else { None }
        });
        asks.filter(|about| is_it(about)).count()
    }

    pub(super) fn state(&self, task: &str) -> Option<TaskState> {
        self.run.task(&task.into()).map(|node| node.state)
    }
}

pub(super) fn report(check: u32, is_passing: bool) -> CheckReport {
    let test = TestName(format!("t{check}"));
    let failure = ReportedFailure::of_test(test.clone(), format!("f:t{check}").into(), Redacted::default());
    CheckReport {
        failures: if is_passing { Vec::new() } else { vec![failure] },
        passed: Some(5),
        counted: 5,
        seen_passing: BTreeSet::from([test]).into_iter().filter(|_| is_passing).collect(),
        ..CheckReport::new(check, if is_passing { CheckEnd::Passed } else { CheckEnd::Failed })
    }
}

/// A look back that wants the plan in another order.
pub(super) fn looking_back() -> Document {
    let change =
        fixpoint_vocabulary::documents::Change::Typed(TypedChange::Reorder { execution_order: Vec::new() });
    let revision = PlanRevision { reason: String::new(), changes: vec![change], updated_action_plan: None };
    Document::Reflection(ReflectionDocument {
        phase: ReflectionPhase::Reflection,
        reflection: Reflection {
            action_evaluated: "a".into(),
            status: ReflectionStatus::Partial,
            evaluation: String::new(),
            alignment_with_plan: String::new(),
            issues_identified: Vec::new(),
            plan_revision_needed: true,
            error: None,
            root_cause_analysis: None,
        },
        plan_revision_needed: None,
        plan_revision: Some(revision),
        comment: String::new(),
    })
}

pub(super) const DONE: RunStatus = RunStatus::Ended { cause: Cause::Done };
