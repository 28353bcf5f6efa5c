//! Executes the commands of a simulated run: checks, attempts, merges, questions to models and people.
//!
//! Invariant: a command has the same result however often it is interrupted and repeated. Random numbers are drawn by the
//! command and by how often it has ended before, never from one stream.

use std::collections::BTreeSet;

use fixpoint_vocabulary::ask::{
    Ask, Material, ModelAnswer, ParsedAnswer, PersonAnswer, PersonQuestion, PersonQuestionKind, QuestionKind,
    Remark, SavedPlan,
};
use fixpoint_vocabulary::documents::{Document, GoalUnderstanding};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedCommand};
use fixpoint_vocabulary::usage::{MicroUsd, Usage};
use fixpoint_vocabulary::work::{
    BlobId, BranchUpdate, CachedPlanMatch, CheckCall, CheckEnd, CheckReport, CheckRun, Command, CommandEnd,
    CommandResult, CommitId, Delivered, DeliveredBranch, FailureId, Fingerprint, MergeCommand, Merged,
    ReportedFailure, RestorePaths, RestoredPath, TestName,
};
use fixpoint_vocabulary::{Redacted, TaskId};

use super::actors::{Actors, Checks, Models, Person, PlanStore, Planner};
use super::attempt::Attempt;
use super::judge::JudgeCall;
use super::parameters::PARAMETERS;
use super::planner::{PlannerCall, ordered};
use super::tree::{OUTSIDE, SHARED, Tree};
use crate::random::Random;

/// Identifies a command of a run, both when it is executed and on record.
pub(crate) fn key_of(task: Option<&TaskId>, command: &Command) -> String {
    let task = task.map(TaskId::as_str).unwrap_or_default();
    let what = match command {
        Command::TakeBase => "base".to_string(),
        Command::RunChecks(run) => format!("checks {:?} {} {:?}", run.calls, run.commit, run.reuse),
        Command::RunAttempt(order) => {
            format!("attempt {} {} {} {}", order.number, order.stage, order.base, order.origin)
        }
        Command::RestorePaths(order) => format!("graft {} {:?}", order.onto, order.paths),
        Command::FindProtected(range) => format!("compare {}", range.to),
        // The id of a merge task depends on the order in which tasks ended; the merged commits do not.
        Command::Merge(order) => return format!("merge {} {}", order.ours, order.theirs),
        Command::Ask(ask) => {
            let tries = ask.retry.as_ref().map_or(0, |retry| retry.tries);
            format!("ask {:?} {tries}", ask.about)
        }
        Command::AskPerson(ask) => format!("person {:?} {}", ask.kind, ask.about),
        Command::FindCachedPlan => "recall".to_string(),
        Command::StorePlan => "keep".to_string(),
        Command::Deliver(order) => format!("deliver {}", order.result),
    };
    format!("{task}: {what}")
}

impl Actors {
    fn random(&self, what: &str, key: &str, before: u32) -> Random {
        Random::keyed(self.goal.seed, &format!("{what} {before} {key}"))
    }

    /// Executes the command of a key, which has ended `before` times.
    pub(crate) fn execute(&self, key: &str, command: &PreparedCommand, before: u32) -> CommandEnd {
        if self.random("failing", key, before).unit() < self.failing {
            return CommandEnd::Failed { message: Redacted::ours("the machine is out of order") };
        }
        let random = self.random("doing", key, before);
        CommandEnd::Completed(match &command.action {
            PreparedAction::TakeBase => CommandResult::Base(Tree::default().base()),
            PreparedAction::RunChecks(run) => self.run_checks(run, command),
            PreparedAction::RunAttempt(attempt) => {
                let spec = command.task.as_ref();
                let (task, description) =
                    spec.map_or(("", ""), |spec| (spec.task.as_str(), spec.goal.as_str()));
                let attempt = Attempt { actors: self, task, description, attempt, random };
                CommandResult::Attempt(attempt.run())
            }
            PreparedAction::RestorePaths(order) => restore_paths(order),
            PreparedAction::FindProtected(..) => CommandResult::Protected { changes: Vec::new() },
            PreparedAction::Merge(order) => merge(order),
            PreparedAction::Ask(ask) => CommandResult::Answer(self.answer(ask, random)),
            PreparedAction::AskPerson(asked) => CommandResult::Person(self.ask_person(asked, random)),
            PreparedAction::FindCachedPlan => CommandResult::CachedPlan(self.cached_plan(random)),
            PreparedAction::StorePlan(_) => CommandResult::PlanStored,
            PreparedAction::Deliver(order) => {
                let (name, update) = (order.result.to_string(), BranchUpdate::Updated);
                let branch = Some(DeliveredBranch { name, update });
                CommandResult::Delivered(Delivered { branch, ..Delivered::default() })
            }
        })
    }

