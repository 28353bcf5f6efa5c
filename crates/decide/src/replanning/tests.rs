//! Inheritance, rewiring and limits of replanning.

use proptest::prelude::*;

use super::samples::{ids, task};
use super::*;
use crate::scheduling;

fn child(id: &str, dependencies: &[&str]) -> Child {
    Child { id: id.into(), dependencies: ids(dependencies), scope_paths: None, other: Map::new() }
}

fn question(tasks: Vec<GraphTask>, children: Vec<Child>) -> Question {
    Question {
        tasks,
        task: "b".into(),
        children,
        lineage_iteration: 0,
        reason: None,
        config: Limits::default(),
    }
}

fn chain() -> Vec<GraphTask> {
    vec![
        task("a", &[], TaskState::Done),
        task("b", &["a"], TaskState::Running),
        task("c", &["b"], TaskState::Ready),
    ]
}

fn rewired(question: &Question) -> Vec<GraphTask> {
    match decide(question).unwrap() {
        Answer::Rewired { tasks, .. } => tasks,
        Answer::Blocked { blocked } => panic!("blocked: {blocked:?}"),
    }
}

#[test]
fn children_inherit_and_dependents_wait_for_all_of_them() {
    let mut question = question(chain(), vec![child("x", &[]), child("y", &["x"]), child("z", &[])]);
    question.tasks[1].scope_paths = Some(vec!["src/**".to_string()]);
    let tasks = rewired(&question);
    let dependencies: Vec<_> =
        tasks.iter().map(|task| (task.id.as_str(), task.dependencies.clone())).collect();
    assert_eq!(
        dependencies,
        vec![
            ("a", vec![]),
            ("b", ids(&["a"])),
            ("c", ids(&["x", "y", "z"])),
            ("x", ids(&["a"])),
            ("y", ids(&["x", "a"])),
            ("z", ids(&["a"])),
        ]
    );
    assert_eq!(tasks[1].state, TaskState::ReplacedByReplan);
    assert_eq!(tasks[1].replaced_by, Some(ids(&["x", "y", "z"])));
    assert!(tasks[3..].iter().all(|child| child.state == TaskState::Ready));
    assert!(tasks[3..].iter().all(|child| child.scope_paths == Some(vec!["src/**".to_string()])));
}

#[test]
fn taken_names_are_made_fresh_and_siblings_follow() {
    let tasks = rewired(&question(chain(), vec![child("a", &[]), child("y", &["a"])]));
    assert_eq!((tasks[3].id.as_str(), &tasks[4].dependencies), ("b.a", &ids(&["b.a", "a"])));
}

#[test]
fn the_lineage_remembers_its_origin() {
    let mut second = question(chain(), vec![child("x", &[])]);
    second.lineage_iteration = 1;
    second.tasks[1].replanning_info = Some(ReplanningInfo {
        iteration: 1,
        max_iterations: 3,
        original_task_id: "origin".into(),
        replaced_by: vec![],
        replan_reason: None,
    });
    second.reason = Some("too big".to_string());
    let tasks = rewired(&second);
    let of_child = ReplanningInfo {
        iteration: 2,
        max_iterations: 3,
        original_task_id: "origin".into(),
        replaced_by: vec![],
        replan_reason: None,
    };
    let of_replaced = ReplanningInfo {
        replaced_by: ids(&["x"]),
        replan_reason: Some("too big".to_string()),
        ..of_child.clone()
    };
    let infos: Vec<_> = tasks.into_iter().map(|task| task.replanning_info).collect();
    assert_eq!(infos, [None, Some(of_replaced), None, Some(of_child)]);
}

#[test]
fn the_lineage_knows_its_replans_whatever_the_caller_says() {
    let mut asked = question(chain(), vec![child("x", &[])]);
    let info = |iteration| ReplanningInfo {
        iteration,
        max_iterations: 3,
        original_task_id: "origin".into(),
        replaced_by: vec![],
        replan_reason: None,
    };
    asked.tasks[1].replanning_info = Some(info(1));
    assert!(matches!(decide(&asked), Ok(Answer::Rewired { lineage_iteration: 2, .. })));
    asked.tasks[0].replanning_info = Some(info(2));
    let blocked = Answer::Blocked { blocked: Blocked { cause: Cause::MaxReplans } };
    assert_eq!(decide(&asked), Ok(blocked), "a sibling has used the last replan");
}

