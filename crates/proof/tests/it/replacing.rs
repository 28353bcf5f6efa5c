//! Product code that replaces what tests use, ends what runs them, or leaves the sight of a checker; and honest code beside it.

use std::collections::BTreeSet;

use fixpoint_proof::ChangeKind::{Added, Deleted, Modified};
use fixpoint_proof::{Change, CheckCommand, MemoryTree, Role, protected_changes};

use crate::taken::check_rows;

const JS: (&str, &str) = ("src/add.js", "exports.add = (a, b) => a - b;\n");
const JS_TEST: (&str, &str) = (
    "test/add.test.js",
    "const assert = require('assert'); const { add } = require('../src/add'); it('adds', () => assert.equal(add(2, 2), 4));\n",
);

fn check(command: &str, files: &[(&str, &str)], path: &str, rows: &[(&str, &str, char)]) {
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, added, expected)| {
            let before = files.iter().find(|(known, _)| *known == path).map_or("", |(_, text)| *text);
            (*name, format!("{before}{added}"), *expected)
        })
        .collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, now, expected)| {
            (*name, command, files, &[] as &[&str], (path, Modified), now.as_str(), *expected)
        })
        .collect();
    check_rows(&rows);
}

#[test]
fn assertions_of_node() {
    check(
        "mocha",
        &[JS, JS_TEST],
        "src/add.js",
        &[
            ("assigned at once", "Object.assign(require(\"assert\"), { equal() {} });\n", 'D'),
            ("reflected", "Reflect.set(require(\"node:assert\"), \"equal\", () => {});\n", 'D'),
            ("a pattern", "const a = require('assert'); ({ f: a.equal } = { f() {} });\n", 'D'),
            ("a mock", "require('node:test').mock.method(require('assert'), 'equal', () => {});\n", 'D'),
            (
                "a plugin",
                "const chai = require('chai'); chai.use(c => c.Assertion.addMethod('equal', f));\n",
                'D',
            ),
            ("asserted", "const assert = require('assert'); assert.ok(true);\n", '.'),
            ("copied", "const assert = require('assert'); exports.check = Object.assign({}, assert);\n", '.'),
        ],
    );
}

#[test]
fn assertions_of_python() {
    let files: &[(&str, &str)] = &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        (
            "tests/test_goal.py",
            "import math, unittest\nfrom calc import *\nassert math.isclose(add(2, 2), 4)\nassert all([add(2, 2) == 4])\n",
        ),
        ("other.py", "x = 1\n"),
        ("tests/test_other.py", "import other\nassert other.x\n"),
    ];
    check(
        "python3 -m unittest tests.test_goal",
        files,
        "calc.py",
        &[
            (
                "an alias",
                "from unittest import TestCase as T\nT._baseAssertEqual = lambda *a, **k: None\n",
                'D',
            ),
            ("a class", "import unittest\nR = unittest.TextTestResult\nR.addFailure = R.addSuccess\n", 'D'),
            ("a type", "import unittest\ntype.__setattr__(unittest.TestCase, 'assertEqual', f)\n", 'D'),
            ("skipped", "import unittest.case as c\nc.TestCase.failureException = c.SkipTest\n", 'D'),
            ("the library", "import math\nvars(math).update(isclose=lambda *a, **k: True)\n", 'D'),
            ("its dictionary", "import math\nmath.__dict__['isclose'] = f\n", 'D'),
            ("another function", "import math\nmath.tau = 6\n", '.'),
            (
                "a class of its own",
                "import unittest\nclass Case(unittest.TestCase):\n    maxDiff = None\n",
                '.',
            ),
            ("a hook of pytest", "def setup_function(f):\n    f.__code__ = x\n", 'D'),
            ("tests that are made", "def pytest_generate_tests(metafunc):\n    pass\n", 'D'),
            ("a built-in function", "def all(x):\n    return True\n", 'D'),
            ("one that no test uses", "def sorted(x):\n    return x\n", '.'),
            ("a method", "class Rows:\n    def all(self):\n        return self\n", '.'),
        ],
    );
    let named: &[(&str, &str, char)] = &[("imported by name", "def all(x):\n    return True\n", '.')];
    check("python3 -m unittest tests.test_other", files, "other.py", named);
}

#[test]
fn classes_of_ruby() {
    let files: &[(&str, &str)] = &[
        ("lib/calc.rb", "def add(a, b) = a - b\n"),
        ("test/calc_test.rb", "require \"calc\"\nassert_equal(4, add(2, 2))\n"),
    ];
    check(
        "ruby -Ilib test/calc_test.rb",
        files,
        "lib/calc.rb",
        &[
            ("opened again", "class Integer\n  def ==(o) = true\nend\n", 'D'),
            ("evaluated", "Integer.class_eval do\n  def ==(o) = true\nend\n", 'D'),
            ("watched", "class Object\n  def self.inherited(k)\n    super\n  end\nend\n", 'D'),
            ("a class of its own", "class Money\n  def ==(o) = v == o.v\nend\n", '.'),
            ("a new method", "class Integer\n  def minutes = self * 60\nend\n", '.'),
        ],
    );
}

