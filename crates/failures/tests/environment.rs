//! Failures of the environment, as real tools reported them, and failures of code that only look like them.
#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "tests read recorded files")]

use std::fs;
use std::path::Path;

use fixpoint_failures::{Question, Values, decide};

/// `name`, `cause`, `what is missing`, `remedy`
fn rows() -> Vec<Vec<String>> {
    let table = fs::read_to_string(folder().join("TABLE.tsv")).expect("a table");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split('\t').map(str::to_string).collect()).collect()
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/environment_recordings"))
}

fn read(name: &str) -> Question {
    let file = |file: &str| fs::read(folder().join(name).join(file)).expect("a recording");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Question {
        output: text(file("output.txt")),
        command: None,
        runner: None,
        workdir: Some(format!("/tmp/environment-workdir/{name}")),
        exit_code: text(file("exit_code")).trim().parse().ok(),
        values: Values::Drop,
    }
}

/// Those that the output alone does not show, or that are not recognised yet.
fn not_recognised() -> Vec<String> {
    let names = fs::read_to_string(folder().join("NOT_RECOGNISED")).expect("a list");
    names.lines().map(str::to_string).collect()
}

#[test]
fn causes_are_recognised_and_look_alikes_are_not() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for row in rows() {
        let [name, cause, ..] = row.as_slice() else { continue };
        count += 1;
        let report = decide(&read(name));
        let found = report.environment.as_ref().map_or("none", |found| found.cause.name());
        if (found == cause) == not_recognised().contains(name) {
            let said = report.failures.iter().map(|failure| failure.message.replace('\n', " / "));
            wrong.push(format!("{name}: {cause}, found {found}: {:?}", said.collect::<Vec<_>>()));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 250 && not_recognised().len() * 10 < count, "{count}");
}