    fn run_checks(&self, run: &CheckRun, command: &PreparedCommand) -> CommandResult {
        let tree = Tree::of(&run.commit);
        let report = |call: &CheckCall| {
            let placed = command.checks.get(call.check as usize);
            let command = placed.map(|placed| placed.check.command.as_str()).unwrap_or_default();
            self.report(call, command, &tree)
        };
        CommandResult::Checks { reports: run.calls.iter().map(report).collect() }
    }

    fn report(&self, call: &CheckCall, command: &str, tree: &Tree) -> CheckReport {
        let (mut failing, mut all) = self.goal.failing(command, tree);
        let is_passing = |test: &&TestName| !failing.contains(test.as_str());
        let seen_passing: BTreeSet<TestName> = call.watched.iter().filter(is_passing).cloned().collect();
        if !call.only.is_empty() {
            failing.retain(|test| call.only.contains(&FailureId::Test(test.as_str().into())));
            all = u32::try_from(call.only.len()).unwrap_or(u32::MAX);
        }
        let failure = |test: &String| {
            let fingerprint = Fingerprint(format!("f:{test}"));
            ReportedFailure::of_test(test.as_str().into(), fingerprint, Redacted::ours("does not hold"))
        };
        let passed = all.saturating_sub(u32::try_from(failing.len()).unwrap_or(u32::MAX));
        let end = match self.checks {
            Checks::NotFound => CheckEnd::NotFound,
            Checks::Wait => CheckEnd::Waiting,
            Checks::Run if failing.is_empty() => CheckEnd::Passed,
            Checks::Run => CheckEnd::Failed,
        };
        CheckReport {
            failures: failing.iter().map(failure).collect(),
            passed: Some(passed),
            counted: u64::from(passed),
            passed_set: Some(BlobId("seen".to_string())),
            seen_passing,
            took_ms: 1,
            ..CheckReport::new(call.check, end)
        }
    }

    fn answer(&self, ask: &Ask, mut random: Random) -> ModelAnswer {
        let models = &PARAMETERS.models;
        let role = ask.about.role();
        let is_whole = matches!(ask.about, QuestionKind::JudgeWhole { .. });
        let chance = random.unit();
        let (unanswered, unreadable, other) = match self.models {
            Models::Ordinary => (
                chance < models.unanswered,
                chance > 1.0 - models.unreadable,
                (0.5..0.5 + models.other_document).contains(&chance),
            ),
            Models::Smooth => (false, false, false),
            Models::Silent(who) => (who == role, false, false),
            Models::Unreadable(who) => (false, who == role, false),
            Models::OtherDocument(who) => (false, false, who == role),
            Models::WholeUnreadable => (false, is_whole, false),
        };
        let reading = if unanswered {
            ParsedAnswer::Unanswered { why: Redacted::ours("nobody answers") }
        } else if unreadable {
            let (problem, text) = (Redacted::ours("not a document"), Redacted::ours("hm"));
            ParsedAnswer::Unreadable { problem, text }
        } else {
            let document = self.document(&ask.about, &ask.material, random.clone());
            ParsedAnswer::Document(if other {
                another_kind(&document, self, random.clone())
            } else {
                document
            })
        };
        let tokens = random.next_u64() % 2000;
        let cost = Some(MicroUsd::from_usd(PARAMETERS.prices.call / 2.0));
        let usage =
            Usage { calls: 1, input_tokens: 500 + tokens, output_tokens: 300, cost, ..Usage::default() };
        ModelAnswer { model: role.name().to_string(), usage, reading }
    }

