//! What a task of a whole session costs as the plan grows: `fixpoint run` with a plan of 5 and of 50 independent tasks,
//! with git, checks, artifacts, merges and a shell script as the agent.
//!
//! `cargo bench -p fixpoint-cli --bench session`. The real program, against the scripted model server, which is a process
//! of its own. Each session has a repository and a home of its own, the same for both sizes; the sizes take turns, and
//! which comes first changes every round. The goal: wall time and files written per task at 50 tasks are at most 1.2 times
//! those at 5.
//!
//! All tasks are verified by one suite. With `-- own-goals` each task also has a goal of its own: a command that must pass
//! when it is done, and in every merge that holds its result.
//!
//! `FIXPOINT_BENCH_ROUNDS` and `FIXPOINT_BENCH_DIR` change the number of rounds and where the sessions are;
//! `FIXPOINT_BENCH_PROGRAM` names another `fixpoint`, to compare with.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod file_writes;

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fixpoint_testkit::{Options, Reply, Rule, Script, ScriptedServer};
use serde_json::{Value, json};

use self::file_writes::Counting;

type Outcome<T> = Result<T, Box<dyn Error>>;

const SMALL: usize = 5;
const LARGE: usize = 50;
const ROUNDS: usize = 5;
/// How much more a task of the large plan may cost.
const GOAL: f64 = 1.2;

/// Does what the description of its task says.
const AGENT: &str = r#"p=$(cat)
eval "$(printf '%s\n' "$p" | sed -n 's/^.*DO<<\(.*\)>>.*$/\1/p' | head -n 1)"
"#;
/// The suite that every task must keep passing: one test for each file, in TAP.
const SUITE: &str = "n=0; for f in src/*; do n=$((n + 1)); echo \"ok $n - $f\"; done; echo \"1..$n\"";

/// What shows that a task is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goals {
    Shared,
    Own,
}

fn main() -> Outcome<()> {
    let rounds = match std::env::var("FIXPOINT_BENCH_ROUNDS") {
        Ok(rounds) => rounds.parse()?,
        Err(_) => ROUNDS,
    };
    let is_own = std::env::args().any(|argument| argument == "own-goals");
    let goals = if is_own { Goals::Own } else { Goals::Shared };
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let sizes = if round % 2 == 0 { [SMALL, LARGE] } else { [LARGE, SMALL] };
        for tasks in sizes {
            let session = session(tasks, goals)?;
            println!("round {}: {session}", round + 1);
            if tasks == SMALL { &mut small } else { &mut large }.push(session);
        }
    }
    for (name, of) in [
        ("wall time, ms", (|session: &Session| session.wall.as_secs_f64() * 1e3) as fn(&Session) -> f64),
        ("files written about the run", |session| session.own as f64),
        ("files written by git", |session| session.git as f64),
    ] {
        let per_task = |sessions: &[Session]| {
            median(sessions.iter().map(|session| of(session) / session.tasks as f64).collect())
        };
        let (few, many) = (per_task(&small), per_task(&large));
        let ratio = many / few;
        let verdict = if ratio <= GOAL { "reached" } else { "missed" };
        println!(
            "{name} per task: {few:.1} of {SMALL}, {many:.1} of {LARGE}; ratio {ratio:.2} (at most {GOAL}: {verdict})"
        );
    }
    Ok(())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// What a session took.
struct Session {
    tasks: usize,
    wall: Duration,
    /// Files written in the directory of state: journal, blobs, prompts, outputs, artifacts.
    own: u64,
    /// Files written in the repository and in the workspaces, most of them by git.
    git: u64,
    /// The kinds of files written most about the run.
    most: Vec<(String, u64)>,
}

impl std::fmt::Display for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tasks, wall, own, git, most } = self;
        let most: Vec<String> = most.iter().map(|(name, count)| format!("{name} {count}")).collect();
        write!(
            formatter,
            "{tasks} tasks: {:.2} s, {own} files written about the run ({}), {git} by git",
            wall.as_secs_f64(),
            most.join(", ")
        )
    }
}

/// Has a goal planned into so many tasks and carried out, in a place of its own.
fn session(tasks: usize, goals: Goals) -> Outcome<Session> {
    let place = scratch()?;
    let root = place.path().join("repository");
    make_repository(&root)?;
    let server = ScriptedServer::start(&script(tasks, goals), Options::default())?;
    configure(place.path(), &server)?;
    let state = place.path().join(".local/state");
    fs::create_dir_all(&state)?;
    fs::write(place.path().join("agent.sh"), AGENT)?;
    let counting = Counting::start(place.path())?;
    let began = Instant::now();
    let ended = command(place.path(), &root).output()?;
    let wall = began.elapsed();
    let counts = counting.finish()?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        return Err(format!("{tasks} tasks ended with {}: {said}", ended.status).into());
    }
    let (own, git): (HashMap<PathBuf, u64>, HashMap<PathBuf, u64>) =
        counts.into_iter().partition(|(path, _)| path.starts_with(&state));
    Ok(Session { tasks, wall, own: own.values().sum(), git: git.values().sum(), most: kinds(&own) })
}

