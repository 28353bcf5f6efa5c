//! The server as a value: a process that ends when the value is dropped.
//!
//! Owns starting, querying and ending it. Refuses to serve in the test's own process: it must be reached like any other
//! server. Invariant: no process is left behind, whether the test returns, panics or is killed.

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
use crate::server::ResponseFormat;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    pub response_format: ResponseFormat,
    /// Where counts are stored for a server that is started later.
    pub counts: Option<PathBuf>,
    /// 0 for any free port.
    pub port: u16,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Build it first.
    #[error("{program} does not exist and cannot be built ({why}): run `cargo build -p fixpoint-testkit --bin scripted-server`", program = program.display())]
    NotBuilt { program: PathBuf, why: String },
    #[error("the scripted server cannot be started: {0}")]
    Io(#[from] io::Error),
    /// Its error output says why.
    #[error("the scripted server ended at once: {0}")]
    Ended(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Calls {
    pub calls: u64,
    /// Those that no rule matched.
    pub unmatched: u64,
    pub by_rule: BTreeMap<String, u64>,
}

/// A server that runs until this value is dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    child: Child,
    address: String,
    /// Contains the script and the log.
    directory: TempDir,
}

impl ScriptedServer {
    pub fn start(script: &Script, options: Options) -> Result<Self, StartError> {
        script.check()?;
        let program = program::find()?;
        let directory = TempDir::new()?;
        let script_file = directory.path().join("script.json");
        fs::write(&script_file, serde_json::to_vec(script).map_err(io::Error::from)?)?;
        let mut command = Command::new(program);
        command.arg("--script").arg(script_file).arg("--log").arg(log_file(directory.path()));
        command.arg("--port").arg(options.port.to_string());
        match options.response_format {
            ResponseFormat::Supported => {}
            ResponseFormat::Rejected => drop(command.arg("--reject-response-format")),
        }
        if let Some(counts) = options.counts {
            command.arg("--counts").arg(counts);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = Self { child: command.spawn()?, address: String::new(), directory };
        server.address = server.announced()?;
        Ok(server)
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn calls(&self) -> io::Result<Calls> {
        let mut stream = TcpStream::connect(&self.address)?;
        // A test that hangs does not show why.
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        write!(stream, "GET /__calls HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
        Ok(serde_json::from_str(body.unwrap_or_default())?)
    }

    /// Every request so far, except those of `calls`.
    pub fn log(&self) -> io::Result<Vec<LogLine>> {
        let text = match fs::read_to_string(log_file(self.directory.path())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
    }

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
        // Killing it makes sure that its error output ends.
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
        // It has nothing to save. Killing fails if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log_file(directory: &Path) -> PathBuf {
    directory.join("log.jsonl")
}
