//! `scripted-server`: a model server that answers from a script, for tests.
//!
//! Owns arguments and the end of the process. Invariant: it ends when the process that started it does.

use std::io::{self, Read, Write};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::{ExitCode, exit};
use std::thread;
use std::time::Duration;

use clap::Parser;
use fixpoint_testkit::{FINGERPRINT, ResponseFormat, Settings, serve};

/// A model server on loopback that answers from a script. It ends when its standard input is closed.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The script, a JSON file
    #[arg(long, required_unless_present = "fingerprint")]
    script: Option<PathBuf>,
    /// The port; 0 for any free port
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Append a line of JSON for every request to this file
    #[arg(long)]
    log: Option<PathBuf>,
    /// Store the count of each rule in this file, and continue from there
    #[arg(long)]
    counts: Option<PathBuf>,
    /// Reject requests that require a format of the answer
    #[arg(long)]
    reject_response_format: bool,
    /// Print a hash of the sources this program was built from
    #[arg(long)]
    fingerprint: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(script) = arguments.script.filter(|_| !arguments.fingerprint) else {
        return print(&FINGERPRINT.to_string());
    };
    let parent = parent_id();
    let response_format =
        if arguments.reject_response_format { ResponseFormat::Rejected } else { ResponseFormat::Supported };
    let settings = Settings {
        script,
        port: arguments.port,
        log: arguments.log,
        counts: arguments.counts,
        response_format,
    };
    let announce = |address| {
        // Only now: a caller that closes the input at once must still get an error message.
        thread::spawn(end_with_input);
        thread::spawn(move || end_with_parent(parent));
        // If this is not read, the parent is gone, and the server will notice.
        print(&format!("listening on http://{address}"));
    };
    match serve(settings, announce) {
        Ok(never) => match never {},
        Err(error) => {
            let _ = writeln!(io::stderr(), "scripted-server: {error}");
            ExitCode::from(2)
        }
    }
}

fn print(line: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn end_with_input() {
    let mut input = io::stdin().lock();
    let mut bytes = [0; 1024];
    // The content does not matter, only its end.
    while input.read(&mut bytes).is_ok_and(|read| read > 0) {}
    exit(0)
}

/// Another process may keep our input open, but a new parent shows that the old one is gone.
fn end_with_parent(parent: u32) {
    while parent_id() == parent {
        thread::sleep(Duration::from_millis(200));
    }
    exit(0)
}
