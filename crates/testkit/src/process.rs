//! The server as a test holds it: a process that ends with the value.
//!
//! Owns starting, asking and ending it. Refuses to serve in the test's own process: what is tested must reach the
//! server as it reaches any other. Invariant: no process is left, whether the test returns, panics or is killed.

mod program;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use tempfile::TempDir;

use crate::record::LogLine;
use crate::script::{Script, ScriptError};
use crate::server::FormSupport;

/// How the server shall be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether requests may hold the answer to a form.
    pub forms: FormSupport,
    /// Where counts are kept for a server that is started later.
    pub counts: Option<PathBuf>,
    /// The port, 0 for any that is free.
    pub port: u16,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Mend the script.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Build it first.
    #[error("{program} is not there and cannot be built ({why}): run `cargo build -p fixpoint-testkit --bin scripted-server`", program = program.display())]
    NotBuilt {
        /// Where it should be.
        program: PathBuf,
        /// Why building it failed.
        why: String,
    },
    /// It, or its files, cannot be used.
    #[error("the scripted server cannot be started: {0}")]
    Io(#[from] io::Error),
    /// It ended before it listened; its error output says why.
    #[error("the scripted server ended at once: {0}")]
    Ended(String),
}

/// How often the server was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Calls {
    /// Questions to a model.
    pub calls: u64,
    /// Those that no rule was made for.
    pub unmatched: u64,
    /// Those that each rule has answered.
    pub by_rule: BTreeMap<String, u64>,
}

/// A server that runs as long as this value lives.
#[derive(Debug)]
pub struct ScriptedServer {
    child: Child,
    address: String,
    /// The script and the log are in there.
    directory: TempDir,
}

impl ScriptedServer {
    /// Starts a server that plays the script.
    pub fn start(script: &Script, options: Options) -> Result<Self, StartError> {
        script.check()?;
        let program = program::find()?;
        let directory = TempDir::new()?;
        let script_file = directory.path().join("script.json");
        fs::write(&script_file, serde_json::to_vec(script).map_err(io::Error::from)?)?;
        let mut command = Command::new(program);
        command.arg("--script").arg(script_file).arg("--log").arg(log_file(directory.path()));
        command.arg("--port").arg(options.port.to_string());
        match options.forms {
            FormSupport::Offered => {}
            FormSupport::Refused => drop(command.arg("--reject-response-format")),
        }
        if let Some(counts) = options.counts {
            command.arg("--counts").arg(counts);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = Self { child: command.spawn()?, address: String::new(), directory };
        server.address = server.announced()?;
        Ok(server)
    }

    /// The address, without a path: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address and port alone.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// How often it was asked.
    pub fn calls(&self) -> io::Result<Calls> {
        let mut stream = TcpStream::connect(&self.address)?;
        // A test that waits for ever says nothing about why.
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        write!(stream, "GET /__calls HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
        Ok(serde_json::from_str(body.unwrap_or_default())?)
    }

    /// Every request so far, questions about the calls excepted.
    pub fn log(&self) -> io::Result<Vec<LogLine>> {
        let text = match fs::read_to_string(log_file(self.directory.path())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn announced(&mut self) -> Result<String, StartError> {
        let mut line = String::new();
        if let Some(out) = self.child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        if let Some(address) = line.trim().strip_prefix("listening on http://") {
            return Ok(address.to_string());
        }
        // Its end is certain, and with it the end of what it says.
        let _ = self.child.kill();
        let mut why = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut why)?;
        }
        Err(StartError::Ended(why.trim().to_string()))
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        // It keeps nothing that an orderly end would save. A server that has ended already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log_file(directory: &Path) -> PathBuf {
    directory.join("log.jsonl")
}
