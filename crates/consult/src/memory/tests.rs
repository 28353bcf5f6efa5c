//! Kept plans: exact, near, expired, too many, damaged.

use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::documents::{ActionPlan, GoalUnderstanding};

use super::*;

fn key(goal: &str, tree: &str) -> PlanKey {
    let goal = Redactor::default().redact(goal);
    PlanKey { goal, tree: tree.into(), tools: Vec::new(), prompts: "v".into() }
}

fn plan(goal: &str) -> Draft {
    Draft {
        goal: Redactor::default().redact(goal),
        understanding: GoalUnderstanding { main_objective: goal.into(), ..GoalUnderstanding::default() },
        tasks: Vec::new(),
        actions: ActionPlan::default(),
    }
}

const GOAL: &str = "make the parser of the configuration accept comments at the end of a line and test it";

fn memory() -> (tempfile::TempDir, PlanMemory) {
    let directory = tempfile::tempdir().unwrap();
    let memory = PlanMemory::new(directory.path().join("plans"));
    memory.keep(&key(GOAL, "t1"), &plan(GOAL), &CacheSettings::default()).unwrap();
    (directory, memory)
}

#[test]
fn the_same_goal_in_the_same_tree_is_exact_and_one_much_like_it_is_near() {
    let (_directory, memory) = memory();
    let settings = CacheSettings::default();
    let spaced = GOAL.replace(' ', "  ").replacen('m', "M", 1);
    assert_eq!(memory.recall(&key(&spaced, "t1"), &settings), Recalled::Exact(plan(GOAL)));
    assert_eq!(memory.recall(&key(&GOAL.to_uppercase(), "t1"), &settings), Recalled::Near(plan(GOAL)));
    assert_eq!(memory.recall(&key(GOAL, "t2"), &settings), Recalled::Near(plan(GOAL)));
    let reworded = GOAL.replace("test it", "tests it");
    assert_eq!(memory.recall(&key(&reworded, "t1"), &settings), Recalled::Near(plan(GOAL)));
    assert_eq!(memory.recall(&key("write a book about birds", "t1"), &settings), Recalled::Nothing);
    let other_tools = PlanKey { tools: vec!["x".into()], ..key(GOAL, "t1") };
    assert_eq!(memory.recall(&other_tools, &settings), Recalled::Near(plan(GOAL)));
}

/// Catches that names which differ in case only are taken for one: the plan would be used as it is.
#[test]
fn a_goal_about_case_is_not_its_opposite() {
    let (_directory, memory) = memory();
    let settings = CacheSettings::default();
    let (there, back) = ("Rename the type Id to ID everywhere", "Rename the type ID to Id everywhere");
    memory.keep(&key(there, "t1"), &plan(there), &settings).unwrap();
    assert_eq!(memory.recall(&key(there, "t1"), &settings), Recalled::Exact(plan(there)));
    assert_eq!(memory.recall(&key(back, "t1"), &settings), Recalled::Near(plan(there)));
}

#[test]
fn what_is_too_old_is_not_recalled_and_goes_with_the_next_plan() {
    let (_directory, memory) = memory();
    let settings = CacheSettings { ttl: 60, ..CacheSettings::default() };
    let file = memory.files().pop().unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(120);
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(memory.recall(&key(GOAL, "t1"), &settings), Recalled::Nothing);
    assert_eq!(memory.statistics(&settings).expired, 1);
    memory.keep(&key("another goal", "t1"), &plan("another goal"), &settings).unwrap();
    assert_eq!(memory.statistics(&settings).plans, 1);
}

#[test]
fn of_too_many_the_least_recently_used_goes() {
    let (_directory, memory) = memory();
    let settings = CacheSettings { max_entries: 2, ..CacheSettings::default() };
    let ago = |path: &PathBuf, seconds| {
        let at = SystemTime::now() - Duration::from_secs(seconds);
        std::fs::File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
    };
    memory.files().iter().for_each(|path| ago(path, 300));
    memory.keep(&key("second", "t1"), &plan("second"), &settings).unwrap();
    let second = memory.directory.join(format!("{}.json", key("second", "t1").name()));
    ago(&second, 200);
    assert!(matches!(memory.recall(&key(GOAL, "t1"), &settings), Recalled::Exact(_)), "used just now");
    memory.keep(&key("third", "t1"), &plan("third"), &settings).unwrap();
    assert!(!second.exists(), "the second was not used for longest");
    assert!(matches!(memory.recall(&key(GOAL, "t1"), &settings), Recalled::Exact(_)));
}

#[test]
fn a_damaged_file_is_no_plan() {
    let (_directory, memory) = memory();
    std::fs::write(memory.files().pop().unwrap(), b"{\"key\":").unwrap();
    assert_eq!(memory.recall(&key(GOAL, "t1"), &CacheSettings::default()), Recalled::Nothing);
    assert_eq!(memory.clear().unwrap(), 1);
    assert_eq!(memory.statistics(&CacheSettings::default()), Statistics::default());
}
