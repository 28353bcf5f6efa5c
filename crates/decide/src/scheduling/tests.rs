//! What starts when, in single cases and over whole random schedules.

use proptest::prelude::*;

use super::*;
use crate::replanning::samples::task;

fn scoped(task: GraphTask, paths: &[&str]) -> GraphTask {
    GraphTask { scope_paths: Some(paths.iter().map(ToString::to_string).collect()), ..task }
}

fn replaced(id: &str, by: &[&str]) -> GraphTask {
    let replaced_by = Some(by.iter().map(|id| (*id).into()).collect());
    GraphTask { replaced_by, ..task(id, &[], TaskState::ReplacedByReplan) }
}

fn answer(max_workers: u32, tasks: Vec<GraphTask>) -> (Vec<String>, Vec<String>, bool) {
    let answer = decide(&Question { tasks, max_workers }).unwrap();
    let names = |ids: Vec<TaskId>| ids.iter().map(ToString::to_string).collect();
    (names(answer.start), names(answer.blocked), answer.finished)
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn dependencies_and_workers() {
    use TaskState::*;
    let tasks = || {
        vec![
            task("a", &[], Ready),
            task("b", &["a"], Ready),
            task("c", &[], NeedsContinuation),
            task("d", &[], Ready),
        ]
    };
    assert_eq!(answer(2, tasks()), (names(&["a", "c"]), vec![], false));
    assert_eq!(answer(9, tasks()), (names(&["a", "c", "d"]), vec![], false));
    let busy = vec![task("a", &[], Running), task("b", &[], Ready)];
    assert_eq!(answer(1, busy), (vec![], vec![], false));
    let ended = vec![task("a", &[], Done), task("b", &["a"], Cancelled), task("c", &[], Blocked)];
    assert_eq!(answer(3, ended), (vec![], vec![], true));
    assert_eq!(answer(3, vec![]), (vec![], vec![], true));
}

#[test]
fn replacements_stand_in_for_what_they_replace() {
    use TaskState::*;
    let waiting = |x, y| {
        vec![replaced("a", &["x", "y"]), task("x", &[], x), task("y", &[], y), task("d", &["a"], Ready)]
    };
    assert_eq!(answer(3, waiting(Done, Running)).0, names(&[]));
    assert_eq!(answer(3, waiting(Done, Done)).0, names(&["d"]));
    assert_eq!(answer(3, waiting(Done, Blocked)), (vec![], names(&["d"]), true));
    let twice =
        vec![replaced("a", &["b"]), replaced("b", &["c"]), task("c", &[], Done), task("d", &["a"], Ready)];
    assert_eq!(answer(3, twice).0, names(&["d"]));
}

#[test]
fn what_cannot_be_done_blocks_what_waits_for_it() {
    use TaskState::*;
    let chain = vec![task("a", &[], Blocked), task("b", &["a"], Ready), task("c", &["b"], Ready)];
    assert_eq!(answer(3, chain), (vec![], names(&["b", "c"]), true));
    let unknown = vec![task("a", &["nowhere"], Ready), task("b", &[], Ready)];
    assert_eq!(answer(3, unknown), (names(&["b"]), names(&["a"]), false));
    let circle = vec![task("a", &["b"], Ready), task("b", &["a"], Ready)];
    assert_eq!(answer(3, circle), (vec![], names(&["a", "b"]), true));
}

#[test]
fn two_tasks_of_one_name_are_refused() {
    let twice = vec![task("a", &[], TaskState::Ready), task("a", &[], TaskState::Ready)];
    assert_eq!(decide(&Question { tasks: twice, max_workers: 3 }), Err(DuplicateTask("a".into())));
}

#[test]
fn overlapping_scopes_take_turns() {
    use TaskState::*;
    let tasks = vec![
        scoped(task("a", &[], Running), &["src/**"]),
        scoped(task("b", &[], Ready), &["src/parser/*.rs"]),
        scoped(task("c", &[], Ready), &["docs/**"]),
        scoped(task("d", &[], Ready), &["docs/guide.md"]),
        scoped(task("e", &[], Ready), &[]),
        task("f", &[], Ready),
    ];
    assert_eq!(answer(9, tasks).0, names(&["c", "f"]));
    let exclusive = vec![scoped(task("a", &[], Ready), &[]), scoped(task("b", &[], Ready), &["x"])];
    assert_eq!(answer(9, exclusive).0, names(&["a"]));
}

#[test]
fn a_very_long_chain_is_no_problem() {
    let mut tasks = vec![task("0", &[], TaskState::Ready)];
    tasks.extend((1..50_000).map(|n: u32| task(&n.to_string(), &[&(n - 1).to_string()], TaskState::Ready)));
    assert_eq!(answer(3, tasks).0, names(&["0"]));
}

fn random_graph() -> impl Strategy<Value = Vec<GraphTask>> {
    let row =
        (proptest::collection::vec(any::<prop::sample::Index>(), 0..3), proptest::option::of(0..4usize));
    proptest::collection::vec(row, 1..12).prop_map(|rows| {
        let scopes: [&[&str]; 4] = [&["src/**"], &["src/a/*"], &["docs/**"], &[]];
        let mut tasks = vec![];
        for (n, (dependencies, scope)) in rows.into_iter().enumerate() {
            let ids: BTreeSet<String> =
                dependencies.iter().filter(|_| n > 0).map(|index| format!("t{}", index.index(n))).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let new = task(&format!("t{n}"), &ids, TaskState::Ready);
            tasks.push(match scope {
                Some(scope) => scoped(new, scopes[scope]),
                None => new,
            });
        }
        tasks
    })
}

proptest! {
    /// Runs whole schedules in which running tasks end in any order and now and then fail. Catches a task
    /// started before its dependencies, twice, beyond the workers or beside an overlapping one, a `finished`
    /// that comes too early, and a loop that never gets to some task.
    #[test]
    fn no_schedule_starts_early_twice_or_too_many_and_none_starves(
        graph in random_graph(), max_workers in 1u32..4,
        ends in proptest::collection::vec((any::<prop::sample::Index>(), 0..10u32), 200),
    ) {
        let mut tasks = graph;
        let mut started = BTreeMap::<TaskId, u32>::new();
        let mut ends = ends.into_iter();
        loop {
            let answer = decide(&Question { tasks: tasks.clone(), max_workers }).unwrap();
            for id in &answer.start {
                let by_id: BTreeMap<_, _> = tasks.iter().map(|t| (t.id.clone(), t.clone())).collect();
                prop_assert!(by_id[id].dependencies.iter().all(|d| by_id[d].state == TaskState::Done), "early");
                *started.entry(id.clone()).or_default() += 1;
                tasks.iter_mut().filter(|t| &t.id == id).for_each(|t| t.state = TaskState::Running);
            }
            let running: Vec<usize> =
                (0..tasks.len()).filter(|n| tasks[*n].state == TaskState::Running).collect();
            prop_assert!(running.len() <= max_workers as usize);
            for (n, one) in running.iter().enumerate() {
                for other in &running[n + 1..] {
                    prop_assert!(are_disjoint(&scope_of(&tasks[*one]), &scope_of(&tasks[*other])));
                }
            }
            if answer.finished {
                prop_assert!(running.is_empty());
                break;
            }
            prop_assert!(!running.is_empty(), "nothing runs although not finished");
            let (which, luck) = ends.next().unwrap();
            let ended = running[which.index(running.len())];
            tasks[ended].state = if luck == 0 { TaskState::Blocked } else { TaskState::Done };
        }
        prop_assert!(started.values().all(|times| *times == 1), "started twice");
        for task in &tasks {
            prop_assert!(task.state != TaskState::Ready || !started.contains_key(&task.id));
            let free = task.dependencies.iter().all(|d| tasks.iter().any(|t| &t.id == d && t.state == TaskState::Done));
            prop_assert!(!(free && task.state == TaskState::Ready), "{} starved", task.id);
        }
    }
}