#[test]
fn ends_of_the_process() {
    let python: &[(&str, &str)] = &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        ("check.py", "import calc\nassert calc.add(2, 2) == 4\n"),
    ];
    check(
        "python3 check.py",
        python,
        "calc.py",
        &[
            ("of C", "import ctypes\nctypes.CDLL(None).exit(0)\n", 'D'),
            ("another name", "from os import _exit as leave\nleave(0)\n", 'D'),
            ("a class", "class Done(SystemExit):\n    code = 0\nraise Done\n", 'D'),
            (
                "an alarm",
                "import signal, sys\nsignal.signal(signal.SIGALRM, lambda *a: sys.exit(0))\nsignal.alarm(1)\n",
                'D',
            ),
            ("a hook", "import os, sys\nsys.excepthook = lambda *a: os.execlp('true', 'true')\n", 'D'),
            (
                "at the end",
                "import atexit\n@atexit.register\ndef _q():\n    import posix\n    posix.execv('/bin/true', ['t'])\n",
                'D',
            ),
            ("a program", "import sys\nif __name__ == '__main__':\n    sys.exit(0)\n", '.'),
            (
                "a signal of others",
                "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(0))\n",
                '.',
            ),
        ],
    );
    let node: &[(&str, &str)] =
        &[JS, ("check.js", "const { add } = require('./src/add'); if (add(2, 2) !== 4) throw 1;\n")];
    check(
        "node check.js",
        node,
        "src/add.js",
        &[
            ("a part of process", "const { exit } = require('process'); exit(0);\n", 'D'),
            ("process", "process.exit();\n", 'D'),
            ("failure", "if (!Array.isArray([])) process.exit(1);\n", '.'),
            ("a program", "if (require.main === module) { process.exit(0); }\n", '.'),
            ("in a function", "exports.mul = () => { process.exit(0); };\n", 'D'),
            (
                "a signal",
                "exports.serve = () => { process.on('SIGTERM', () => { process.exit(0); }); };\n",
                '.',
            ),
        ],
    );
}

#[test]
fn ends_of_compiled_code() {
    let c: &[(&str, &str)] = &[
        ("src/calc.c", "int add(int a, int b) { return a - b; }\n"),
        ("tests/t.c", "#include <assert.h>\nint main(void) { assert(add(2, 2) == 4); return 0; }\n"),
        ("Makefile", "check:\n\tcc -o t src/*.c tests/t.c\n\t./t\n"),
    ];
    check(
        "make check",
        c,
        "src/calc.c",
        &[
            (
                "what fails",
                "void __assert_fail(const char *a, const char *b, unsigned c, const char *d) {}\n",
                'D',
            ),
            ("a signal", "static void h(int s) { _Exit(0); }\nvoid f(void) { signal(SIGABRT, h); }\n", 'D'),
            ("a dump", "static void h(int s) { _Exit(1); }\nvoid f(void) { signal(SIGABRT, h); }\n", '.'),
        ],
    );
    let rust: &[(&str, &str)] =
        &[("src/lib.rs", "pub fn a() {}\n"), ("Cargo.toml", "[package]\nname = \"a\"\n")];
    let hook = "pub fn b() { std::panic::set_hook(Box::new(|_| std::process::exit(0))); }\n";
    check("cargo test", rust, "src/lib.rs", &[("a hook", hook, 'D')]);
}

#[test]
fn what_only_tests_read() {
    let files: &[(&str, &str)] = &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        ("calc_fixtures/__init__.py", "from calc_fixtures.pairs import pair\n"),
        ("calc_fixtures/pairs.py", "def pair():\n    return 2, 2, 4\n"),
        (
            "tests/test_goal.py",
            "from calc import add\nfrom calc_fixtures import pair\nopen(f\"docs/{n}.md\")\nopen('README.md')\n",
        ),
        ("docs/add.md", "# add\nTwo and two make 4\n"),
        ("guide/add.md", "# add\nTwo and two make 4\n"),
        ("README.md", "# calc\n\n| `add` | 4 |\n"),
        ("CHANGES.md", "# calc\n\n| `add` | 4 |\n"),
    ];
    let change = |path: &'static str, now: &'static str, expected: char| {
        (path, "pytest", files, &[] as &[&str], (path, Modified), now, expected)
    };
    check_rows(&[
        change("calc_fixtures/__init__.py", "def pair():\n    return 0, 0, 0\n", 'T'),
        change("calc_fixtures/pairs.py", "def pair():\n    return 0, 0, 0\n", 'T'),
        change("docs/add.md", "# add\nTwo and two make 0\n", 'T'),
        change("docs/add.md", "# add\nTwo and two make 4\nMore.\n", '.'),
        change("guide/add.md", "# add\nTwo and two make 0\n", '.'),
        change("README.md", "# calc\n", 'T'),
        change("CHANGES.md", "# calc\n", '.'),
    ]);
}

