//! Cached plans: exact, near, expired, too many, damaged.

use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::documents::{ActionPlan, GoalUnderstanding};

use super::*;

fn key(goal: &str, tree: &str) -> PlanKey {
    let goal = Redactor::default().redact(goal);
    PlanKey { goal, tree: tree.into(), tools: Vec::new(), prompts: "v".into() }
}

fn plan(goal: &str) -> SavedPlan {
    SavedPlan {
        goal: Redactor::default().redact(goal),
        understanding: GoalUnderstanding { main_objective: goal.into(), ..GoalUnderstanding::default() },
        tasks: Vec::new(),
        actions: ActionPlan::default(),
    }
}

const GOAL: &str = "make the parser of the configuration accept comments at the end of a line and test it";

fn cache() -> (tempfile::TempDir, PlanCache) {
    let directory = tempfile::tempdir().unwrap();
    let cache = PlanCache::new(directory.path().join("plans"));
    cache.store(&key(GOAL, "t1"), &plan(GOAL), &CacheSettings::default()).unwrap();
    (directory, cache)
}

#[test]
fn the_same_goal_in_the_same_tree_is_exact_and_a_similar_one_is_near() {
    let (_directory, cache) = cache();
    let settings = CacheSettings::default();
    let spaced = GOAL.replace(' ', "  ").replacen('m', "M", 1);
    assert_eq!(cache.find(&key(&spaced, "t1"), &settings), CachedPlanMatch::Exact(plan(GOAL)));
    assert_eq!(cache.find(&key(&GOAL.to_uppercase(), "t1"), &settings), CachedPlanMatch::Near(plan(GOAL)));
    assert_eq!(cache.find(&key(GOAL, "t2"), &settings), CachedPlanMatch::Near(plan(GOAL)));
    let reworded = GOAL.replace("test it", "tests it");
    assert_eq!(cache.find(&key(&reworded, "t1"), &settings), CachedPlanMatch::Near(plan(GOAL)));
    assert_eq!(cache.find(&key("write a book about birds", "t1"), &settings), CachedPlanMatch::Nothing);
    let other_tools = PlanKey { tools: vec!["x".into()], ..key(GOAL, "t1") };
    assert_eq!(cache.find(&other_tools, &settings), CachedPlanMatch::Near(plan(GOAL)));
}

/// Catches names that differ only in case being treated as one: the wrong plan would be used.
#[test]
fn a_goal_about_case_is_not_its_opposite() {
    let (_directory, cache) = cache();
    let settings = CacheSettings::default();
    let (there, back) = ("Rename the type Id to ID everywhere", "Rename the type ID to Id everywhere");
    cache.store(&key(there, "t1"), &plan(there), &settings).unwrap();
    assert_eq!(cache.find(&key(there, "t1"), &settings), CachedPlanMatch::Exact(plan(there)));
    assert_eq!(cache.find(&key(back, "t1"), &settings), CachedPlanMatch::Near(plan(there)));
}

#[test]
fn an_expired_plan_is_not_found_and_is_removed_with_the_next_one() {
    let (_directory, cache) = cache();
    let settings = CacheSettings { ttl: 60, ..CacheSettings::default() };
    let file = cache.files().pop().unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(120);
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(cache.find(&key(GOAL, "t1"), &settings), CachedPlanMatch::Nothing);
    assert_eq!(cache.stats(&settings).expired, 1);
    cache.store(&key("another goal", "t1"), &plan("another goal"), &settings).unwrap();
    assert_eq!(cache.stats(&settings).plans, 1);
}

#[test]
fn the_least_recently_used_plan_is_evicted() {
    let (_directory, cache) = cache();
    let settings = CacheSettings { max_entries: 2, ..CacheSettings::default() };
    let ago = |path: &PathBuf, seconds| {
        let at = SystemTime::now() - Duration::from_secs(seconds);
        std::fs::File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
    };
    cache.files().iter().for_each(|path| ago(path, 300));
    cache.store(&key("second", "t1"), &plan("second"), &settings).unwrap();
    let second = cache.directory.join(format!("{}.json", key("second", "t1").file_name()));
    ago(&second, 200);
    assert!(matches!(cache.find(&key(GOAL, "t1"), &settings), CachedPlanMatch::Exact(_)), "used just now");
    cache.store(&key("third", "t1"), &plan("third"), &settings).unwrap();
    assert!(!second.exists(), "the second is the least recently used");
    assert!(matches!(cache.find(&key(GOAL, "t1"), &settings), CachedPlanMatch::Exact(_)));
}

#[test]
fn a_damaged_file_is_not_a_plan() {
    let (_directory, cache) = cache();
    std::fs::write(cache.files().pop().unwrap(), b"{\"key\":").unwrap();
    assert_eq!(cache.find(&key(GOAL, "t1"), &CacheSettings::default()), CachedPlanMatch::Nothing);
    assert_eq!(cache.clear().unwrap(), 1);
    assert_eq!(cache.stats(&CacheSettings::default()), CacheStats::default());
}
