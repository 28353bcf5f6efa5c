//! A repository, a model server that plays a script, and whole runs against it.

use std::path::Path;
use std::process::Command;

use fixpoint_decide::run::Run;
use fixpoint_engine::RecordedRun;
use fixpoint_runs::StateDirectory;
use fixpoint_testkit::{Options, Script, ScriptedServer};
use fixpoint_vocabulary::ask::{ModelAnswer, ModelQuestion};
use fixpoint_vocabulary::work::{Command as Work, CommandEnd, CommandResult, Event};
use serde_json::Value;

use super::words::words_of;
use crate::process::Ended;
use crate::scenarios::lab::{Lab, Outcome, Place};

/// The key of the server, in a variable whose name does not say that it holds one.
pub(super) const KEY: &str = "kq7-plain-looking-words-0815";
pub(super) const KEY_VARIABLE: &str = "LOOPBACK_WORDS";
/// What every run is asked for, unless its test says something else.
pub(super) const GOAL: &str = "make the files say two";

/// Does what the task says. It must be told what to do with two results that do not fit together.
const AGENT: &str = r#"p=$(cat)
case "$p" in
*"Merge two results"*) MERGING ;;
*) eval "$(printf '%s\n' "$p" | sed -n 's/^.*DO<<\(.*\)>>.*$/\1/p' | head -n 1)" ;;
esac
"#;

/// How the server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    /// `openai` or `anthropic`.
    pub(super) protocol: &'static str,
    /// Whether answers are taken as they are written.
    pub(super) stream: bool,
}

/// All ways.
pub(super) const WAYS: [Way; 4] = [
    Way { protocol: "openai", stream: true },
    Way { protocol: "openai", stream: false },
    Way { protocol: "anthropic", stream: true },
    Way { protocol: "anthropic", stream: false },
];

/// A repository and a server.
pub(super) struct Stage {
    pub(super) lab: Lab,
    pub(super) server: ScriptedServer,
    merging: String,
}

impl Stage {
    pub(super) fn new(script: &Script) -> Self {
        Self::with(script, Options::default(), WAYS[0])
    }

    pub(super) fn with(script: &Script, options: Options, way: Way) -> Self {
        let server = ScriptedServer::start(script, options).expect("a server");
        let stage = Self { lab: Lab::new(Place::Root), server, merging: "exit 1".to_string() };
        for name in ["a", "b", "c"] {
            stage.lab.put(&format!("src/{name}"), "one\n");
        }
        stage.lab.commit("three files");
        stage.lab.put("src/a", "one\nnot committed\n");
        stage.configure(way);
        stage
    }

    /// The agent does this where it has two results to bring together.
    pub(super) fn merging(mut self, script: &str) -> Self {
        self.merging = script.to_string();
        self
    }

    /// The user's own configuration names the server, so that the repository stays as it is.
    fn configure(&self, way: Way) {
        let models = ["planner", "judge", "reflector"].map(|role| format!("  {role}: loop/scripted\n"));
        let endpoint = format!(
            "  endpoints:\n    loop: {{ url: \"{}/v1\", protocol: {}, stream: {}, api_key_env: {KEY_VARIABLE} }}\n",
            self.server.url(),
            way.protocol,
            way.stream
        );
        self.user_configuration(&format!("models:\n  timeout: 30\n{}{endpoint}", models.concat()));
    }

    pub(super) fn user_configuration(&self, content: &str) {
        let directory = self.lab.beside("home/config/fixpoint");
        std::fs::create_dir_all(&directory).expect("made");
        std::fs::write(directory.join("config.yaml"), content).expect("written");
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.binary(arguments);
        command.env(KEY_VARIABLE, KEY);
        command
    }

    /// The arguments of a run of [`GOAL`].
    pub(super) fn running(&self, arguments: &[&str]) -> Vec<String> {
        let agent = self.lab.agent(&AGENT.replace("MERGING", &self.merging));
        let mut whole = vec!["run", "--json", GOAL];
        whole.extend(arguments);
        whole.extend(["--", agent.as_str()]);
        whole.into_iter().map(ToString::to_string).collect()
    }

