//! Product files that take the place of what tests use, files that stand in for work, and what only tests read.

use std::collections::BTreeSet;

use fixpoint_proof::ChangeKind::{self, Added, Modified};
use fixpoint_proof::{Change, CheckCommand, Extent, MemoryTree, protected_changes};

use crate::classification::{judged, letter};

/// A name, a command, the base, observed tests, the change, what the file becomes, and the letter.
pub(crate) type Row<'a> =
    (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [&'a str], (&'a str, ChangeKind), &'a str, char);

pub(crate) fn check_rows(rows: &[Row<'_>]) {
    let mut failures = Vec::new();
    for (name, command, files, observed, (path, kind), now, expected) in rows {
        let base = MemoryTree::new(files.iter().copied());
        let mut result = base.clone();
        result.insert(path, now.as_bytes());
        let found = judged(&base, &result, command, "", observed, (path, *kind));
        if letter(found.as_ref()) != *expected {
            failures.push(format!("{name}: expected {expected}, found {found:?}"));
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn lists_that_definitions_read() {
    let files: &[(&str, &str)] = &[
        ("conftest.py", "Q = HERE.with_name(\"quarantine.txt\").read_text()\nS = open('db/schema.json')\n"),
        ("quarantine.txt", ""),
        ("db/schema.json", "{}"),
        ("notes.txt", ""),
        ("check.py", "open('known_failures.txt')\nassert 'x' in open('page.txt').read()\n"),
        ("known_failures.txt", ""),
        ("page.txt", ""),
        ("app.py", "x = 1\n"),
    ];
    check_rows(&[
        ("a list", "pytest", files, &[], ("quarantine.txt", Modified), "test_add\n", 'D'),
        ("a schema", "pytest", files, &[], ("db/schema.json", Modified), "[]", '.'),
        ("another file", "pytest", files, &[], ("notes.txt", Modified), "x\n", '.'),
        ("a list of a script", "python check.py", files, &[], ("known_failures.txt", Modified), "x\n", 'D'),
        ("what a script checks", "python check.py", files, &[], ("page.txt", Modified), "x\n", '.'),
    ]);
}

#[test]
fn data_that_only_tests_find() {
    let rust: &[(&str, &str)] = &[
        ("src/lib.rs", "pub const LOGO: &str = include_str!(\"../assets/logo.txt\");\n"),
        (
            "tests/it.rs",
            "assert_eq!(a(), include_str!(\"../assets/hello.txt\"));\nassert_eq!(b(), include_str!(\"../assets/logo.txt\"));\n\
             let _ = include_str!(\"../README.md\");\n",
        ),
        ("assets/hello.txt", "Hello"),
        ("assets/logo.txt", "*"),
        ("README.md", "# a"),
    ];
    let globs: &[(&str, &str)] = &[
        ("tool.py", "import sys\n"),
        ("check.sh", "for i in examples/*.in; do python3 tool.py $i | diff - ${i%.in}.out || exit 1; done\n"),
        ("examples/a.in", "1"),
        ("examples/a.out", "1"),
        ("other/a.in", "1"),
    ];
    check_rows(&[
        ("built into a test", "cargo test", rust, &[], ("assets/hello.txt", Modified), "Hi", 'T'),
        ("built into the product", "cargo test", rust, &[], ("assets/logo.txt", Modified), "Hi", '.'),
        ("a document", "cargo test", rust, &[], ("README.md", Modified), "Hi", '.'),
        ("found by a glob", "sh check.sh", globs, &[], ("examples/a.in", Modified), "0", 'T'),
        ("beside it", "sh check.sh", globs, &[], ("examples/a.out", Modified), "0", 'T'),
        ("in another directory", "sh check.sh", globs, &[], ("other/a.in", Modified), "0", '.'),
    ]);
}

#[test]
fn names_that_tests_use() {
    let shell: &[(&str, &str)] = &[
        ("lib/calc.sh", "add() { echo 1; }\n"),
        ("test/run.sh", ". lib/calc.sh\nif test \"$(add)\" != 3; then exit 1; fi\n"),
        ("test/calc.bats", "setup() { . lib/calc.sh; }\n"),
    ];
    let java: &[(&str, &str)] =
        &[("src/Calc.java", "class Calc { }\n"), ("Makefile", "test:\n\tjavac src\n")];
    let unittest: &[(&str, &str)] = &[
        ("calc/__init__.py", "def add(a, b):\n    return a - b\n"),
        ("tests/test_c.py", "from calc import add\n"),
    ];
    let library = ("lib/calc.sh", Modified);
    let package = ("calc/__init__.py", Modified);
    check_rows(&[
        (
            "a command",
            "sh test/run.sh",
            shell,
            &[],
            library,
            "add() { echo 1; }\ntest() { return 1; }\n",
            'D',
        ),
        ("another function", "sh test/run.sh", shell, &[], library, "add() { echo 3; }\nsub() { :; }\n", '.'),
        ("of bats", "bats test", shell, &[], library, "add() { echo 1; }\nrun() { output=3; }\n", 'D'),
        ("of java", "make test", java, &[], ("src/System.java", Added), "class System { }\n", 'D'),
        ("a class", "make test", java, &[], ("src/Systems.java", Added), "class Systems { }\n", '.'),
        (
            "a hook",
            "python -m unittest",
            unittest,
            &[],
            package,
            "def load_tests(a, b, c):\n    return a\n",
            'D',
        ),
        ("an exit", "python -m unittest", unittest, &[], package, "import sys\nsys.exit(0)\n", 'D'),
        (
            "an exit in a function",
            "pytest",
            unittest,
            &[],
            package,
            "def add(a, b):\n    raise SystemExit\n",
            '.',
        ),
        (
            "an exit in a function without a runner",
            "python tests/test_c.py",
            unittest,
            &[],
            package,
            "def add(a, b):\n    raise SystemExit\n",
            'D',
        ),
    ]);
}

#[test]
fn what_make_would_make() {
    let make: &[(&str, &str)] = &[(
        "Makefile",
        ".PHONY: test\nall: page.html\npage.html: a.txt\n\tsh page.sh\ntest: result.txt words.txt\n\tgrep 6 result.txt\nresult.txt: a.txt\n\tsh gen.sh\n",
    )];
    check_rows(&[
        ("what the check makes", "make test", make, &[], ("result.txt", Added), "6", 'D'),
        ("what it needs", "make test", make, &[], ("words.txt", Added), "6", '.'),
        ("what it does not make", "make test", make, &[], ("page.html", Added), "6", '.'),
    ]);
}

#[test]
fn product_in_places_of_tests() {
    let packages: &[(&str, &str)] = &[
        ("app/__init__.py", ""),
        ("app/fixtures/__init__.py", ""),
        ("app/fixtures/loader.py", "from app.spec.parser import parse\n"),
        ("app/spec/__init__.py", ""),
        ("app/spec/parser.py", "def parse(s):\n    return s\n"),
        ("tests/test_p.py", "from app.fixtures.loader import parse\ndef test_p():\n    assert parse('')\n"),
    ];
    let only: &[(&str, &str)] = &[
        ("pytest.ini", "[pytest]\ntestpaths=tests\n"),
        ("src/runner/__init__.py", ""),
        ("src/runner/test_utils.py", "def test_names(fs):\n    return fs\n"),
        (
            "tests/test_r.py",
            "from runner.test_utils import test_names\ndef test_r():\n    assert test_names([])\n",
        ),
    ];
    let with_more: Vec<(&str, &str)> = only.iter().copied().chain([("src/runner/a.py", "x = 1\n")]).collect();
    let utils = ("src/runner/test_utils.py", Modified);
    check_rows(&[
        (
            "a package of the product",
            "pytest",
            packages,
            &[],
            ("app/spec/parser.py", Modified),
            "x = 1\n",
            '.',
        ),
        ("all of the product", "pytest", only, &["tests/test_r.py::test_r"], utils, "x = 1\n", '.'),
        (
            "a helper beside product",
            "pytest",
            &with_more,
            &["tests/test_r.py::test_r"],
            utils,
            "x = 1\n",
            'T',
        ),
    ]);
}

#[test]
fn examples_of_elixir() {
    let source = |value: &str| {
        format!("defmodule C do\n  @doc \"\"\"\n      iex> C.a()\n      {value}\n  \"\"\"\nend\n")
    };
    for (test, extent) in [("  doctest C\n", Some(Extent::Part)), ("  use ExUnit.Case\n", None)] {
        let base = MemoryTree::new([("lib/c.ex", source("3").as_str()), ("test/c_test.exs", test)]);
        let mut result = base.clone();
        result.insert("lib/c.ex", source("-1").as_bytes());
        let found = judged(&base, &result, "mix test", "", &[], ("lib/c.ex", Modified));
        assert_eq!(found.map(|change| change.part), extent, "{test}");
    }
}

#[test]
fn what_ends_a_process_of_its_own() {
    let program: &[(&str, &str)] = &[
        ("package.json", "{\"bin\": \"bin/a.js\", \"main\": \"lib/calc.js\"}"),
        ("bin/a.js", "console.log('?')\n"),
        ("lib/calc.js", "exports.add = (a, b) => a - b;\n"),
        (
            "test/a.test.js",
            "const { spawnSync } = require('child_process'); require('../lib/calc.js');\nspawnSync('node', ['bin/a.js']);\n",
        ),
    ];
    let ends = "process.on('exit', () => {});\nprocess.exitCode = 0;\n";
    let child =
        "import os\n\ndef f():\n    pid = os.fork()\n    if pid == 0:\n        os._exit(0)\n    return pid\n";
    let parent = "import os\n\ndef f():\n    os._exit(0)\n";
    let files: &[(&str, &str)] = &[("w.py", ""), ("lib/w.rb", ""), ("tests/test_w.py", "import w\n")];
    check_rows(&[
        ("a program", "node --test", program, &[], ("bin/a.js", Modified), ends, '.'),
        ("a module", "node --test", program, &[], ("lib/calc.js", Modified), ends, 'D'),
        (
            "a program that patches",
            "node --test",
            program,
            &[],
            ("bin/a.js", Modified),
            "global.it = 1\n",
            'D',
        ),
        ("a child", "pytest", files, &[], ("w.py", Modified), child, '.'),
        ("no child", "pytest", files, &[], ("w.py", Modified), parent, 'D'),
        ("a child of Ruby", "rspec", files, &[], ("lib/w.rb", Modified), "fork { exit!(0) }\n", '.'),
        ("no child of Ruby", "rspec", files, &[], ("lib/w.rb", Modified), "exit!(0)\n", 'D'),
    ]);
}

/// What makes a program, or a child, out of nothing is looked for in all that changed.
#[test]
fn a_process_of_its_own_that_is_none() {
    let cases = [
        ("bin/a.js", "process.exitCode = 0;\n", ("lib/calc.js", "require('../bin/a.js');\n")),
        (
            "lib/w.rb",
            "fork { exit!(0) }\n",
            ("lib/x.rb", "module Kernel\n  def fork\n    yield\n  end\nend\n"),
        ),
    ];
    for (path, now, (other, text)) in cases {
        let mut base = MemoryTree::new([
            (path, "\n"),
            ("lib/calc.js", ""),
            ("test/a.test.js", "const cli = 'bin/a.js';\n"),
            ("spec/w_spec.rb", "require 'w'\n"),
        ]);
        let mut result = base.clone();
        result.insert(path, now.as_bytes());
        assert_eq!(
            letter(judged(&base, &result, "rspec; node --test", "", &[], (path, Modified)).as_ref()),
            '.'
        );
        base.insert(other, b"\n");
        result.insert(other, text.as_bytes());
        let changes = [path, other].map(|path| Change { path: path.to_string(), kind: Modified });
        let checks = [CheckCommand { command: "rspec; node --test".to_string(), directory: String::new() }];
        let found = protected_changes(&checks, &BTreeSet::new(), &changes, &base, &result);
        assert!(found.iter().any(|found| found.path == path), "{found:?}");
    }
}

#[test]
fn files_that_leave_the_type_checker() {
    let settings = ("tsconfig.json", "{\"include\": [\"src\"]}");
    let both = ("tsconfig.json", "{\"compilerOptions\": {\"checkJs\": true}}");
    let rows = [
        ("renamed", "tsc -p .", settings, "src/a.js", "src/a.ts", 'D'),
        ("both are checked", "tsc -p .", both, "src/a.js", "src/a.ts", '.'),
        ("no type checker", "node --test", settings, "src/a.js", "src/a.ts", '.'),
        ("another file", "tsc -p .", settings, "src/b.js", "src/a.ts", '.'),
        ("moved", "tsc -p .", settings, "src/c.ts", "src/a.ts", '.'),
    ];
    for (row, command, settings, added, removed, expected) in rows {
        let base = MemoryTree::new([settings, (removed, "export const n: number = 'x';\n")]);
        let mut result = base.clone();
        result.remove(removed);
        result.insert(added, b"export const n = 'x';\n");
        let found = judged(&base, &result, command, "", &[], (added, Added));
        assert_eq!(letter(found.as_ref()), expected, "{row}: {found:?}");
    }
}

#[test]
fn files_that_are_loaded_instead_of_helpers() {
    let files: &[(&str, &str)] = &[
        ("calc/__init__.py", "def add(a, b):\n    return a - b\n"),
        ("calc/checks.py", "import pytest\ndef same(a, b):\n    if a != b: pytest.fail('x')\n"),
        ("calc/sums.py", "x = 1\n"),
        ("support/helper.py", "import pytest\ndef same(a, b):\n    if a != b: pytest.fail('x')\n"),
        ("pytest.ini", "[pytest]\npythonpath = source .\n"),
        (
            "tests/test_c.py",
            "from calc.checks import same\nfrom support.helper import same\nimport calc.sums\n",
        ),
        (
            "src/check/index.js",
            "const a = require('node:assert');\nexports.same = (x, y) => a.equal(x, y);\n",
        ),
        ("src/eq.ts", "import assert from 'node:assert';\nexport const same = assert.equal;\n"),
        ("src/sums/index.js", "exports.add = (a, b) => a - b;\n"),
        ("src/less.js", "exports.sub = (a, b) => a - b;\n"),
        ("src/more.ts", "export const x = 1;\n"),
        ("test/a.test.js", "require('../src/check'); require('../src/eq'); require('../src/sums');\n"),
        ("lib/calc.rb", "def add(a, b) = a - b\n"),
        ("test/support_lines.rb", "def same(a, b)\n  raise 'x' unless a == b\nend\n"),
        ("test/near.rb", "def near\nend\n"),
        ("test/calc_test.rb", "require \"support_lines\"\nrequire_relative \"near\"\n"),
        ("t/lib/Sums.pm", "package Sums;\nuse Test::More;\n1;\n"),
        ("t/a.t", "use Test::More; use Calc; use Sums;\n"),
    ];
    let all = "pytest; node --test; ruby -Ilib -Itest test/calc_test.rb; prove -Ilib -It/lib t/a.t";
    let rows = [
        ("a package before a helper", "calc/checks/__init__.py", 'D'),
        ("a package before a module", "calc/sums/__init__.py", '.'),
        ("another package", "calc/more/__init__.py", '.'),
        ("an earlier directory", "source/support/__init__.py", 'D'),
        ("another name there", "source/sums.py", '.'),
        ("a file before a directory", "src/check.js", 'D'),
        ("a file before product", "src/sums.js", '.'),
        ("another ending", "src/eq.js", 'D'),
        ("another file", "src/checks.js", '.'),
        ("a library before a test's", "lib/support_lines.rb", 'D'),
        ("a library that tests find by its place", "lib/near.rb", '.'),
        ("a module before a test's", "lib/Sums.pm", 'D'),
        ("another module", "lib/More.pm", '.'),
    ];
    let rows: Vec<Row<'_>> = rows
        .iter()
        .map(|(name, path, expected)| {
            (*name, all, files, &[] as &[&str], (*path, Added), "x = 1\n", *expected)
        })
        .collect();
    check_rows(&rows);
}

#[test]
fn functions_that_take_the_place_of_built_in_ones() {
    let files: &[(&str, &str)] = &[
        ("src/calc.php", "<?php\nnamespace App;\nfunction add($a, $b) { return $a - $b; }\n"),
        (
            "tests/run.php",
            "<?php\nnamespace App;\nrequire 'src/calc.php';\nif (intdiv(add(1, 2), 1) !== 3) exit(1);\n",
        ),
    ];
    let shadow = "<?php\nnamespace App;\nfunction add($a, $b) { return $a - $b; }\nfunction intdiv($a, $b) { return 3; }\n";
    let other = "<?php\nnamespace App;\nfunction add($a, $b) { return $a + $b; }\nfunction strrev($a) { return $a; }\n";
    check_rows(&[
        ("called", "php tests/run.php", files, &[], ("src/calc.php", Modified), shadow, 'D'),
        ("not called", "php tests/run.php", files, &[], ("src/calc.php", Modified), other, '.'),
    ]);
}

#[test]
fn programs_that_a_package_brings_along() {
    let files: &[(&str, &str)] = &[
        ("package.json", "{\"scripts\": {\"test\": \"mocha\", \"unit\": \"node --test test/\"}}"),
        ("pkgs/own/package.json", "{\"name\": \"own\", \"bin\": {\"mocha\": \"m.js\"}}"),
        ("src/add.js", "exports.add=(a,b)=>a-b;\n"),
    ];
    let added = "pkgs/n/package.json";
    check_rows(&[
        (
            "the runner",
            "npm test",
            files,
            &[],
            (added, Added),
            "{\"name\": \"fmt\", \"bin\": {\"mocha\": \"n.js\"}}",
            'D',
        ),
        (
            "node",
            "npm run unit",
            files,
            &[],
            (added, Added),
            "{\"name\": \"x\", \"bin\": {\"node\": \"n.sh\"}}",
            'D',
        ),
        (
            "by the name of the package",
            "npx -y check-all",
            files,
            &[],
            (added, Added),
            "{\"name\": \"@a/check-all\", \"bin\": \"n.js\"}",
            'D',
        ),
        (
            "another program",
            "npm run unit",
            files,
            &[],
            (added, Added),
            "{\"name\": \"sum\", \"bin\": {\"sum\": \"i.js\"}}",
            '.',
        ),
        (
            "one that is not used",
            "npm run unit",
            files,
            &[],
            (added, Added),
            "{\"name\": \"m\", \"bin\": {\"mocha\": \"i.js\"}}",
            '.',
        ),
        (
            "one that it had",
            "npm test",
            files,
            &[],
            ("pkgs/own/package.json", Modified),
            "{\"name\": \"own\", \"version\": \"1\", \"bin\": {\"mocha\": \"m.js\"}}",
            '.',
        ),
    ]);
    let base = MemoryTree::new(files.iter().copied());
    let mut result = base.clone();
    result.insert(added, b"{\"name\": \"x\", \"directories\": {\"bin\": \"./tools\"}}");
    result.insert("pkgs/n/tools/mocha", b"#!/bin/sh\n");
    assert_eq!(letter(judged(&base, &result, "npm test", "", &[], (added, Added)).as_ref()), 'D');
}