    fn document(&self, about: &QuestionKind, material: &Material, random: Random) -> Document {
        let judge = || JudgeCall { actors: self, material, random: random.clone() };
        match about {
            QuestionKind::Plan
            | QuestionKind::Understand
            | QuestionKind::Decompose
            | QuestionKind::Order
            | QuestionKind::Refine { .. }
            | QuestionKind::ReplanTask { .. } => {
                PlannerCall { actors: self, material, random: random.clone() }.answer(about)
            }
            QuestionKind::JudgePlan { .. } => judge().plan(),
            QuestionKind::JudgeTask { commit, origin, question, .. } => {
                judge().task(commit, origin, *question)
            }
            QuestionKind::JudgeWhole { commit, .. } => judge().final_review(commit),
            QuestionKind::Reflect { .. } => judge().reflect(),
        }
    }

    fn ask_person(&self, asked: &PersonQuestion, mut random: Random) -> PersonAnswer {
        let people = &PARAMETERS.people;
        let by = Redacted::ours("somebody");
        let answer = if self.person == Person::Ordinary {
            match random.unit() {
                chance if chance < people.agree => Person::Agrees,
                chance if chance < people.agree + people.refuse => Person::Refuses,
                _ => Person::Absent,
            }
        } else {
            self.person
        };
        match (answer, asked.kind) {
            (Person::Absent | Person::Ordinary, _) => PersonAnswer::Nobody,
            (Person::Agrees, PersonQuestionKind::Clarification) => {
                PersonAnswer::Said(vec![Remark { by, text: Redacted::ours("the first one") }])
            }
            (Person::Agrees, PersonQuestionKind::Approval) => PersonAnswer::Approved { by },
            (Person::Refuses, PersonQuestionKind::Clarification) => PersonAnswer::Nobody,
            (Person::Refuses, PersonQuestionKind::Approval) => PersonAnswer::Refused { by },
        }
    }

    fn cached_plan(&self, random: Random) -> CachedPlanMatch {
        let material = Material { max_tasks: 100, ..Material::default() };
        let sound = Actors { planner: Planner::Sound, ..self.clone() };
        let tasks = PlannerCall { actors: &sound, material: &material, random }.tasks();
        let understanding =
            GoalUnderstanding { main_objective: "all parts".to_string(), ..GoalUnderstanding::default() };
        let draft =
            SavedPlan { goal: Redacted::ours("all parts"), understanding, actions: ordered(&tasks), tasks };
        match self.store {
            PlanStore::Empty => CachedPlanMatch::Nothing,
            PlanStore::Near => CachedPlanMatch::Near(draft),
            PlanStore::Exact => CachedPlanMatch::Exact(draft),
        }
    }
}

fn another_kind(document: &Document, actors: &Actors, random: Random) -> Document {
    let material = Material::default();
    match document {
        Document::Reflection(_) => JudgeCall { actors, material: &material, random }.plan(),
        Document::Planning(_)
        | Document::PlanJudgement(_)
        | Document::TaskJudgement(_)
        | Document::WholeJudgement(_) => JudgeCall { actors, material: &material, random }.reflect(),
    }
}

fn restore_paths(order: &RestorePaths) -> CommandResult {
    let mut tree = Tree::of(&order.onto);
    if order.paths.contains(&RestoredPath::File(OUTSIDE.to_string())) {
        tree.restore_outside();
    }
    let base = tree.base();
    CommandResult::Restored { commit: base.commit, tree: base.tree }
}

fn merge(order: &MergeCommand) -> CommandResult {
    let side = |commit: &CommitId| Tree::of(commit);
    let merged = side(&order.ours).merged(&side(&order.theirs));
    let base = merged.base();
    let conflicts = if merged.is_marked() { vec![SHARED.to_string()] } else { Vec::new() };
    CommandResult::Merged(Merged { commit: base.commit, tree: base.tree, conflicts })
}
