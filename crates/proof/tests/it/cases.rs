//! Files taken apart: two versions, what the proof tree has in their place to the letter, and what is said to have changed.
//!
//! The cases are in `tests/cases`. A backslash at the end of a version means that it ends without a line end.

use std::collections::BTreeSet;

use fixpoint_proof::{
    Change, ChangeKind, CheckCommand, MemoryTree, ProofVersion, proof_version, protected_changes,
};

#[derive(Default)]
struct Case {
    name: String,
    path: String,
    command: String,
    says: String,
    base: String,
    result: String,
    /// `as in result`, `as at base`, or the text itself.
    proof: String,
}

fn read(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut part = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("===== ") {
            cases.push(Case { name: name.to_string(), ..Case::default() });
            part = "head";
            continue;
        }
        let case = cases.last_mut().expect("a case begins with its name");
        if let Some(next) = line.strip_prefix("----- ") {
            part = next;
            if let Some(version @ ("as in result" | "as at base")) = next.strip_prefix("proof ") {
                case.proof = version.to_string();
            }
            continue;
        }
        let version = match part {
            "base" => &mut case.base,
            "result" => &mut case.result,
            "proof" => &mut case.proof,
            _ => {
                let (name, value) = line.split_once(": ").expect("a name and a value");
                match name {
                    "path" => case.path = value.to_string(),
                    "command" => case.command = value.to_string(),
                    _ => case.says = value.replace("nothing", ""),
                }
                continue;
            }
        };
        version.push_str(line.strip_suffix('\\').unwrap_or(line));
        version.push_str(if line.ends_with('\\') { "" } else { "\n" });
    }
    cases
}

fn check(file: &str) {
    let mut failures = Vec::new();
    let cases = read(file);
    assert!(cases.len() > 4, "the cases are not found");
    for case in cases {
        let versions = (Some(case.base.as_bytes()), Some(case.result.as_bytes()));
        let proof = match proof_version(&case.path, versions.0, versions.1) {
            ProofVersion::AsInResult => "as in result".to_string(),
            ProofVersion::AsAtBase => "as at base".to_string(),
            ProofVersion::Mixed(text) => String::from_utf8(text).expect("text"),
        };
        let base = MemoryTree::new([(case.path.as_str(), case.base.as_str())]);
        let result = MemoryTree::new([(case.path.as_str(), case.result.as_str())]);
        let change = Change { path: case.path.clone(), kind: ChangeKind::Modified };
        let check = CheckCommand { command: case.command.clone(), directory: String::new() };
        let found = protected_changes(&[check], &BTreeSet::new(), &[change], &base, &result);
        let said = found.first().map(|change| change.what.clone()).unwrap_or_default();
        if (&proof, &said) != (&case.proof, &case.says) {
            failures.push(format!(
                "{}\n  expected {:?} {:?}\n  found    {proof:?} {said:?}",
                case.name, case.proof, case.says
            ));
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn package_json() {
    check(include_str!("../cases/package_json.txt"));
}

#[test]
fn pyproject_toml() {
    check(include_str!("../cases/pyproject_toml.txt"));
}

#[test]
fn cargo_toml() {
    check(include_str!("../cases/cargo_toml.txt"));
}

#[test]
fn manifests_of_lines() {
    check(include_str!("../cases/manifests_of_lines.txt"));
}

#[test]
fn xml_manifests() {
    check(include_str!("../cases/xml_manifests.txt"));
}

#[test]
fn rust_sources() {
    check(include_str!("../cases/rust_sources.txt"));
}

#[test]
fn python_sources() {
    check(include_str!("../cases/python_sources.txt"));
}

#[test]
fn javascript_sources() {
    check(include_str!("../cases/javascript_sources.txt"));
}
