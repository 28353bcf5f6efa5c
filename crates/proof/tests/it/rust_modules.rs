//! Rust modules in files of their own that are there for tests.

use std::collections::BTreeSet;

use fixpoint_proof::ChangeKind::{Added, Modified};
use fixpoint_proof::{Change, CheckCommand, MemoryTree, Role, protected_changes};

#[test]
fn rust_modules_in_files() {
    let base = MemoryTree::new([
        (
            "src/lib.rs",
            "pub mod calc;\n#[cfg(test)]\nmod proofs;\n#[cfg(test)]\n#[path = \"checks/odd.rs\"]\nmod odd;\n",
        ),
        ("src/calc.rs", ""),
        ("src/proofs.rs", ""),
        ("src/proofs/deep.rs", ""),
        ("src/checks/odd.rs", ""),
    ]);
    let mut result = base.clone();
    result.insert("src/lib.rs", b"pub mod calc;\n#[cfg(test)]\nmod fresh;\n");
    let paths = ["src/calc.rs", "src/proofs.rs", "src/proofs/deep.rs", "src/checks/odd.rs"];
    paths.iter().for_each(|path| result.insert(path, b"fn new() {}\n"));
    result.insert("src/fresh.rs", b"fn new() {}\n");
    for (path, kind, expected) in [
        ("src/calc.rs", Modified, None),
        ("src/proofs.rs", Modified, Some(Role::Test)),
        ("src/proofs/deep.rs", Modified, Some(Role::Test)),
        ("src/checks/odd.rs", Modified, Some(Role::Test)),
        ("src/fresh.rs", Added, Some(Role::Test)),
    ] {
        let change = Change { path: path.to_string(), kind };
        let check = CheckCommand { command: "cargo test".to_string(), directory: String::new() };
        let found = protected_changes(&[check], &BTreeSet::new(), &[change], &base, &result);
        assert_eq!(found.first().map(|change| change.role), expected, "{path}");
    }
}