/// The three kinds of files that were written most, by name without its numbers.
fn kinds(counts: &HashMap<PathBuf, u64>) -> Vec<(String, u64)> {
    let mut kinds: HashMap<String, u64> = HashMap::new();
    for (path, count) in counts {
        let parent = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_own = path.extension().is_some_and(|extension| extension == "json");
        *kinds.entry(if is_own { name.into_owned() } else { format!("{parent}/") }).or_default() += count;
    }
    let mut kinds: Vec<(String, u64)> = kinds.into_iter().collect();
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    kinds.truncate(3);
    kinds
}

fn scratch() -> Outcome<tempfile::TempDir> {
    let base = std::env::var_os("FIXPOINT_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    Ok(tempfile::tempdir_in(base)?)
}

fn command(home: &Path, root: &Path) -> Command {
    let program = std::env::var_os("FIXPOINT_BENCH_PROGRAM");
    let mut command = Command::new(program.unwrap_or_else(|| env!("CARGO_BIN_EXE_fixpoint").into()));
    command
        .args(["run", "--json", "make the files say two", "--check", SUITE])
        .args(["--set", "planning.max_subtasks=100", "--", "sh"])
        .arg(home.join("agent.sh"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .current_dir(root)
        .stdin(Stdio::null());
    command
}

/// One file for each task of the large plan.
fn make_repository(root: &Path) -> Outcome<()> {
    fs::create_dir_all(root.join("src"))?;
    for task in 0..LARGE {
        fs::write(root.join(format!("src/t{task}")), "one\n")?;
    }
    for words in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "files"],
    ] {
        let ended = Command::new("git").args(words).current_dir(root).stdout(Stdio::null()).status()?;
        if !ended.success() {
            return Err(format!("git {words:?}").into());
        }
    }
    Ok(())
}

fn configure(home: &Path, server: &ScriptedServer) -> Outcome<()> {
    let settings = home.join(".config/fixpoint");
    fs::create_dir_all(&settings)?;
    let roles = ["planner", "judge", "reflector"].map(|role| format!("  {role}: here/m\n")).concat();
    let endpoints = format!("  endpoints:\n    here: {{ url: \"{}/v1\" }}\n", server.url());
    Ok(fs::write(settings.join("config.yaml"), format!("models:\n{roles}{endpoints}"))?)
}

/// A planner with one plan, and judges that agree.
fn script(tasks: usize, goals: Goals) -> Script {
    let names: Vec<String> = (0..tasks).map(|task| format!("t{task}")).collect();
    let subtasks: Vec<Value> = names.iter().map(|name| subtask(name, goals)).collect();
    let plan = json!({
        "phase": "planning",
        "goal_understanding": {"main_objective": "the files say two", "success_criteria": ["they do"],
            "constraints": [], "context": ""},
        "task_decomposition": {"reasoning": "one task for each file", "subtasks": subtasks},
        "action_plan": {"execution_order": names, "actions": []},
        "comment": "",
    });
    let judged = json!({"is_acceptable": true, "issues": [], "suggestions": [], "overall_score": 90});
    let agreed = json!({"success": true, "should_continue": false, "should_replan": false, "reason": "it is there",
        "missing_requirements": []});
    let complete =
        json!({"is_complete": true, "missing_aspects": [], "additional_tasks": [], "completion_score": 95});
    let reflection = json!({"phase": "reflection", "reflection": {"action_evaluated": "task", "status": "success",
        "evaluation": "well", "alignment_with_plan": "good", "issues_identified": [],
        "plan_revision_needed": false}, "comment": ""});
    let planning =
        ["plan", "goal_understanding", "task_decomposition", "action_plan"].map(|form| (form, plan.clone()));
    let others = [
        ("plan_judgement", judged),
        ("task_judgement", agreed),
        ("whole_judgement", complete),
        ("reflection", reflection),
    ];
    planning.into_iter().chain(others).fold(Script::new(), |script, (form, document)| {
        script.rule(Rule::new(form).form(form).reply(Reply::json(document)))
    })
}

fn subtask(name: &str, goals: Goals) -> Value {
    let goals = match goals {
        Goals::Shared => Vec::new(),
        Goals::Own => vec![format!("grep -qx two src/{name}")],
    };
    json!({"id": name, "description": format!("Task {name}. DO<<echo two > src/{name}>>"), "dependencies": [],
        "estimated_complexity": "low", "required_tools": ["edit"], "acceptance": [format!("{name} is done")],
        "scope_paths": [format!("src/{name}")], "goals": goals, "context": ""})
}