    /// Runs [`GOAL`] to its end and looks at everything that every run must keep to.
    pub(super) fn run(&self, arguments: &[&str]) -> Outcome {
        let whole = self.running(arguments);
        let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
        self.watched(&mut self.command(&whole))
    }

    pub(super) fn resume(&self, arguments: &[&str]) -> Outcome {
        let mut whole = vec!["resume", "--json"];
        whole.extend(arguments);
        self.watched(&mut self.command(&whole))
    }

    pub(super) fn plan(&self, arguments: &[&str]) -> Outcome {
        let mut whole = vec!["plan", "--json", GOAL];
        whole.extend(arguments);
        self.watched(&mut self.command(&whole))
    }

    /// Runs a command that prints a run. The server's count of calls is the record's, the key is nowhere, and the run
    /// stays within its bounds.
    pub(super) fn watched(&self, command: &mut Command) -> Outcome {
        let outcome = self.lab.outcome(command, b"");
        let history = self.lab.call(&["history"]);
        let shown = self.lab.call(&["show"]);
        let printed = [&outcome.json.to_string(), &outcome.stderr, &history.stdout, &shown.stdout];
        assert!(printed.iter().all(|text| !text.contains(KEY)), "a key was printed: {printed:?}");
        self.assert_key_is_nowhere();
        assert_eq!(self.server.calls().expect("counts").calls, self.recorded_calls(), "{}", history.stdout);
        self.assert_within_bounds();
        outcome
    }

    /// What anybody says of the last run.
    pub(super) fn told(&self, arguments: &[&str]) -> String {
        let Ended { code, stdout, stderr } = self.lab.call(arguments);
        assert_eq!(code, 0, "{arguments:?}: {stderr}");
        stdout
    }

    /// What is on record of the last run.
    pub(super) fn recorded(&self) -> RecordedRun {
        recorded(&self.lab.beside("home/state/fixpoint")).expect("a run")
    }

    /// The calls that `history` shows of all runs.
    fn recorded_calls(&self) -> u64 {
        let listed = self.told(&["list", "--json"]);
        let runs = listed.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let of_run = |run: Value| {
            let history = self.told(&["history", "--json", run["run"].as_str().expect("a name")]);
            let lines = history.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
            lines.map(|line| calls_in(&line["event"])).sum::<u64>()
        };
        runs.map(of_run).sum()
    }

    fn assert_key_is_nowhere(&self) {
        let mut left = vec![self.lab.beside("")];
        while let Some(path) = left.pop() {
            let metadata = std::fs::symlink_metadata(&path).expect("it is there");
            if metadata.is_dir() {
                left.extend(std::fs::read_dir(&path).expect("readable").flatten().map(|entry| entry.path()));
            } else if metadata.is_file() {
                let content = std::fs::read(&path).expect("readable");
                let is_there = content.windows(KEY.len()).any(|window| window == KEY.as_bytes());
                assert!(!is_there, "the key is in {}", path.display());
            }
        }
    }

    fn assert_within_bounds(&self) {
        let recorded = self.recorded();
        let spec = recorded.header.spec.as_ref().expect("a spec");
        let tasks = self.run_of(&recorded).review().plan().map_or(1, |plan| plan.tasks.len().max(1));
        let mut config = spec.settings.clone();
        // What was granted later counts as well.
        let allowed = self.run_of(&recorded).ledger().allowed();
        (config.budget.model_calls, config.budget.attempts) = (allowed.model_calls, allowed.attempts);
        let tasks = u32::try_from(tasks).expect("a few");
        let question = fixpoint_decide::bounds::Question { config, tasks, prices: None };
        let bounds = fixpoint_decide::bounds::decide(&question);
        let (questions, attempts) = (answers(&recorded).len() as u64, attempts(&recorded));
        assert!(questions <= bounds.model_calls, "{questions} of {} questions", bounds.model_calls);
        assert!(attempts <= bounds.agent_attempts, "{attempts} of {} attempts", bounds.agent_attempts);
    }