#[test]
fn limits_block_before_any_task_is_made() {
    let blocked = |question: &Question| match decide(question).unwrap() {
        Answer::Blocked { blocked } => blocked.cause,
        Answer::Rewired { .. } => panic!("rewired"),
    };
    let at =
        |iteration| Question { lineage_iteration: iteration, ..question(chain(), vec![child("x", &[])]) };
    assert!(matches!(decide(&at(1)), Ok(Answer::Rewired { lineage_iteration: 2, .. })));
    assert_eq!(blocked(&at(2)), Cause::MaxReplans);
    assert_eq!(blocked(&at(u32::MAX)), Cause::MaxReplans);
    let mut off = at(0);
    off.config.section.enabled = false;
    assert_eq!(blocked(&off), Cause::ReplanningDisabled);
    let mut full = at(0);
    full.config.max_subtasks = 3;
    assert_eq!(blocked(&full), Cause::MaxReplans);
    let crowd = |children| question(chain(), (0..children).map(|n| child(&n.to_string(), &[])).collect());
    assert_eq!(blocked(&crowd(6)), Cause::MaxReplans);
    let mut at_every_limit = crowd(5);
    at_every_limit.config.max_subtasks = 8;
    assert_eq!(rewired(&at_every_limit).len(), 8);
}

#[test]
fn what_cannot_be_rewired_is_refused_by_name() {
    let refused = |tasks, children| decide(&question(tasks, children)).unwrap_err();
    let table = vec![
        (refused(vec![], vec![child("x", &[])]), InvalidReplan::NoSuchTask("b".into())),
        (refused(chain(), vec![]), InvalidReplan::NoChildren("b".into())),
        (
            refused([chain(), chain()].concat(), vec![child("x", &[])]),
            InvalidReplan::DuplicateTask("a".into()),
        ),
        (
            refused(chain(), ["x", "x", "y", "y"].map(|id| child(id, &[])).to_vec()),
            InvalidReplan::DuplicateChild("x".into()),
        ),
        (
            refused(chain(), vec![child("x", &[]), child("y", &["nowhere"])]),
            InvalidReplan::UnknownDependency { child: "y".into(), missing: "nowhere".into() },
        ),
        (
            refused(chain(), vec![child("x", &["nowhere"])]),
            InvalidReplan::UnknownDependency { child: "x".into(), missing: "nowhere".into() },
        ),
        (refused(chain(), vec![child("x", &["c"])]), InvalidReplan::Circular("x".into())),
        (refused(chain(), vec![child("x", &["x"])]), InvalidReplan::Circular("x".into())),
        (refused(chain(), vec![child("x", &["b"])]), InvalidReplan::Circular("x".into())),
        (
            refused(
                [chain(), vec![task("loop", &["loop"], TaskState::Ready)]].concat(),
                vec![child("x", &["y"]), child("y", &["x"])],
            ),
            InvalidReplan::Circular("x".into()),
        ),
        (
            refused(vec![task("b", &[], TaskState::Done)], vec![child("x", &[])]),
            InvalidReplan::NotReplaceable("b".into(), TaskState::Done),
        ),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

proptest! {
    /// A judge that always asks for a replan: the lineage ends after `max_iterations - 1` replans, whatever
    /// the planner answers. Catches a counter kept per task instead of per lineage, and `>=` turned into `>`.
    #[test]
    fn every_lineage_ends(max in 0u32..6, sizes in proptest::collection::vec(1usize..=5, 8)) {
        let mut graph = vec![task("t", &[], TaskState::Running), task("last", &["t"], TaskState::Ready)];
        let (mut victim, mut iteration, mut replans) = (TaskId::from("t"), 0, 0);
        for (round, size) in sizes.into_iter().enumerate() {
            let children = (0..size).map(|n| child(&format!("r{round}c{n}"), &[])).collect();
            let mut config = Limits { max_subtasks: 10_000, ..Limits::default() };
            config.section.max_iterations = max;
            let question =
                Question { task: victim.clone(), lineage_iteration: iteration, config, ..question(graph.clone(), children) };
            match decide(&question).unwrap() {
                Answer::Blocked { blocked } => {
                    prop_assert_eq!(blocked.cause, Cause::MaxReplans);
                    prop_assert_eq!(replans, max.saturating_sub(1));
                    return Ok(());
                }
                Answer::Rewired { tasks, lineage_iteration } => {
                    replans += 1;
                    iteration = lineage_iteration;
                    victim = tasks.last().unwrap().id.clone();
                    graph = tasks;
                    // Nobody starts early: `last` still waits.
                    let waiting = scheduling::Question { tasks: graph.clone(), max_workers: 64 };
                    prop_assert!(!scheduling::decide(&waiting).unwrap().start.contains(&"last".into()));
                }
            }
        }
        prop_assert!(false, "the lineage did not end");
    }
}
