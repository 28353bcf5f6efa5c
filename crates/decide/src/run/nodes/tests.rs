//! What is kept up to date is what would be found by looking at everything.

use alloc::format;

use fixpoint_vocabulary::documents::{Complexity, Subtask};
use proptest::prelude::*;

use super::super::{NewTask, NodeKind};
use super::*;
use crate::scheduling;

fn name(n: u8) -> TaskId {
    TaskId::from(format!("t{n}"))
}

fn node(n: u8, below: &[u8], scope: u8) -> Node {
    let task = Subtask {
        id: name(n),
        description: alloc::string::String::new(),
        dependencies: below.iter().copied().map(name).collect(),
        estimated_complexity: Complexity::Medium,
        required_tools: Vec::new(),
        acceptance: Vec::new(),
        // Some scopes are of the same directory, and some of everything.
        scope_paths: if scope == 0 { Vec::new() } else { Vec::from([format!("d{scope}/**")]) },
        goals: Vec::new(),
        context: alloc::string::String::new(),
        subtasks: Vec::new(),
    };
    let new = NewTask { task, kind: NodeKind::Planned, lineage: None, ground: None };
    Node::new(new, BTreeSet::new())
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
fn take(nodes: &mut Nodes, step: &Step) {
    let names = |list: &[u8], is_right: &dyn Fn(u8) -> bool| -> Vec<TaskId> {
        list.iter().copied().filter(|n| is_right(*n)).map(name).collect()
    };
    match step {
        Step::Added(below, scope) => {
            let n = u8::try_from(nodes.len()).unwrap();
            let below: Vec<u8> = below.iter().copied().filter(|other| *other < n).collect();
            nodes.push(node(n, &below, *scope));
        }
        Step::Moved(task, state) => nodes.change(&name(*task), |node| node.state = *state),
        Step::Rewired(task, below) => {
            let below = names(below, &|other| other < *task);
            nodes.change(&name(*task), |node| node.task.dependencies = below);
        }
        Step::Replaced(task, by) => {
            let by = names(by, &|other| other > *task);
            nodes.change(&name(*task), |node| {
                node.state = TaskState::ReplacedByReplan;
                node.replaced_by = by;
            });
        }
        Step::Reflected(task) => nodes.change(&name(*task), |node| node.reflected = true),
        Step::Ordered(order) => {
            nodes.put_in_order(&order.iter().copied().map(name).collect::<Vec<_>>());
        }
    }
}

fn assert_kept(nodes: &Nodes, max_workers: u32) -> Result<(), TestCaseError> {
    let tasks = nodes.in_order().into_iter().map(Node::outline).collect();
    let answer = scheduling::decide(&scheduling::Question { tasks, max_workers }).unwrap();
    let next = nodes.next_to_start(max_workers as usize).map(Node::id);
    prop_assert_eq!(next, answer.start.first());
    let is_over = nodes.is_any_running() || next.is_some();
    prop_assert!(!(answer.finished && is_over), "what is finished neither runs nor starts");
    let active: Vec<&Node> = nodes.iter().filter(|node| is_active(node)).collect();
    prop_assert_eq!(nodes.active().collect::<Vec<_>>(), active);
    prop_assert_eq!(nodes.waiting(), nodes.iter().filter(|node| node.state.is_waiting()).count());
    prop_assert_eq!(nodes.ended(), nodes.iter().filter(|node| has_ended(node)).count());
    for node in nodes.iter() {
        prop_assert_eq!(nodes.get(node.id()), Some(node));
    }
    Ok(())
}

proptest! {
    /// Catches: those above a task that was done not looked at again (`changed.extend`), a task not taken out of where
    /// it no longer waits (`Tally::Out`), a new order that does not reach what is ready, a replaced task that is met
    /// too early.
    #[test]
    fn what_starts_next_is_what_scheduling_says(
        steps in proptest::collection::vec(step(), 0..90),
        max_workers in 1u32..5,
    ) {
        let mut nodes = Nodes::default();
        for step in &steps {
            take(&mut nodes, step);
            assert_kept(&nodes, max_workers)?;
        }
    }

    /// Catches a change that reaches the original through what a copy shares with it.
    #[test]
    fn a_copy_changes_nothing_of_its_original(
        before in proptest::collection::vec(step(), 0..60),
        after in proptest::collection::vec(step(), 0..30),
    ) {
        let mut nodes = Nodes::default();
        before.iter().for_each(|step| take(&mut nodes, step));
        let known: Vec<Node> = nodes.iter().cloned().collect();
        let mut copy = nodes.clone();
        after.iter().for_each(|step| take(&mut copy, step));
        prop_assert_eq!(nodes.iter().cloned().collect::<Vec<_>>(), known);
        assert_kept(&nodes, 3)?;
        after.iter().for_each(|step| take(&mut nodes, step));
        prop_assert!(nodes == copy, "the same steps lead to the same");
        assert_kept(&nodes, 3)?;
    }
}

#[test]
fn two_of_one_name_are_noticed() {
    let mut nodes = Nodes::default();
    nodes.push(node(1, &[], 1));
    assert!(!nodes.has_twins());
    nodes.push(node(1, &[], 2));
    assert!(nodes.has_twins());
}
