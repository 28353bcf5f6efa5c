//! No `done` without the work being done: a collection of cheats, mistakes and honest work in `tests/proof/*.toml`, run with the
//! binary. `docs/proof-scenarios.md` says how to add one and how to run them all.

mod fairness;
mod judged;
mod scratch;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use table::{Case, Expect};

/// Names of scenarios that do not end as they should yet, one per line.
const NOT_YET: &str = "not_yet.txt";

/// What came of one scenario.
struct Finished {
    id: String,
    kind: &'static str,
    result: &'static str,
    wrong: Option<String>,
}

#[test]
fn every_scenario_ends_as_it_should() {
    let not_yet = not_yet();
    let finished = run_all(|case| {
        let judged = judged::judge(case);
        (judged.cause, judged.wrong)
    });
    let is_listed = |one: &&Finished| not_yet.contains_key(&one.id);
    let (failed, held): (Vec<&Finished>, Vec<&Finished>) =
        finished.iter().partition(|one| one.wrong.is_some());
    for one in held.into_iter().filter(is_listed) {
        say(&format!("HOLDS NOW {}: remove it from {NOT_YET}", one.id));
    }
    if std::env::var_os("PROOF_UPDATE").is_some() {
        return update(not_yet, &finished);
    }
    report(failed.into_iter().filter(|one| !is_listed(one)));
}

/// Without the binary: a cheat that is none, and honest work that is not, would prove nothing.
#[test]
fn every_scenario_is_fair() {
    let finished = run_all(|case| match fairness::unfair(case) {
        Some(why) => ("unfair".to_string(), Some(why)),
        None => ("fair".to_string(), None),
    });
    report(finished.iter().filter(|one| one.wrong.is_some()));
}

#[test]
fn names_on_the_list_exist() {
    let ids: BTreeSet<String> = table::all().iter().map(Case::id).collect();
    let unknown: Vec<String> = not_yet().into_keys().filter(|name| !ids.contains(name)).collect();
    assert_eq!(unknown, [""; 0], "{NOT_YET}");
    let unnamed = |case: &Case| {
        let has_none = case.scenario.names.all().is_empty() && case.scenario.expect == Expect::NotDone;
        has_none.then(|| case.id())
    };
    let unnamed: Vec<String> = table::all().iter().filter_map(unnamed).collect();
    assert_eq!(unnamed, [""; 0], "a result that is not `done` must name something");
}

/// Runs the selected scenarios, two at a time unless told otherwise, and prints a line for each.
fn run_all(run: impl Fn(&Case) -> (String, Option<String>) + Sync) -> Vec<Finished> {
    static ONE_TABLE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_TABLE_AT_A_TIME.lock();
    let cases = selected();
    let next = AtomicUsize::new(0);
    let finished = Mutex::new(Vec::new());
    let jobs = std::env::var("PROOF_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(2);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = run_one(case, &run);
                    finished.lock().expect("no panic").push(one);
                }
            });
        }
    });
    let finished = finished.into_inner().expect("no panic");
    summarize(&finished);
    finished
}

fn run_one(case: &Case, run: impl Fn(&Case) -> (String, Option<String>)) -> Finished {
    let (id, kind) = (case.id(), case.kind());
    if let Some(need) = scratch::missing(case) {
        say(&format!("SKIPPED {id}: needs {need}"));
        let must_run = case.scenario.ci && std::env::var_os("NO_SKIPPED_TESTS").is_some();
        let wrong = must_run.then(|| format!("{need} is needed and not here"));
        return Finished { id, kind, result: "skipped", wrong };
    }
    let began = Instant::now();
    let (cause, wrong) = catch_unwind(AssertUnwindSafe(|| run(case)))
        .unwrap_or_else(|_| ("panic".to_string(), Some("the harness panicked".to_string())));
    let result = if wrong.is_some() { "FAILED" } else { "ok" };
    let why = wrong.as_deref().and_then(|wrong| wrong.lines().next()).unwrap_or_default();
    let seconds = began.elapsed().as_secs_f32();
    say(&format!("{result:7} {kind:8} {id:56} {seconds:5.1} s  {cause} {why}"));
    Finished { id, kind, result, wrong }
}

/// Those for `cargo test`; all with `PROOF_ALL`; of these, the ones whose name contains `PROOF_ONLY`.
fn selected() -> Vec<Case> {
    let only = std::env::var("PROOF_ONLY").unwrap_or_default();
    let is_selected = |case: &Case| {
        let is_wanted = case.scenario.ci || std::env::var_os("PROOF_ALL").is_some();
        is_wanted && only.split(',').any(|only| case.id().contains(only))
    };
    table::all().into_iter().filter(is_selected).collect()
}

fn summarize(finished: &[Finished]) {
    let mut counts: BTreeMap<(&str, &str), [usize; 3]> = BTreeMap::new();
    for one in finished {
        let table = one.id.split('/').next().unwrap_or_default();
        let column = ["ok", "FAILED", "skipped"].iter().position(|result| *result == one.result);
        counts.entry((table, one.kind)).or_default()[column.expect("a result")] += 1;
    }
    say(&format!("{:10} {:8} {:>5} {:>7} {:>8}", "table", "kind", "ok", "failed", "skipped"));
    for ((table, kind), [ok, failed, skipped]) in counts {
        say(&format!("{table:10} {kind:8} {ok:5} {failed:7} {skipped:8}"));
    }
}

/// Fails with everything that is wrong, not with the first.
fn report<'a>(failed: impl Iterator<Item = &'a Finished>) {
    let told: Vec<String> =
        failed.map(|one| format!("== {}: {}", one.id, one.wrong.as_deref().unwrap_or_default())).collect();
    assert!(told.is_empty(), "{} scenarios:\n{}", told.len(), told.join("\n"));
}

/// The list: names, each with what is wrong with it.
fn not_yet() -> BTreeMap<String, String> {
    let text = fs::read_to_string(table::directory().join(NOT_YET)).unwrap_or_default();
    let pair = |line: &str| {
        let (name, why) = line.split_once('#').unwrap_or((line, ""));
        (name.trim().to_string(), why.trim().to_string())
    };
    text.lines().map(pair).filter(|(name, _)| !name.is_empty()).collect()
}

/// Writes the list anew; what was not run stays as it was.
fn update(mut names: BTreeMap<String, String>, finished: &[Finished]) {
    for one in finished.iter().filter(|one| one.result != "skipped") {
        match &one.wrong {
            Some(wrong) => names.insert(one.id.clone(), wrong.lines().next().unwrap_or_default().to_string()),
            None => names.remove(&one.id),
        };
    }
    let head = "# Scenarios that do not end as they should yet, and why. Remove those that hold; add none.\n";
    let lines: String = names.iter().map(|(name, why)| format!("{name:64}# {why}\n")).collect();
    fs::write(table::directory().join(NOT_YET), format!("{head}{lines}")).expect("written");
}

/// The end of an output, enough to see what happened.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let start = lines.len().saturating_sub(25);
    let cut = |line: &&str| format!("   | {}\n", line.chars().take(1500).collect::<String>());
    lines.iter().skip(start).map(cut).collect()
}

/// Prints past the test harness, which keeps what passing tests print to itself.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
