//! How many megabytes a second are read, beside a pass that does nothing but normalise digits and hash.
//!
//! `cargo bench -p fixpoint-failures`. The logs are recorded outputs, repeated with the chatter of a build between
//! them; in the dense one the failures of all of them stand side by side. The best of several passes counts. `LOG` picks one, `LOG_MEGABYTES`
//! sets its size.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::disallowed_macros,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reads recorded files, asks the clock and prints"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use fixpoint_failures::{Options, Parser};

const PASSES: usize = 5;
/// What a process hands over at once.
const CHUNK: usize = 64 * 1024;

fn main() {
    let size =
        env::var("LOG_MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(32usize) * 1024 * 1024;
    let runs = ["cargo_test", "nextest", "go_test", "go_json", "pytest", "unittest", "jest", "vitest"];
    let mut mixed = String::new();
    println!("{:<14}{:>12}{:>14}{:>10}", "log", "MB/s", "floor MB/s", "ratio");
    let only = env::var("LOG").ok();
    let is_wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    for runner in runs {
        let text = fs::read_to_string(recording(runner)).expect("a recording");
        if is_wanted(runner) {
            row(runner, repeated(&text, size).as_bytes());
        }
        mixed.push_str(&text);
        mixed.push('\n');
    }
    for (name, text) in [("dense", mixed.as_str()), ("chatter", "")] {
        if is_wanted(name) {
            row(name, repeated(text, size).as_bytes());
        }
    }
}

fn recording(runner: &str) -> impl AsRef<Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(runner).join("several/output.txt")
}

/// The text again and again, with what a build prints in between.
fn repeated(text: &str, size: usize) -> String {
    let mut log = String::with_capacity(size + text.len());
    let mut number = 0;
    while log.len() < size {
        for _ in 0..200 {
            number += 1;
            log.push_str(&format!(
                "2026-11-16T02:35:{:02}.{number:06}Z INFO worker-{} handled request {number} of 10.0.0.{} in {}ms\n",
                number % 60,
                number % 8,
                number % 255,
                number % 977
            ));
        }
        log.push_str(text);
    }
    log
}

fn row(name: &str, log: &[u8]) {
    let ours = best(log, |log| {
        let mut parser =
            Parser::new(&Options { workdir: Some("/tmp/fixture-workdir".into()), ..Options::default() });
        log.chunks(CHUNK).for_each(|chunk| parser.push(chunk));
        parser.finish(Some(1)).failures.len()
    });
    let floor = best(log, naive);
    println!("{name:<14}{ours:>12.0}{floor:>14.0}{:>9.1}x", floor / ours);
}

fn best(log: &[u8], mut read: impl FnMut(&[u8]) -> usize) -> f64 {
    let seconds = (0..PASSES).map(|_| {
        let started = Instant::now();
        black_box(read(black_box(log)));
        started.elapsed().as_secs_f64()
    });
    log.len() as f64 / 1e6 / seconds.fold(f64::INFINITY, f64::min)
}

/// The floor: every digit becomes one, and the whole is hashed.
fn naive(log: &[u8]) -> usize {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = [0u8; CHUNK];
    for chunk in log.chunks(CHUNK) {
        for (into, byte) in buffer.iter_mut().zip(chunk) {
            *into = if byte.is_ascii_digit() { b'0' } else { *byte };
        }
        hasher.update(buffer.get(..chunk.len()).unwrap_or_default());
    }
    usize::from(hasher.finalize().as_bytes().first().copied().unwrap_or_default())
}
