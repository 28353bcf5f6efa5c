//! The real agents, installed beside the tests, talking to a model server that plays a script.
//!
//! Owns how they are found, pointed at the server and kept away from whatever this machine has configured. A test that
//! needs them says that it is skipped where they are not installed, unless nothing may be skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fixpoint_testkit::{LogLine, Options, Reply, Rule, Script, ScriptedServer, Usage};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process::skipped;
use crate::scenarios::lab::{Lab, Outcome, Place};

/// Where the agents are, as `.ci/run` says.
const INSTALLED: &str = "FIXPOINT_TEST_AGENTS";

/// An agent that is driven for real.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Real {
    Claude,
    Codex,
}

impl Real {
    /// Its command line as it is typed: no flags but what lets it run commands wherever the tests run, and its model.
    fn typed(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["claude", "--model", "scripted", "--allowedTools", "Bash"],
            Self::Codex => &["codex", "--sandbox", "danger-full-access"],
        }
    }
}

/// An agent that knows only a server of its own.
pub(crate) struct Actor {
    pub(crate) server: ScriptedServer,
    agent: Real,
    programs: PathBuf,
    codex_home: PathBuf,
}

impl Actor {
    /// Nothing where the agents are not installed.
    pub(crate) fn new(agent: Real, script: &Script, lab: &Lab) -> Option<Self> {
        let programs = installed()?;
        let server = ScriptedServer::start(script, Options::default()).expect("a server");
        let codex_home = lab.beside("codex");
        if agent == Real::Codex {
            configure_codex(&codex_home, &server);
        }
        Some(Self { server, agent, programs, codex_home })
    }

    /// A command with the agent in reach.
    pub(crate) fn beside(&self, mut command: Command) -> Command {
        let path = std::env::var_os("PATH").expect("a PATH");
        let paths = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(paths).expect("a PATH")).env("TERM", "dumb");
        match self.agent {
            Real::Claude => {
                command.env("ANTHROPIC_BASE_URL", self.server.url()).env("ANTHROPIC_API_KEY", "scripted");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
                command.env("CLAUDE_CODE_MAX_RETRIES", "0");
            }
            Real::Codex => {
                command.env("CODEX_HOME", &self.codex_home).env("OPENAI_API_KEY", "scripted");
            }
        }
        command
    }

    /// How often a rule of its script was played.
    pub(crate) fn played(&self, rule: &str) -> u64 {
        self.server.calls().expect("calls").by_rule.get(rule).copied().unwrap_or_default()
    }

    /// The requests that a rule of its script answered.
    pub(crate) fn asked(&self, rule: &str) -> Vec<LogLine> {
        let mut log = self.server.log().expect("a log");
        log.retain(|line| line.rule.as_deref() == Some(rule));
        log
    }

    /// Its command line as a person types it.
    pub(crate) fn typed(&self) -> &'static [&'static str] {
        self.agent.typed()
    }
}

/// A repository with a goal, and an agent.
pub(crate) struct Studio {
    pub(crate) lab: Lab,
    pub(crate) actor: Actor,
}

impl Studio {
    /// Nothing where the agents are not installed.
    pub(crate) fn new(agent: Real, script: &Script) -> Option<Self> {
        let lab = Lab::new(Place::Root);
        lab.goal();
        let actor = Actor::new(agent, script, &lab)?;
        Some(Self { lab, actor })
    }

    /// A loop of the agent until the goal passes.
    pub(crate) fn looping(&self) -> Command {
        let mut whole = vec!["loop", "--json", "--until", "sh ./goal.sh", "--"];
        whole.extend(self.actor.typed());
        self.actor.beside(self.lab.binary(&whole))
    }

    /// How that loop ended.
    pub(crate) fn looped(&self) -> Outcome {
        self.lab.outcome(&mut self.looping(), b"")
    }

    /// What the agent printed and the server was asked, for tests that fail.
    pub(crate) fn told(&self, outcome: &Outcome) -> String {
        told(&self.lab, &self.actor, outcome)
    }
}

/// What an agent printed and its server was asked, for tests that fail.
pub(crate) fn told(lab: &Lab, actor: &Actor, outcome: &Outcome) -> String {
    let logs = lab.call(&["logs", "--agent"]);
    let calls = actor.server.calls().expect("calls");
    format!("{}\n{}\n{calls:?}\n{}", outcome.stderr, outcome.json, logs.stdout)
}

/// Plays a story with each of them, at the same time: most of it is waiting.
pub(crate) fn each(story: impl Fn(Real) + Sync) {
    std::thread::scope(|scope| {
        for agent in [Real::Claude, Real::Codex] {
            let story = &story;
            scope.spawn(move || story(agent));
        }
    });
}

/// A process that does not outlive its test: what it started ends with it.
pub(crate) struct Started(Child);

impl Started {
    pub(crate) fn new(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().expect("the binary starts"))
    }

    pub(crate) fn interrupt(&self) {
        kill(Pid::from_raw(self.0.id().cast_signed()), Signal::SIGINT).expect("it is there");
    }

    /// Its exit code, once it has ended.
    pub(crate) fn code(&mut self) -> Option<i32> {
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Tokens, as an answer tells them.
pub(crate) fn used(output_tokens: u64) -> Usage {
    Usage { input_tokens: 100, output_tokens, ..Usage::default() }
}

/// A rule that ends a turn once the command before it has printed this.
pub(crate) fn ends_after(printed: &str, words: &str) -> Rule {
    Rule::new("end").last_contains(printed).reply(Reply::text(words).usage(used(7)))
}

fn installed() -> Option<PathBuf> {
    let Some(programs) = std::env::var_os(INSTALLED).map(PathBuf::from) else {
        assert!(std::env::var_os("NO_SKIPPED_TESTS").is_none(), "{INSTALLED} is needed and not set");
        skipped(&format!(
            "this test needs the agents of .ci/agents; {INSTALLED} does not say where they are"
        ));
        return None;
    };
    for name in ["claude", "codex"] {
        assert!(programs.join(name).exists(), "{INSTALLED}: there is no {name} in {}", programs.display());
    }
    Some(programs)
}

/// A configuration in which the server is the only provider.
fn configure_codex(home: &Path, server: &ScriptedServer) {
    fs::create_dir_all(home).expect("made");
    let content = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n",
        server.url()
    );
    fs::write(home.join("config.toml"), content).expect("written");
}