    /// Where the last run stands.
    pub(super) fn run_of(&self, recorded: &RecordedRun) -> Run {
        recorded.run()
    }

    /// The texts of the questions of a form, in the order in which they came.
    pub(super) fn asked(&self, form: &str) -> Vec<String> {
        let log = self.server.log().expect("a log");
        let texts = log.iter().map(|line| text_of(&line.body));
        texts.filter(|text| text.contains(words_of(form))).collect()
    }

    /// A file of the delivered branch.
    pub(super) fn delivered(&self, outcome: &Outcome, path: &str) -> String {
        let branch = outcome.json["branch"].as_str().expect("a branch");
        self.lab.git(&["show", &format!("{branch}:{path}")])
    }

    /// The state, and the cause if there is one, of each task as `explain` shows it.
    pub(super) fn states(&self) -> Vec<(String, String)> {
        let told: Value = serde_json::from_str(&self.told(&["explain", "--json"])).expect("JSON");
        let lines = told["evidence"].as_array().expect("lines").iter().filter_map(Value::as_str);
        let names: Vec<String> = self.recorded().run().tasks().map(|node| node.id().to_string()).collect();
        let state = |line: &str| {
            let (name, rest) = line.split_once(": ")?;
            let name = name.trim_end_matches(" (merge)");
            let state = rest.rsplit_once(", ")?.0;
            names.iter().any(|known| known == name).then(|| (name.to_string(), state.to_string()))
        };
        lines.filter_map(state).collect()
    }
}

/// What is on record of the last run below a directory of states.
pub(super) fn recorded(states: &Path) -> Option<RecordedRun> {
    let homes = std::fs::read_dir(states).ok()?.flatten();
    let mut homes = homes.map(|state| StateDirectory::new(states, &state.file_name().to_string_lossy()));
    let run = homes.find_map(|home| home.find("latest").ok())?;
    run.read_whole().ok()
}

/// Every answer on record with its question.
pub(super) fn answers(recorded: &RecordedRun) -> Vec<(ModelQuestion, ModelAnswer)> {
    let mut found = Vec::new();
    for record in &recorded.records {
        if let Event::Ended { command, end: CommandEnd::Completed(CommandResult::Answer(answer)), .. } =
            &record.event
            && let Some(Work::Ask(ask)) = command_of(recorded, *command)
        {
            found.push((ask, answer.clone()));
        }
    }
    found
}

/// The command of a name.
fn command_of(recorded: &RecordedRun, id: fixpoint_vocabulary::work::CommandId) -> Option<Work> {
    let record = recorded.records.get(usize::try_from(id.seq).ok()?.checked_sub(1)?)?;
    let mut commands = record.decision.commands(id.seq);
    commands.find(|(other, ..)| *other == id).map(|(_, _, command)| command.clone())
}

/// Attempts that were begun.
pub(super) fn attempts(recorded: &RecordedRun) -> u64 {
    let commands = recorded.records.iter().flat_map(|record| record.decision.commands(0));
    commands.filter(|(_, _, command)| matches!(command, Work::RunAttempt(_))).count() as u64
}

/// The calls of every usage in an event, but for those an agent made: it has models of its own.
fn calls_in(value: &Value) -> u64 {
    match value {
        Value::Object(map) => {
            let own = map.get("usage").and_then(|usage| usage["calls"].as_u64()).unwrap_or(0);
            let others = map.iter().filter(|(name, _)| *name != "attempt");
            own + others.map(|(_, value)| calls_in(value)).sum::<u64>()
        }
        Value::Array(items) => items.iter().map(calls_in).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Every text in a document, one after the other.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(text_of).collect(),
        Value::Object(map) => map.values().map(text_of).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
