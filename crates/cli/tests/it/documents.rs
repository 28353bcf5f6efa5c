//! What the documents say is what the product does.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::run_anywhere;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The first block of commands in a document.
fn first_commands(text: &str) -> Vec<&str> {
    let block = text.lines().skip_while(|line| !line.starts_with("```")).skip(1);
    block
        .take_while(|line| !line.starts_with("```"))
        .map(|line| line.split('#').next().unwrap_or("").trim())
        .collect()
}

#[test]
fn both_readmes_begin_with_the_two_commands_that_ci_runs() {
    let commands = ["cargo run --locked -- demo", "cargo test --workspace --locked"];
    assert_eq!(first_commands(&document("README.md")), commands);
    assert_eq!(first_commands(&document("README.ja.md")), commands);
    assert!(document(".ci/run").lines().any(|line| line == commands[1]));
    assert!(document(".ci/run").lines().any(|line| line == commands[0]));
}

#[test]
fn the_configuration_reference_is_the_generated_one() {
    let generated = run_anywhere(&["config", "reference"], b"").stdout;
    assert!(
        document("docs/configuration-reference.md") == generated,
        "run: cargo run -- config reference > docs/configuration-reference.md"
    );
}

/// Every decision is described, and every answer shown in the document is the one that is given.
#[test]
fn the_page_on_decide_shows_real_answers() {
    let page = document("docs/decide.md");
    let mut shown = 0;
    for section in page.split("\n## `").skip(1) {
        let kind = section.split('`').next().expect("a name");
        let Some((_, rest)) = section.split_once("```json\n") else { panic!("{kind} shows no answer") };
        let answer = rest.split("```").next().expect("an answer");
        let example = run_anywhere(&["decide", kind, "--example"], b"").stdout;
        let given = run_anywhere(&["decide", kind, "--pretty"], example.as_bytes()).stdout;
        assert!(given.trim() == answer.trim(), "docs/decide.md, {kind}: now answers\n{given}");
        shown += 1;
    }
    assert_eq!(shown, 15);
}
