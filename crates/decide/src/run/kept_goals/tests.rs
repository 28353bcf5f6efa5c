//! Runs in which a later task undoes what an earlier one reached.

use fixpoint_vocabulary::documents::{Document, Subtask, WholeJudgement};
use fixpoint_vocabulary::settings::{OnStop, Settings};
use fixpoint_vocabulary::work::{AgentEnd, AttemptResult, Command, CommandEnd, CommandResult, Merged};
use fixpoint_vocabulary::{TaskState, ask::ModelQuestion, ask::QuestionKind};

use super::super::run_fixture::{DONE, RunFixture, answer, base, subtask};
use super::super::{Owner, PlanOptions, RunStatus};
use crate::prelude::*;

/// A tree without the work of a task.
fn without(tree: &str, part: &str) -> String {
    tree.split(' ').filter(|word| *word != part).collect::<Vec<_>>().join(" ")
}

fn left(tree: &str) -> CommandEnd {
    let after = base(tree);
    CommandEnd::Completed(CommandResult::Attempt(AttemptResult::new(
        AgentEnd::Exited,
        after.commit,
        after.tree,
    )))
}

fn without_goals(task: Subtask) -> Subtask {
    Subtask { goals: Vec::new(), ..task }
}

/// A run in which everything that includes the work of `by` loses that of `a`, so many times.
struct Undoing {
    name: &'static str,
    plan: Vec<Subtask>,
    base: &'static str,
    by: &'static str,
    added: Vec<Subtask>,
    goals: BTreeSet<u32>,
}

impl Undoing {
    fn new(name: &'static str, plan: Vec<Subtask>) -> Self {
        Self { name, plan, base: "0", by: "b", added: Vec::new(), goals: BTreeSet::new() }
    }

    /// How the run ends, and with which tree.
    fn play(&self, mut times: u32) -> (RunFixture, RunStatus) {
        let options = |settings: &mut Settings, options: &mut PlanOptions| {
            settings.convergence.on_stop = OnStop::Block;
            options.goals.clone_from(&self.goals);
        };
        let mut world = RunFixture::new(self.plan.clone(), options);
        let mut added = self.added.clone();
        let mut undone = |tree: String| {
            let holds = |part: &str| tree.split(' ').any(|word| word == part);
            let is_undone = holds(self.by) && holds("a") && times > 0;
            times -= u32::from(is_undone);
            if is_undone { without(&tree, "a") } else { tree }
        };
        let status = world.go(&mut |owner, command| match (owner, command) {
            (_, Command::TakeBase) => Some(CommandEnd::Completed(CommandResult::Base(base(self.base)))),
            (Owner::Task(task), Command::RunAttempt(attempt)) => {
                let is_last = task.as_str().starts_with("goals-");
                let is_merge = task.as_str().starts_with("merge-");
                let own = match (is_last, is_merge) {
                    (true, _) => "everything a",
                    (_, true) => "a",
                    (false, false) => task.as_str(),
                };
                // Told what it broke, the agent brings it back.
                let repaired = if attempt.number > 1 { " a" } else { "" };
                Some(left(&undone(format!("{} {own}{repaired}", attempt.base.0))))
            }
            (_, Command::Merge(merge)) => {
                let merged = base(&undone(format!("{} {}", merge.ours, merge.theirs)));
                let (commit, tree) = (merged.commit, merged.tree);
                Some(CommandEnd::Completed(CommandResult::Merged(Merged {
                    commit,
                    tree,
                    conflicts: Vec::new(),
                })))
            }
            (_, Command::Ask(ModelQuestion { about: QuestionKind::JudgeWhole { .. }, .. })) => {
                let additional_tasks = core::mem::take(&mut added);
                Some(answer(Document::WholeJudgement(WholeJudgement {
                    is_complete: additional_tasks.is_empty(),
                    missing_aspects: Vec::new(),
                    additional_tasks,
                    completion_score: None,
                })))
            }
            (_, _) => None,
        });
        (world, status)
    }
}

fn runs() -> Vec<Undoing> {
    let (a, b) = (subtask("a", &[]), subtask("b", &["a"]));
    let beside = subtask("b", &[]);
    let middle = subtask("c", &["a"]);
    vec![
        Undoing::new("in order, with goals of its own", vec![a.clone(), b.clone()]),
        Undoing::new("in order, without goals", vec![a.clone(), without_goals(b.clone())]),
        Undoing::new(
            "with a task in between",
            vec![a.clone(), middle.clone(), without_goals(subtask("b", &["c"]))],
        ),
        Undoing::new("in parallel, with goals", vec![a.clone(), beside.clone()]),
        Undoing::new("in parallel, without goals", vec![a.clone(), without_goals(beside.clone())]),
        Undoing::new(
            "in parallel with a task that rests on it",
            vec![a.clone(), without_goals(middle), without_goals(beside.clone())],
        ),
        Undoing { base: "0 a", ..Undoing::new("reached at the base already", vec![a.clone(), beside]) },
        Undoing {
            added: vec![without_goals(subtask("x", &[]))],
            by: "x",
            ..Undoing::new("an added task", vec![a.clone(), subtask("b", &["a"])])
        },
        Undoing {
            goals: BTreeSet::from([1]),
            by: "everything",
            ..Undoing::new("the task for the goals of the run", vec![a, b])
        },
    ]
}

/// Catches a run that is done although a later task broke the goal of an earlier one.
#[test]
fn a_goal_that_is_undone_later_is_named_and_the_run_is_not_done() {
    for run in runs() {
        let (world, status) = run.play(u32::MAX);
        assert_ne!(status, DONE, "{}: {:?}", run.name, world.run.result());
        let goal = world.run.checks().iter().position(|placed| placed.check.command == "check a").unwrap();
        let is_named = world.run.tasks().filter(|node| node.state == TaskState::Blocked).any(|node| {
            let failures = node.run.as_ref().map(|run| run.lasting_failures()).unwrap_or_default();
            failures.iter().any(|failure| format!("{failure:?}").contains(&format!("t{goal}")))
        });
        assert!(is_named, "{}", run.name);
    }
}

/// Catches a goal that is broken once and never repaired, or repaired and not believed.
#[test]
fn a_goal_that_is_undone_once_is_repaired() {
    for run in runs() {
        let (world, status) = run.play(1);
        assert_eq!(status, DONE, "{}", run.name);
        let result = &world.run.result().unwrap().commit.0;
        assert!(result.split(' ').any(|word| word == "a"), "{}: {result}", run.name);
        assert_eq!(world.run.unproven_goals(), BTreeSet::new(), "{}", run.name);
    }
}

/// Catches goals that are run again though nothing could have changed them.
#[test]
fn nothing_is_added_where_every_goal_was_seen_passing() {
    let plan = vec![subtask("a", &[]), subtask("b", &["a"]), subtask("c", &[])];
    let mut world = RunFixture::new(plan, |_, _| {});
    assert_eq!(world.play(), DONE);
    let names: Vec<String> = world.run.tasks().map(|node| node.id().to_string()).collect();
    assert_eq!(names, ["a", "b", "c", "merge-1"]);
}
