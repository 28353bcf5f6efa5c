//! Plans made flat, and what is wrong with them.

use fixpoint_vocabulary::documents::{Action, Complexity};
use proptest::prelude::*;

use super::*;

fn task(id: &str, dependencies: &[&str]) -> Subtask {
    Subtask {
        id: id.into(),
        description: format!("do {id}"),
        dependencies: dependencies.iter().map(|id| (*id).into()).collect(),
        estimated_complexity: Complexity::Medium,
        required_tools: vec![],
        acceptance: vec![],
        scope_paths: vec![],
        goals: vec![],
        context: String::new(),
        subtasks: vec![],
    }
}

fn outline(tasks: &[Subtask]) -> Vec<(String, Vec<String>)> {
    let names = |ids: &[TaskId]| ids.iter().map(ToString::to_string).collect();
    tasks.iter().map(|task| (task.id.to_string(), names(&task.dependencies))).collect()
}

fn named(id: &str, below: &[&str]) -> (String, Vec<String>) {
    (id.to_string(), below.iter().map(ToString::to_string).collect())
}

const ANY: Bounds<'static> = Bounds { max_tasks: 100, tools: &[] };

#[test]
fn a_task_made_of_others_waits_for_them_or_is_left_out() {
    let with_work = Subtask {
        acceptance: vec!["it holds".to_string()],
        subtasks: vec![task("a1", &[]), task("a2", &["a1"])],
        ..task("a", &["z"])
    };
    let without = Subtask { subtasks: vec![task("b1", &[]), task("b2", &[])], ..task("b", &["a"]) };
    let flat = flattened(&[task("z", &[]), with_work, without, task("c", &["b"])]);
    let expected = [
        named("z", &[]),
        named("a1", &["z"]),
        named("a2", &["a1", "z"]),
        named("a", &["z", "a1", "a2"]),
        named("b1", &["a"]),
        named("b2", &["a"]),
        named("c", &["b1", "b2"]),
    ];
    assert_eq!(outline(&flat), expected);
    assert_eq!(problem_of_tasks(&flat, ANY), None);
}

#[test]
fn what_is_wrong_names_the_offending_task() {
    let tools = ["edit".to_string()];
    let bounds = Bounds { max_tasks: 2, tools: &tools };
    let until = |goal: &str| Subtask { goals: vec![goal.to_string()], ..task("a", &[]) };
    let blank = || vec!["cargo test".to_string(), " ".to_string()];
    let needs = |tool: &str| Subtask { required_tools: vec![tool.to_string()], ..task("a", &[]) };
    let table = [
        (vec![], "at least one task"),
        (
            vec![task("a", &[]), task("b", &[]), task("c", &[])],
            "3 tasks are more than the 2 allowed, from `c` on",
        ),
        (vec![task("a", &[]), task("a", &[])], "several tasks are called `a`"),
        (vec![task("a", &["x"])], "`a` depends on `x`"),
        (vec![task("a", &["b"]), task("b", &["a"])], "circular dependency: a → b"),
        (vec![task("a", &["a"])], "circular dependency: a"),
        (vec![needs("sword")], "the tool `sword`, which does not exist; there are: edit"),
        (vec![task("../x", &[])], "`../x` cannot be the id"),
        (vec![task("", &[])], "cannot be the id"),
        (vec![task("a.lock", &[])], "cannot be the id"),
        (vec![Subtask { description: " \n".to_string(), ..task("a", &[]) }], "`a`: its description is empty"),
        (vec![until("true")], "`a`: the goal `true` passes whatever was done"),
        (vec![until("# goals")], "passes whatever was done"),
        (vec![until("echo \"all tests pass\"")], "passes whatever was done"),
        (vec![until("exit 0")], "passes whatever was done"),
        (vec![Subtask { goals: blank(), ..task("a", &[]) }], "`a`: an item of goals is empty"),
        (vec![Subtask { acceptance: blank(), ..task("a", &[]) }], "an item of acceptance is empty"),
        (vec![Subtask { scope_paths: blank(), ..task("a", &[]) }], "an item of scope_paths is empty"),
    ];
    for (tasks, words) in table {
        let problem = problem_of_tasks(&tasks, bounds).expect(words);
        assert!(problem.contains(words), "{problem}");
    }
    assert_eq!(problem_of_tasks(&[needs("edit")], bounds), None);
    for looking in ["true && cargo test", "echo $(cat a) | grep -q b", "exit 1", "# look\ngrep -q b a"] {
        assert_eq!(problem_of_tasks(&[until(looking)], bounds), None, "{looking}");
    }
}

#[test]
fn steps_of_unknown_tasks_and_tools_are_refused() {
    let action = |task: &str, tool: &str| Action {
        task_id: task.into(),
        action_type: String::new(),
        tool: tool.to_string(),
        purpose: String::new(),
        expected_outcome: String::new(),
        fallback_strategy: String::new(),
        parallel_group: None,
        can_parallelize: None,
        dependencies: vec![],
    };
    let plan = |order: &[&str], actions: Vec<Action>| ActionPlan {
        execution_order: order.iter().map(|id| (*id).into()).collect(),
        actions,
    };
    let tools = ["edit".to_string()];
    let bounds = Bounds { max_tasks: 9, tools: &tools };
    let tasks = [task("a", &[])];
    let problem = |plan: ActionPlan| problem_of_actions(&plan, &tasks, bounds);
    assert_eq!(problem(plan(&["a"], vec![action("a", "edit"), action("a", "")])), None);
    assert!(problem(plan(&["b"], vec![])).unwrap().contains("`b` is no task"));
    assert!(problem(plan(&[], vec![action("c", "edit")])).unwrap().contains("`c` is no task"));
    assert!(problem(plan(&[], vec![action("a", "sword")])).unwrap().contains("`sword`"));
}

proptest! {
    /// Catches levels that are lost or doubled on the way: every task with work of its own is there once, and what a
    /// sound plan was made of stays sound.
    #[test]
    fn flattening_keeps_every_task_once(shape in proptest::collection::vec((0usize..4, any::<bool>()), 1..8)) {
        let mut tasks = vec![];
        for (n, (parts, has_work)) in shape.iter().enumerate() {
            let mut whole = task(&format!("t{n}"), &[]);
            whole.dependencies = (0..n).map(|below| format!("t{below}").into()).collect();
            whole.subtasks = (0..*parts).map(|part| task(&format!("t{n}.p{part}"), &[])).collect();
            if *has_work {
                whole.goals.push("cargo test".to_string());
            }
            tasks.push(whole);
        }
        let flat = flattened(&tasks);
        let expected: usize =
            shape.iter().map(|(parts, has_work)| parts + usize::from(*parts == 0 || *has_work)).sum();
        prop_assert_eq!(flat.len(), expected);
        prop_assert!(flat.iter().all(|task| task.subtasks.is_empty()));
        prop_assert_eq!(problem_of_tasks(&flat, ANY), None);
    }
}
