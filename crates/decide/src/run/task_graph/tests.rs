//! What is kept up to date is what would be found by looking at everything.

use fixpoint_vocabulary::documents::Subtask;
use proptest::prelude::*;

use super::super::{NewTask, TaskKind};
use super::*;
use crate::scheduling;

fn name(n: u8) -> TaskId {
    TaskId::from(format!("t{n}"))
}

fn node(n: u8, below: &[u8], scope: u8) -> TaskNode {
    let task = Subtask {
        dependencies: below.iter().copied().map(name).collect(),
        // Some scopes are of the same directory, and some of everything.
        scope_paths: if scope == 0 { Vec::new() } else { Vec::from([format!("d{scope}/**")]) },
        ..Subtask::new(name(n), alloc::string::String::new())
    };
    let new = NewTask::new(task, TaskKind::Planned);
    TaskNode::new(new, BTreeSet::new())
}

/// What may happen to the tasks.
#[derive(Debug, Clone)]
enum Step {
    Added(Vec<u8>, u8),
    Moved(u8, TaskState),
    Rewired(u8, Vec<u8>),
    Replaced(u8, Vec<u8>),
    Reflected(u8),
    Ordered(Vec<u8>),
}

const MOST: u8 = 40;

fn step() -> impl Strategy<Value = Step> {
    let some = || proptest::collection::vec(0..MOST, 0..3);
    let state = prop_oneof![
        3 => Just(TaskState::Done),
        2 => Just(TaskState::Running),
        1 => Just(TaskState::Blocked),
        1 => Just(TaskState::Ready),
        1 => Just(TaskState::NeedsContinuation),
        1 => Just(TaskState::Cancelled),
    ];
    prop_oneof![
        6 => (some(), 0u8..6).prop_map(|(below, scope)| Step::Added(below, scope)),
        8 => (0..MOST, state).prop_map(|(task, state)| Step::Moved(task, state)),
        1 => (0..MOST, some()).prop_map(|(task, below)| Step::Rewired(task, below)),
        1 => (0..MOST, some()).prop_map(|(task, by)| Step::Replaced(task, by)),
        1 => (0..MOST).prop_map(Step::Reflected),
        1 => proptest::collection::vec(0..MOST, 0..8).prop_map(Step::Ordered),
    ]
}

/// Takes a step that makes no circle: every task waits for earlier ones and is replaced by later ones.
fn take(graph: &mut TaskGraph, step: &Step) {
    let names = |list: &[u8], is_right: &dyn Fn(u8) -> bool| -> Vec<TaskId> {
        list.iter().copied().filter(|n| is_right(*n)).map(name).collect()
    };
    match step {
        Step::Added(below, scope) => {
            let n = u8::try_from(graph.len()).unwrap();
            let below: Vec<u8> = below.iter().copied().filter(|other| *other < n).collect();
            graph.add(node(n, &below, *scope));
        }
        Step::Moved(task, state) => graph.rewire(&name(*task), |node| node.state = *state),
        Step::Rewired(task, below) => {
            let below = names(below, &|other| other < *task);
            graph.rewire(&name(*task), |node| node.task.dependencies = below);
        }
        Step::Replaced(task, by) => {
            let by = names(by, &|other| other > *task);
            graph.rewire(&name(*task), |node| {
                node.state = TaskState::ReplacedByReplan;
                node.replaced_by = by;
            });
        }
        Step::Reflected(task) => graph.update(&name(*task), |node| node.reflected = true),
        Step::Ordered(order) => {
            graph.set_order(&order.iter().copied().map(name).collect::<Vec<_>>());
        }
    }
}

fn assert_kept(graph: &TaskGraph, max_workers: u32) -> Result<(), TestCaseError> {
    let tasks = graph.in_order().into_iter().map(TaskNode::outline).collect();
    let answer = scheduling::decide(&scheduling::Question { tasks, max_workers }).unwrap();
    let next = graph.next_to_start(max_workers as usize).map(TaskNode::id);
    prop_assert_eq!(next, answer.start.first());
    prop_assert_eq!(graph.is_finished(), answer.finished);
    let active: Vec<&TaskNode> = graph.iter().filter(|node| is_active(node)).collect();
    prop_assert_eq!(graph.active().collect::<Vec<_>>(), active);
    prop_assert_eq!(graph.waiting(), graph.iter().filter(|node| node.state.is_waiting()).count());
    prop_assert_eq!(graph.ended(), graph.iter().filter(|node| node.has_ended()).count());
    for node in graph.iter() {
        prop_assert_eq!(graph.get(node.id()), Some(node));
    }
    Ok(())
}

proptest! {
    /// Catches: those above a task that was done not looked at again (`changed.extend`), a task not taken out of where
    /// it no longer waits (`Count::Out`), a new order that does not reach what is ready, a replaced task that is met
    /// too early.
    #[test]
    fn what_starts_next_is_what_scheduling_says(
        steps in proptest::collection::vec(step(), 0..90),
        max_workers in 1u32..5,
    ) {
        let mut graph = TaskGraph::default();
        for step in &steps {
            take(&mut graph, step);
            assert_kept(&graph, max_workers)?;
        }
    }
}

#[test]
fn two_of_one_name_are_noticed() {
    let mut graph = TaskGraph::default();
    graph.add(node(1, &[], 1));
    assert!(!graph.has_duplicates());
    graph.add(node(1, &[], 2));
    assert!(graph.has_duplicates());
}
