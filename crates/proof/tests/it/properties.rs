//! Properties of mixed files. The comment of each names a mutation it catches.

use std::collections::BTreeSet;

use fixpoint_proof::{
    Change, ChangeKind, CheckCommand, MemoryTree, ProofVersion, proof_version, protected_changes,
};
use proptest::prelude::*;

const PATHS: [&str; 15] = [
    "package.json",
    "package-lock.json",
    "composer.json",
    "deno.jsonc",
    "pyproject.toml",
    "Cargo.toml",
    "setup.cfg",
    "pom.xml",
    "a.csproj",
    "go.mod",
    "Gemfile",
    "Makefile",
    "src/lib.rs",
    "calc.py",
    "src/calc.ts",
];

/// Pieces of which files are made that are nearly right.
const PIECES: [&str; 43] = [
    "{",
    "}",
    "\"scripts\"",
    ":",
    "\"test\"",
    ",",
    "\"dependencies\"",
    "\n",
    "[package]\n",
    "name = \"a\"\n",
    "[tool.pytest]\n",
    "x = 1\n",
    "[[test]]\n",
    "<project>",
    "</project>",
    "<build>",
    "</build>",
    "<version>1</version>",
    "#[cfg(test)]\n",
    "mod tests {\n",
    "}\n",
    "fn a() {}\n",
    "#[test]\n",
    "\"\"\"",
    ">>> a\n",
    "def test_a():\n    pass\n",
    "class A:\n",
    "r#\"",
    "'a",
    "/*",
    "//",
    "\\",
    "replace a => b\n",
    "require a v1\n",
    "gem 'a'\n",
    "test: a.o\n",
    "\tsh x\n",
    "é",
    "[",
    "= \"",
    "if (import.meta.vitest) {",
    "`${",
    "x = /",
];

fn content() -> impl Strategy<Value = Vec<u8>> {
    let pieces = proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 0..20);
    prop_oneof![
        pieces.prop_map(|pieces| pieces.concat().into_bytes()),
        proptest::collection::vec(any::<u8>(), 0..60)
    ]
}

fn proof(path: &str, base: &[u8], result: &[u8]) -> Vec<u8> {
    match proof_version(path, Some(base), Some(result)) {
        ProofVersion::AsAtBase => base.to_vec(),
        ProofVersion::AsInResult => result.to_vec(),
        ProofVersion::Mixed(text) => text,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A mixed file holds nothing more to be taken from the base. Catches definitions that are put back twice.
    #[test]
    fn mixing_twice_is_mixing_once(path in proptest::sample::select(PATHS.to_vec()), base in content(), result in content()) {
        let once = proof(path, &base, &result);
        let twice = proof(path, &base, &once);
        prop_assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(&once));
    }

    /// Catches mixing of files that did not change.
    #[test]
    fn what_did_not_change_stays(path in proptest::sample::select(PATHS.to_vec()), base in content()) {
        prop_assert_eq!(proof_version(path, Some(&base), Some(&base)), ProofVersion::AsInResult);
    }

    /// Catches slices and depths that overflow on arbitrary text.
    #[test]
    fn nothing_panics(path in proptest::sample::select(PATHS.to_vec()), base in content(), result in content(), command in ".{0,40}") {
        let (mut before, mut after) = (MemoryTree::default(), MemoryTree::default());
        before.insert(path, &base);
        after.insert(path, &result);
        let change = Change { path: path.to_string(), kind: ChangeKind::Modified };
        let observed = BTreeSet::from([command.clone()]);
        let checks = [CheckCommand { command: format!("sh {path}; {command}"), directory: String::new() }];
        let found = protected_changes(&checks, &observed, &[change], &before, &after);
        prop_assert!(found.len() <= 1);
        let _ = proof_version(path, None, Some(&result));
    }
}
