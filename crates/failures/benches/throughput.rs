//! How many megabytes a second are read of the output of each tool, beside a pass that does nothing but normalise digits
//! and hash.
//!
//! `cargo bench -p fixpoint-failures --bench throughput`. Each log is an output repeated: with the chatter of a build
//! between the repetitions, and dense, with nothing between them. `all` has the first eight tools side by side. The best
//! of several passes counts, in processor time. `LOG` picks a tool, `LOG_MEGABYTES` sets the size of a log. `-- names` lists the tools;
//! `-- read LOG` reads one log only, for a profiler; `-- write LOG FILE` writes a log instead of reading it, for `scripts/log-throughput`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::disallowed_macros,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reads recorded files, asks the clock and prints"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use fixpoint_failures::{Options, Parser};

const PASSES: usize = 5;
/// What a process hands over at once.
const CHUNK: usize = 64 * 1024;
/// Repetitions of an output between which nothing stands.
const DENSE: &str = "-dense";

/// Tools and the recording of each in `fixtures`; the last four were not recorded and are in `benches/logs`.
const TOOLS: [(&str, &str); 54] = [
    ("cargo_test", "several"),
    ("nextest", "several"),
    ("go_test", "several"),
    ("go_json", "several"),
    ("pytest", "several"),
    ("unittest", "several"),
    ("jest", "several"),
    ("vitest", "several"),
    ("mocha", "several"),
    ("node_test", "spec"),
    ("jasmine", "several"),
    ("ava", "several"),
    ("bun", "several"),
    ("deno", "several"),
    ("playwright", "assertion"),
    ("tap", "mocha"),
    ("tape", "several"),
    ("junit", "pytest"),
    ("maven", "several"),
    ("gradle", "several"),
    ("junit_console", "several"),
    ("ctest", "several"),
    ("googletest", "several"),
    ("catch2", "several"),
    ("exunit", "several"),
    ("robot", "several"),
    ("behave", "several"),
    ("django", "several"),
    ("doctest", "several"),
    ("rustc", "text"),
    ("rustc_json", "json"),
    ("gcc", "errors"),
    ("clang", "errors"),
    ("javac", "several_files"),
    ("tsc", "several_files"),
    ("go_build", "errors"),
    ("go_vet", "several"),
    ("golangci_lint", "several"),
    ("eslint", "same_rule"),
    ("biome", "check"),
    ("flake8", "several"),
    ("ruff", "default"),
    ("pylint", "several"),
    ("mypy", "several"),
    ("pyright", "several"),
    ("shellcheck", "tty"),
    ("yamllint", "several"),
    ("generic", "script"),
    ("phpunit", ""),
    ("minitest", ""),
    ("rspec", ""),
    ("dotnet_test", ""),
    // Not of one tool.
    ("all", ""),
    ("chatter", ""),
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["names"] => TOOLS.iter().for_each(|(name, _)| println!("{name}")),
        ["write", log, file] => fs::write(file, log_of(log)).expect("a writable file"),
        ["read", log] => println!("{log} {:.0} MB/s", best(log_of(log).as_bytes(), read)),
        _ => table(),
    }
}

fn table() {
    let only = env::var("LOG").ok();
    println!("{:<14}{:>12}{:>12}{:>14}{:>10}", "log", "MB/s", "dense", "floor MB/s", "ratio");
    for (name, _) in TOOLS {
        if only.as_deref().is_none_or(|only| only == name) {
            let log = log_of(name);
            let (ours, floor) = (best(log.as_bytes(), read), best(log.as_bytes(), naive));
            drop(log);
            let dense = best(log_of(&format!("{name}{DENSE}")).as_bytes(), read);
            println!("{name:<14}{ours:>12.0}{dense:>12.0}{floor:>14.0}{:>9.1}x", floor / ours);
        }
    }
}

/// The log of a tool, or of a tool and `-dense`.
fn log_of(log: &str) -> String {
    let size =
        env::var("LOG_MEGABYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(32usize) * 1024 * 1024;
    let name = log.strip_suffix(DENSE);
    let text = output(name.unwrap_or(log));
    repeated(&text, size, if name.is_some() && !text.is_empty() { 0 } else { 200 })
}

/// What a tool printed once.
fn output(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (_, case) = TOOLS.into_iter().find(|(tool, _)| *tool == name).expect("a name that `-- names` lists");
    let file = match (name, case) {
        ("all", _) => return TOOLS.iter().take(8).map(|(tool, _)| output(tool) + "\n").collect(),
        ("chatter", _) => return String::new(),
        (_, "") => root.join("benches/logs").join(format!("{name}.txt")),
        ("rustc_json", case) => root.join("fixtures/rustc").join(case).join("output.txt"),
        (_, case) => root.join("fixtures").join(name).join(case).join("output.txt"),
    };
    fs::read_to_string(file).expect("a recording")
}

/// The text again and again, with lines that a build prints in between.
fn repeated(text: &str, size: usize, lines: usize) -> String {
    let mut log = String::with_capacity(size + text.len() + 200 * lines);
    let mut number = 0;
    while log.len() < size {
        for _ in 0..lines {
            number += 1;
            writeln!(
                log,
                "2026-11-16T02:35:{:02}.{number:06}Z INFO worker-{} handled request {number} of 10.0.0.{} in {}ms",
                number % 60,
                number % 8,
                number % 255,
                number % 977
            )
            .expect("memory");
        }
        log.push_str(text);
    }
    log
}

fn read(log: &[u8]) -> usize {
    let mut parser =
        Parser::new(&Options { workdir: Some("/tmp/fixture-workdir".into()), ..Options::default() });
    log.chunks(CHUNK).for_each(|chunk| parser.push(chunk));
    parser.finish(Some(1)).failures.len()
}

fn best(log: &[u8], read: impl Fn(&[u8]) -> usize) -> f64 {
    let seconds = (0..PASSES).map(|_| {
        let (started, processor) = (Instant::now(), processor_seconds());
        black_box(read(black_box(log)));
        let elapsed = started.elapsed().as_secs_f64();
        processor_seconds().zip(processor).map_or(elapsed, |(now, before)| now - before)
    });
    log.len() as f64 / 1e6 / seconds.fold(f64::INFINITY, f64::min)
}

/// The time that this thread has used a processor, which other programs do not change much. Only Linux tells it.
fn processor_seconds() -> Option<f64> {
    // Linux brings the figure up to date when a thread pauses.
    std::thread::yield_now();
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
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
