//! `scripted-server`: a model server that plays a script, for tests.
//!
//! Owns arguments and the end of the process. Invariant: it ends with whoever started it, however that ends.

use std::io::{self, Read, Write};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::{ExitCode, exit};
use std::thread;
use std::time::Duration;

use clap::Parser;
use fixpoint_testkit::{FINGERPRINT, FormSupport, Settings, serve};

/// A model server on loopback that plays a script. It ends when its standard input does.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The script, a JSON file
    #[arg(long, required_unless_present = "fingerprint")]
    script: Option<PathBuf>,
    /// The port; 0 for any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Append a line of JSON for every request to this file
    #[arg(long)]
    log: Option<PathBuf>,
    /// Keep in this file how far each rule has come, and go on from there
    #[arg(long)]
    counts: Option<PathBuf>,
    /// Refuse requests that hold the answer to a form
    #[arg(long)]
    reject_response_format: bool,
    /// Say which sources this program was built from, and end
    #[arg(long)]
    fingerprint: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(script) = arguments.script.filter(|_| !arguments.fingerprint) else {
        return said(&FINGERPRINT.to_string());
    };
    let parent = parent_id();
    let forms = if arguments.reject_response_format { FormSupport::Refused } else { FormSupport::Offered };
    let settings =
        Settings { script, port: arguments.port, log: arguments.log, counts: arguments.counts, forms };
    let announce = |address| {
        // Not before there is something to end: whoever closes the input at once still learns what is wrong.
        thread::spawn(end_with_input);
        thread::spawn(move || end_with_parent(parent));
        // Whoever does not listen to this has gone, and the server will notice.
        said(&format!("listening on http://{address}"));
    };
    match serve(settings, announce) {
        Ok(never) => match never {},
        Err(error) => {
            let _ = writeln!(io::stderr(), "scripted-server: {error}");
            ExitCode::from(2)
        }
    }
}

fn said(line: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn end_with_input() {
    let mut input = io::stdin().lock();
    let mut bytes = [0; 1024];
    // What is said there means nothing; that it ends does.
    while input.read(&mut bytes).is_ok_and(|read| read > 0) {}
    exit(0)
}

/// Another process may hold the other end of our input open; the parent has gone all the same when we are handed on.
fn end_with_parent(parent: u32) {
    while parent_id() == parent {
        thread::sleep(Duration::from_millis(200));
    }
    exit(0)
}
