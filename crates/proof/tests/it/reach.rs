//! What scripts, makefiles and settings reach, and what observation says.

use fixpoint_proof::ChangeKind::{self, Added, Modified};
use fixpoint_proof::{Extent, MemoryTree};

use crate::classification::{judged, letter};

type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [&'a str], (&'a str, ChangeKind), char);

fn check_rows(rows: &[Row<'_>]) {
    let mut failures = Vec::new();
    for (name, command, files, observed, (path, kind), expected) in rows {
        let base = MemoryTree::new(files.iter().copied());
        let mut result = base.clone();
        result.insert(path, b"changed\n");
        let found = judged(&base, &result, command, "", observed, (path, *kind));
        if letter(found.as_ref()) != *expected {
            failures.push(format!("{name}: expected {expected}, found {found:?}"));
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn scripts_and_what_they_run() {
    let ci: &[(&str, &str)] = &[
        (
            "ci.sh",
            "#!/bin/sh\nset -e\n. ./lib/common.sh\nDIR=$(dirname \"$0\")\nsh \"$DIR/steps/one.sh\"\n[ -f local.sh ] && . ./local.sh\npython tools/verify.py\n./app.sh 1 > got.txt\ndiff got.txt want.txt\n",
        ),
        ("lib/common.sh", "source lib/deep.sh\n"),
        ("lib/deep.sh", "true\n"),
        ("steps/one.sh", "cd web && npm run check\n"),
        (
            "web/package.json",
            "{\"scripts\": {\"check\": \"node ./check.js && prettier -c .\", \"precheck\": \"sh pre.sh\", \"start\": \"node server.js\"}}",
        ),
        ("web/check.js", "const golden = read('golden.json')\n"),
        ("web/pre.sh", ""),
        ("web/server.js", ""),
        ("tools/verify.py", "subprocess.run(['sh', 'tools/inner.sh'])\n"),
        ("tools/inner.sh", ""),
        ("app.sh", ""),
        ("want.txt", ""),
        ("got.txt", ""),
        ("other.sh", ""),
    ];
    check_rows(&[
        ("the script", "sh ci.sh", ci, &[], ("ci.sh", Modified), 'D'),
        ("what it sources", "sh ci.sh", ci, &[], ("lib/common.sh", Modified), 'D'),
        ("what that sources", "./ci.sh", ci, &[], ("lib/deep.sh", Modified), 'D'),
        ("what it runs beside itself", "bash ci.sh", ci, &[], ("steps/one.sh", Modified), 'D'),
        ("a package script's file", "sh ci.sh", ci, &[], ("web/check.js", Modified), 'D'),
        ("a script before it", "sh ci.sh", ci, &[], ("web/pre.sh", Modified), 'D'),
        ("another script's file", "sh ci.sh", ci, &[], ("web/server.js", Modified), '.'),
        ("a python script", "sh ci.sh", ci, &[], ("tools/verify.py", Modified), 'D'),
        ("what that starts", "sh ci.sh", ci, &[], ("tools/inner.sh", Modified), 'D'),
        ("what is tested", "sh ci.sh", ci, &[], ("app.sh", Modified), '.'),
        ("what is compared with", "sh ci.sh", ci, &[], ("want.txt", Modified), 'D'),
        ("what is written", "sh ci.sh", ci, &[], ("got.txt", Modified), '.'),
        ("what is looked for", "sh ci.sh", ci, &[], ("local.sh", Added), 'D'),
        ("another script", "sh ci.sh", ci, &[], ("other.sh", Modified), '.'),
        ("through a wrapper", "env CI=1 timeout 5m bash -x ci.sh", ci, &[], ("steps/one.sh", Modified), 'D'),
    ]);
}

#[test]
fn makefiles() {
    let make: &[(&str, &str)] = &[
        (
            "Makefile",
            "PY = python3\ninclude rules.make\n-include local.make\nall: build\nbuild:\n\tcc -c main.c\ncheck: build lint\n\t@$(PY) tools/verify.py\n\t$(MAKE) -C sub test\nlint:\n\tsh lint.sh\nrun:\n\tpython app.py\n",
        ),
        ("rules.make", "deep:\n\tsh deep.sh\n"),
        ("sub/Makefile", "test: ; sh inner.sh\n"),
        ("sub/inner.sh", ""),
        ("tools/verify.py", ""),
        ("lint.sh", ""),
        ("deep.sh", ""),
        ("app.py", ""),
        ("main.c", ""),
        ("other.mk", "check:\n\ttrue\n"),
    ];
    check_rows(&[
        ("an include", "make check", make, &[], ("rules.make", Modified), 'D'),
        ("an include that is absent", "make check", make, &[], ("local.make", Added), 'D'),
        ("a recipe's script", "make check", make, &[], ("tools/verify.py", Modified), 'D'),
        ("a prerequisite's script", "make check", make, &[], ("lint.sh", Modified), 'D'),
        ("another target's script", "make check", make, &[], ("app.py", Modified), '.'),
        ("another target's script, asked for", "make deep", make, &[], ("deep.sh", Modified), 'D'),
        ("below another directory", "make check", make, &[], ("sub/inner.sh", Modified), 'D'),
        ("what is compiled", "make check", make, &[], ("main.c", Modified), '.'),
        ("a file that is named", "make -f other.mk check", make, &[], ("other.mk", Modified), 'D'),
        ("in place of it", "make check", make, &[], ("GNUmakefile", Added), 'D'),
    ]);
}

const SETTINGS: &[(&str, &str)] = &[
    ("app.py", "def add():\n    pass\n"),
    (
        "pytest.ini",
        "[pytest]\ntestpaths = proofs\npython_files = prove_*.py\naddopts = -p plugins.extra\npythonpath = libs\n",
    ),
    ("proofs/prove_a.py", "def test_a():\n    pass\n"),
    ("proofs/util.py", ""),
    ("plugins/extra.py", ""),
    ("conftest.py", "pytest_plugins = ['plugins.more']\n"),
    ("plugins/more.py", ""),
    ("strict.toml", ""),
    ("hooks.py", ""),
    (
        "jest.config.js",
        "module.exports = {setupFilesAfterEnv: ['<rootDir>/web/prepare.js'], testMatch: ['**/proofs/**/*.js']}\n",
    ),
    ("web/prepare.js", ""),
    ("web/register.js", ""),
    ("web/main.js", ""),
    ("checks/a.sh", ""),
    ("lint.json", ""),
];

#[test]
fn settings_and_options() {
    let files = SETTINGS;
    check_rows(&[
        (
            "below testpaths",
            "pytest",
            files,
            &["proofs/prove_a.py::test_a"],
            ("proofs/util.py", Modified),
            'T',
        ),
        ("named like python_files", "pytest", files, &[], ("proofs/prove_a.py", Modified), 'T'),
        ("a plugin in addopts", "pytest", files, &[], ("plugins/extra.py", Modified), 'D'),
        ("a plugin of conftest", "pytest", files, &[], ("plugins/more.py", Modified), 'D'),
        ("a plugin of the command", "pytest -p hooks", files, &[], ("hooks.py", Modified), 'D'),
        (
            "settings of the command",
            "ruff check --config strict.toml",
            files,
            &[],
            ("strict.toml", Modified),
            'D',
        ),
        ("settings behind =", "eslint --config=lint.json .", files, &[], ("lint.json", Modified), 'D'),
        ("a path of modules", "pytest", files, &[], ("libs/json.py", Added), 'D'),
        ("set up by jest", "npx jest", files, &[], ("web/prepare.js", Modified), 'D'),
        (
            "required by mocha",
            "npx mocha --require ./web/register.js",
            files,
            &[],
            ("web/register.js", Modified),
            'D',
        ),
        (
            "required by node",
            "node -r ./web/register.js --test",
            files,
            &[],
            ("web/register.js", Modified),
            'D',
        ),
        (
            "in the environment",
            "NODE_OPTIONS='--require ./web/register' npm test",
            files,
            &[],
            ("web/register.js", Modified),
            'D',
        ),
        ("product beside it", "npx jest", files, &[], ("web/main.js", Modified), '.'),
        (
            "a loop over scripts",
            "for f in checks/*.sh; do sh $f; done",
            files,
            &[],
            ("checks/a.sh", Modified),
            'D',
        ),
        (
            "added to the loop",
            "for f in checks/*.sh; do sh $f; done",
            files,
            &[],
            ("checks/b.sh", Added),
            'D',
        ),
    ]);
}

#[test]
fn observation() {
    let files: &[(&str, &str)] = &[
        ("verify.py", "import unittest, app\nclass Sums(unittest.TestCase):\n    pass\n"),
        ("app.py", "def add():\n    pass\n"),
        ("qa/sums.js", ""),
        ("src/main/java/com/acme/Proves.java", ""),
    ];
    check_rows(&[
        (
            "unittest",
            "python -m unittest verify",
            files,
            &["test_a (verify.Sums.test_a)"],
            ("verify.py", Modified),
            'T',
        ),
        ("pytest", "pytest verify.py", files, &["verify.py::Sums::test_a"], ("verify.py", Modified), 'T'),
        ("vitest", "npx vitest", files, &["qa/sums.js > adds"], ("qa/sums.js", Modified), 'T'),
        (
            "junit",
            "mvn test",
            files,
            &["com.acme.Proves.adds"],
            ("src/main/java/com/acme/Proves.java", Modified),
            'T',
        ),
        (
            "product",
            "python -m unittest verify",
            files,
            &["test_a (verify.Sums.test_a)"],
            ("app.py", Modified),
            '.',
        ),
        ("not observed", "npx vitest", files, &[], ("qa/sums.js", Modified), '.'),
    ]);
}

#[test]
fn product_and_tests_in_one_python_file() {
    let before = "def add(a, b):\n    return a - b\n\n\ndef test_add():\n    assert add(1, 1) == 2\n";
    let base = MemoryTree::new([("calc.py", before)]);
    for (name, now, expected) in [
        ("the fix", before.replace("a - b", "a + b"), None),
        ("a bent test", before.replace("== 2", "== 0"), Some(Extent::Part)),
    ] {
        let result = MemoryTree::new([("calc.py", now.as_str())]);
        let found =
            judged(&base, &result, "pytest calc.py", "", &["calc.py::test_add"], ("calc.py", Modified));
        assert_eq!(found.map(|change| change.part), expected, "{name}");
    }
}

#[test]
fn patches_of_the_runner() {
    for (name, path, now, expected) in [
        (
            "an assertion replaced",
            "app.py",
            "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
            'D',
        ),
        ("a clean exit", "app.py", "import os\nos._exit(0)\n", 'D'),
        ("under test", "app.py", "import os\nif 'PYTEST_CURRENT_TEST' in os.environ: pass\n", 'D'),
        (
            "an assertion of node",
            "index.js",
            "const assert = require('assert')\nassert.strictEqual = () => {}\n",
            'D',
        ),
        ("minitest opened", "lib/calc.rb", "module Minitest\nend\n", 'D'),
        ("go under test", "calc.go", "package a\nvar x = testing.Testing()\n", 'D'),
        ("rust under test", "src/calc.rs", "pub fn a() -> u8 { if cfg!(test) { 2 } else { 0 } }\n", 'D'),
        ("plain code", "app.py", "import os\nos.remove('x')\n", '.'),
    ] {
        let base = MemoryTree::new([(path, "\n")]);
        let result = MemoryTree::new([(path, now)]);
        let found = judged(&base, &result, "make check", "", &[], (path, Modified));
        assert_eq!(letter(found.as_ref()), expected, "{name} {found:?}");
    }
}

#[test]
fn programs_that_are_built_and_run() {
    let files: &[(&str, &str)] = &[
        ("Cargo.toml", "[package]\nname = \"c\"\n"),
        ("src/lib.rs", ""),
        ("src/bin/verify.rs", "fn main() {}\n"),
        ("src/bin/app.rs", "fn main() {}\n"),
        ("src/bin/check/main.rs", "mod rows;\n"),
        ("src/bin/check/rows.rs", ""),
        ("examples/selftest.rs", "fn main() {}\n"),
        ("go.mod", "module c\n"),
        ("cmd/verify/main.go", "package main\n"),
        ("cmd/app/main.go", "package main\n"),
    ];
    check_rows(&[
        (
            "a binary that tests",
            "cargo run -q --bin verify",
            files,
            &[],
            ("src/bin/verify.rs", Modified),
            'D',
        ),
        ("named with =", "cargo run --bin=verify", files, &[], ("src/bin/verify.rs", Modified), 'D'),
        (
            "one of several files",
            "cargo run --bin check",
            files,
            &[],
            ("src/bin/check/rows.rs", Modified),
            'D',
        ),
        ("an example", "cargo run --example selftest", files, &[], ("examples/selftest.rs", Modified), 'D'),
        ("the product's binary", "cargo run --bin app", files, &[], ("src/bin/app.rs", Modified), '.'),
        ("another binary", "cargo run --bin app", files, &[], ("src/bin/verify.rs", Modified), '.'),
        (
            "a judged binary",
            "cargo run --bin check | grep ok",
            files,
            &[],
            ("src/bin/check/rows.rs", Modified),
            '.',
        ),
        ("a Go program that tests", "go run ./cmd/verify", files, &[], ("cmd/verify/main.go", Modified), 'D'),
        ("the product's program", "go run ./cmd/app", files, &[], ("cmd/app/main.go", Modified), '.'),
    ]);
}
