//! What kept plans save over a week of goals: questions to models with and without them, and whether what was found was
//! meant.
//!
//! `cargo bench -p fixpoint-cli --bench plan_cache`. The goals stand in `goals/plan_cache.tsv`; each is given to the real
//! `fixpoint plan`, one after the other, against the scripted server, which runs as a process of its own. What was found
//! is read out of the records of the runs.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fixpoint_engine::RecordedRun;
use fixpoint_journal::{FileBlobs, FileJournal};
use fixpoint_testkit::{Options, Reply, Rule, Script, ScriptedServer};
use fixpoint_vocabulary::work::{CachedPlanMatch, CommandEnd, CommandResult, Event};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

const GOALS: &str = include_str!("goals/plan_cache.tsv");

/// A goal, what is meant by it, and how it stands to those before.
#[derive(Debug, Clone, Copy)]
struct Goal {
    kind: &'static str,
    meaning: &'static str,
    words: &'static str,
}

/// What was found for a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    Nothing,
    Near(String),
    Exact(String),
}

/// Whether the repository changes between goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repository {
    Still,
    Moving,
}

/// Whether plans are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeping {
    On,
    Off,
}

/// What a week came to.
struct Week {
    calls: u64,
    planner: u64,
    found: Vec<Found>,
}

fn main() -> Outcome<()> {
    let goals: Vec<Goal> = GOALS.lines().filter(|line| !line.starts_with('#')).filter_map(goal).collect();
    let count = |kind: &str| goals.iter().filter(|goal| goal.kind == kind).count();
    println!(
        "{} goals: {} new, {} again, {} near and meant the same, {} near and meant otherwise",
        goals.len(),
        count("new"),
        count("again"),
        count("near"),
        count("other")
    );
    let without = week(&goals, Keeping::Off, Repository::Still)?;
    for repository in [Repository::Still, Repository::Moving] {
        let with = week(&goals, Keeping::On, repository)?;
        println!("\nthe repository between goals: {repository:?}");
        tell(&goals, &without, &with);
    }
    Ok(())
}

fn goal(line: &'static str) -> Option<Goal> {
    let mut fields = line.split('\t');
    Some(Goal { kind: fields.next()?, meaning: fields.next()?, words: fields.next()? })
}

fn tell(goals: &[Goal], without: &Week, with: &Week) {
    let saved = |before: u64, after: u64| 100.0 * (before as f64 - after as f64) / before as f64;
    println!(
        "calls: {} without, {} with, {:.0} % saved; of the planner: {}, {}, {:.0} %",
        without.calls,
        with.calls,
        saved(without.calls, with.calls),
        without.planner,
        with.planner,
        saved(without.planner, with.planner)
    );
    let exact = with.found.iter().filter(|found| matches!(found, Found::Exact(_))).count();
    let near = with.found.iter().filter(|found| matches!(found, Found::Near(_))).count();
    println!("found: {exact} exactly, {near} as a draft");
    let meaning =
        |words: &str| goals.iter().find(|goal| goal.words == words).map(|goal| (goal.meaning, goal.kind));
    for (goal, found) in goals.iter().zip(&with.found) {
        let (how, of) = match found {
            Found::Nothing if matches!(goal.kind, "again" | "near") => {
                println!("  missed, {}: {}", goal.kind, short(goal.words));
                continue;
            }
            Found::Nothing => continue,
            Found::Near(of) => ("as a draft", of),
            Found::Exact(of) => ("exactly", of),
        };
        // Of two goals with one subject only those that mean the same may share a plan.
        let is_meant = match (meaning(of), goal.kind) {
            (Some((other, kind)), "other") => other == goal.meaning && kind == "other",
            (Some((other, kind)), _) => other == goal.meaning && kind != "other",
            (None, _) => false,
        };
        if !is_meant {
            println!("  found wrongly, {how}: {} — for: {}", short(of), short(goal.words));
        }
    }
}

fn short(words: &str) -> String {
    words.chars().take(70).collect()
}