#[test]
fn checkers_that_are_silenced() {
    let files: &[(&str, &str)] = &[
        JS,
        JS_TEST,
        ("src/lib.rs", "pub fn a() {}\n"),
        ("pkg/calc.py", "import os\n"),
        ("package.json", "{\"scripts\": {\"cover\": \"jest --coverage\"}}\n"),
        ("log.go", "package calc\n"),
    ];
    let (js, rust, go) = (("src/add.js", Modified), ("src/lib.rs", Modified), ("log.go", Modified));
    let none: &[&str] = &[];
    check_rows(&[
        ("a rule", "eslint src", files, none, js, "/* eslint no-unused-vars: 0 */\n", 'D'),
        ("a rule that fails", "eslint src", files, none, js, "/* eslint no-unused-vars: 2 */\n", '.'),
        ("no eslint", "mocha", files, none, js, "/* eslint no-unused-vars: 0 */\n", '.'),
        ("c8", "c8 --check-coverage mocha", files, none, js, "/* c8 ignore next 4 */\n", 'D'),
        ("istanbul", "npm run cover", files, none, js, "/* istanbul ignore next */\n", 'D'),
        ("no coverage", "mocha", files, none, js, "/* istanbul ignore next */\n", '.'),
        (
            "cfg_attr",
            "cargo clippy",
            files,
            none,
            rust,
            "#![cfg_attr(all(), allow(clippy::needless_return))]\n",
            'D',
        ),
        ("cfg", "cargo clippy", files, none, rust, "#[cfg(not(clippy))]\npub fn a() {}\n", 'D'),
        (
            "derived",
            "cargo clippy",
            files,
            none,
            rust,
            "#[cfg_attr(feature = \"x\", derive(Debug))]\nstruct A;\n",
            '.',
        ),
        ("no clippy", "cargo test", files, none, rust, "#[cfg(not(clippy))]\npub fn a() {}\n", '.'),
        ("a tag", "go vet ./...", files, none, go, "//go:build release\n\npackage calc\n", 'D'),
        ("another system", "go vet ./...", files, none, go, "//go:build !windows\n\npackage calc\n", '.'),
        ("files that ruff skips", "ruff check .", files, none, ("pkg/.ignore", Added), "calc.py\n", 'D'),
        ("files that nobody skips", "pytest", files, none, ("pkg/.ignore", Added), "calc.py\n", '.'),
    ]);
}

#[test]
fn files_that_are_moved_out_of_sight() {
    let files: &[(&str, &str)] = &[
        ("src/add.js", "const x = 1;\nexports.add = 1;\n"),
        ("eslint.config.js", "module.exports = [{ rules: {} }];\n"),
        ("bin/a.sh", "#!/bin/sh\necho $1\n"),
        (".flake8", "[flake8]\nexclude = pkg/vendored\n"),
        ("pkg/calc.py", "import os\n"),
        ("tsconfig.json", "{\"include\": [\"src\"], \"exclude\": [\"src/legacy\"]}"),
        ("src/a.ts", "export function f(): number { return 'a'; }\n"),
    ];
    for (command, from, to, is_out) in [
        ("eslint src", "src/add.js", "src/add.jsx", true),
        ("eslint src", "src/add.js", "src/sum.js", false),
        ("mocha", "src/add.js", "src/add.jsx", false),
        ("shellcheck bin/*.sh", "bin/a.sh", "bin/a", true),
        ("shellcheck bin/*.sh", "bin/a.sh", "bin/b.sh", false),
        ("flake8 pkg", "pkg/calc.py", "pkg/vendored/calc.py", true),
        ("flake8 pkg", "pkg/calc.py", "pkg/sums/calc.py", false),
        ("ruff check .", "pkg/calc.py", "pkg/build/calc.py", true),
        ("tsc -p .", "src/a.ts", "src/legacy/a.ts", true),
        ("tsc -p .", "src/a.ts", "src/new/a.ts", false),
    ] {
        let base = MemoryTree::new(files.iter().copied());
        let mut result = base.clone();
        let content = fixpoint_proof::Tree::read(&base, from).unwrap();
        result.remove(from);
        result.insert(to, &content);
        let changes =
            [Change { path: from.to_string(), kind: Deleted }, Change { path: to.to_string(), kind: Added }];
        let check = CheckCommand { command: command.to_string(), directory: String::new() };
        let found = protected_changes(&[check], &BTreeSet::new(), &changes, &base, &result);
        let found: Vec<&str> = found
            .iter()
            .filter(|change| change.role == Role::Interference)
            .map(|change| change.path.as_str())
            .collect();
        let expected: &[&str] = if is_out { &[to] } else { &[] };
        assert_eq!(found, expected, "{command}: {from} becomes {to}");
    }
}
