//! The real agents, installed beside the tests, talking to a model server that plays a script.
//!
//! Owns how they are found, pointed at the server and kept away from whatever this machine has configured. A test that
//! needs them says that it is skipped where they are not installed, unless nothing may be skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fixpoint_testkit::{Options, Script, ScriptedServer};

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

/// A repository with a goal, a server, and an agent that knows only that server.
pub(crate) struct Studio {
    pub(crate) lab: Lab,
    pub(crate) server: ScriptedServer,
    agent: Real,
    programs: PathBuf,
}

impl Studio {
    /// Nothing where the agents are not installed.
    pub(crate) fn new(agent: Real, script: &Script) -> Option<Self> {
        let programs = installed()?;
        let lab = Lab::new(Place::Root);
        lab.goal();
        let server = ScriptedServer::start(script, Options::default()).expect("a server");
        if agent == Real::Codex {
            configure_codex(&lab.beside("codex"), &server);
        }
        Some(Self { lab, server, agent, programs })
    }

    /// The binary with the agent in reach.
    pub(crate) fn binary(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.binary(arguments);
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
                command.env("CODEX_HOME", self.lab.beside("codex")).env("OPENAI_API_KEY", "scripted");
            }
        }
        command
    }

    /// A loop of the agent until the goal passes.
    pub(crate) fn looping(&self) -> Command {
        let mut whole = vec!["loop", "--json", "--until", "sh ./goal.sh", "--"];
        whole.extend(self.agent.typed());
        self.binary(&whole)
    }

    /// How that loop ended.
    pub(crate) fn looped(&self) -> Outcome {
        self.lab.outcome(&mut self.looping(), b"")
    }

    /// What the agent printed and the server was asked, for tests that fail.
    pub(crate) fn told(&self, outcome: &Outcome) -> String {
        let logs = self.lab.call(&["logs", "--agent"]);
        let calls = self.server.calls().expect("calls");
        format!("{}\n{}\n{calls:?}\n{}", outcome.stderr, outcome.json, logs.stdout)
    }
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