/// Plans all goals, one after the other, in a repository and a home of their own.
fn week(goals: &[Goal], keeping: Keeping, repository: Repository) -> Outcome<Week> {
    let place = tempfile::tempdir()?;
    let server = ScriptedServer::start(&script(), Options::default())?;
    let root = place.path().join("repository");
    fs::create_dir_all(&root)?;
    commit(&root, &["init", "-q"], 0)?;
    let settings = place.path().join(".config/fixpoint");
    fs::create_dir_all(&settings)?;
    let roles = ["planner", "judge", "reflector"].map(|role| format!("  {role}: here/m\n")).concat();
    let endpoints = format!("  endpoints:\n    here: {{ url: \"{}/v1\" }}\n", server.url());
    fs::write(settings.join("config.yaml"), format!("models:\n{roles}{endpoints}"))?;
    let (mut known, mut found) = (BTreeSet::new(), Vec::new());
    for (number, goal) in (1u32..).zip(goals) {
        if repository == Repository::Moving {
            commit(&root, &["status", "-s"], number)?;
        }
        plan(place.path(), &root, goal, keeping)?;
        let run = journals(place.path()).into_iter().find(|path| known.insert(path.clone()));
        found.push(recalled(&run.ok_or("a run leaves a journal")?)?);
    }
    let calls = server.calls()?;
    let of = |name: &str| calls.by_rule.get(name).copied().unwrap_or(0);
    let planner = calls.calls - of("plan_judgement");
    if calls.unmatched > 0 {
        return Err(format!("{} questions that nobody expected", calls.unmatched).into());
    }
    Ok(Week { calls: calls.calls, planner, found })
}

/// A commit that changes one file.
fn commit(root: &Path, first: &[&str], number: u32) -> Outcome<()> {
    let git =
        |words: &[&str]| Command::new("git").args(words).current_dir(root).stdout(Stdio::null()).status();
    git(first)?;
    fs::write(root.join("file"), format!("{number}\n"))?;
    git(&["add", "-A"])?;
    let ended = git(&["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "a change"])?;
    if ended.success() { Ok(()) } else { Err("git commit".into()) }
}

fn plan(home: &Path, root: &Path, goal: &Goal, keeping: Keeping) -> Outcome<()> {
    let enabled = match keeping {
        Keeping::On => "planning.cache.enabled=true",
        Keeping::Off => "planning.cache.enabled=false",
    };
    let ended = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["plan", goal.words, "--json", "--until", "true", "--set", enabled])
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .current_dir(root)
        .stdin(Stdio::null())
        .output()?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    Err(format!("{}: {said}", goal.words).into())
}

/// The directories of all runs so far.
fn journals(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![home.join(".local/state")];
    while let Some(directory) = open.pop() {
        let entries: Vec<PathBuf> =
            fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        if entries.iter().any(|path| path.file_name().is_some_and(|name| name == "journal")) {
            found.push(directory);
        } else {
            open.extend(entries.into_iter().filter(|path| path.is_dir() && !path.is_symlink()));
        }
    }
    found
}

/// What a run found among the kept plans.
fn recalled(run: &Path) -> Outcome<Found> {
    let blobs = FileBlobs::open(&run.join("blobs"))?;
    let records = FileJournal::inspect(run)?.records;
    let recorded = RecordedRun::read(records.iter().map(|record| record.payload.as_slice()), &blobs)?;
    let found = recorded.records.iter().find_map(|record| match &record.event {
        Event::Ended { end: CommandEnd::Completed(CommandResult::CachedPlan(recalled)), .. } => {
            Some(recalled)
        }
        Event::Ended { .. } | Event::Started | Event::StopRequested | Event::Resumed { .. } => None,
    });
    Ok(match found {
        Some(CachedPlanMatch::Exact(draft)) => Found::Exact(draft.goal.to_string()),
        Some(CachedPlanMatch::Near(draft)) => Found::Near(draft.goal.to_string()),
        Some(CachedPlanMatch::Nothing) | None => Found::Nothing,
    })
}

/// A planner with one plan for everything, and a judge that agrees.
fn script() -> Script {
    let understanding = json!({"main_objective": "as asked", "success_criteria": ["it is there"], "constraints": [],
        "context": ""});
    let tasks = json!({"reasoning": "one after the other", "subtasks": [subtask("first", &[]), subtask("second", &["first"])]});
    let actions = json!({"execution_order": ["first", "second"], "actions": []});
    let whole = json!({"phase": "planning", "goal_understanding": understanding, "task_decomposition": tasks,
        "action_plan": actions, "comment": ""});
    let judged = json!({"is_acceptable": true, "issues": [], "suggestions": [], "overall_score": 90});
    let forms = ["plan", "goal_understanding", "task_decomposition", "action_plan"];
    let script = forms.into_iter().fold(Script::new(), |script, form| {
        script.rule(Rule::new(form).form(form).reply(Reply::json(whole.clone())))
    });
    script.rule(Rule::new("plan_judgement").form("plan_judgement").reply(Reply::json(judged)))
}

fn subtask(id: &str, below: &[&str]) -> Value {
    json!({"id": id, "description": format!("The {id} half."), "dependencies": below, "estimated_complexity": "low",
        "required_tools": ["edit"], "acceptance": ["it is there"], "scope_paths": [], "goals": [], "context": ""})
}
