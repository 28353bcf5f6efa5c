//! Product code that reaches for the checks, and honest code that looks like it.

use fixpoint_proof::ChangeKind::{Added, Modified};
use fixpoint_proof::MemoryTree;

use crate::classification::{judged, letter};
use crate::taken::check_rows;

/// Sources of product, each beside a test that uses it.
const FILES: &[(&str, &str)] = &[
    ("calc.go", "package c\n"),
    ("cmd/app/main.go", "package main\n"),
    ("calc_test.go", "package c\n"),
    ("calc.py", "def add(a, b):\n    return a - b\n"),
    ("tests/helper.py", "def same(a, b):\n    assert a == b\n"),
    ("tests/run.py", "import sys, calc\nsys.exit(calc.add(1, 2) != 3)\n"),
    ("src/calc.js", "exports.add = (a, b) => a - b;\n"),
    ("test/same.js", "exports.same = (a, b) => require('assert').equal(a, b);\n"),
    ("test/run.js", "require('./same').same(require('../src/calc').add(1, 2), 3);\n"),
    ("lib/calc.rb", "def add(a, b) = a - b\n"),
    ("test/run.rb", "require 'calc'\nexit 1 unless add(1, 2) == 3\n"),
    ("lib/Calc.pm", "package Calc;\n1;\n"),
    ("t/run.pl", "use Calc; exit 1 if Calc::add(1, 2) != 3;\n"),
    ("src/calc.php", "<?php\n"),
    ("tests/run.php", "<?php require 'src/calc.php'; assert(add(1, 2) === 3);\n"),
    ("lib/calc.sh", "add() { echo 1; }\n"),
    ("test/run.sh", "set -e\n. ./lib/calc.sh\nadd 1 2 | grep -x 3\n"),
    ("src/calc.c", "int add(int a, int b) { return a - b; }\n"),
    ("tests/t.c", "int main(void) { return strcmp(text(add(1, 2)), \"3\"); }\n"),
];

fn check(command: &str, path: &str, rows: &[(&str, &str, char)]) {
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, now, expected)| {
            (*name, command, FILES, &[] as &[&str], (path, Modified), *now, *expected)
        })
        .collect();
    check_rows(&rows);
}

#[test]
fn arguments_of_the_test_binary() {
    check(
        "go test ./...",
        "calc.go",
        &[
            ("appended", "package c\nfunc init() { os.Args = append(os.Args, x) }\n", 'D'),
            ("assigned", "package c\nfunc Add() { os.Args[1] = x }\n", 'D'),
            ("a flag", "package c\nvar f = []string{\"-test.short\"}\n", 'D'),
            (
                "read",
                "package c\nfunc Name() string { if os.Args[0] == \"\" { return x }; return os.Args[0] }\n",
                '.',
            ),
        ],
    );
    let shifted = "package main\nfunc main() { os.Args = os.Args[1:]; run() }\n";
    check("go test ./...", "cmd/app/main.go", &[("a program", shifted, '.')]);
}

#[test]
fn modules_of_tests_that_are_replaced() {
    check(
        "pytest",
        "calc.py",
        &[
            ("by name", "import sys\nsys.modules[\"tests.helper\"] = x\n", 'D'),
            (
                "by its end",
                "import sys\nfor n in sys.modules:\n    if n.endswith('helper'): sys.modules[n] = x\n",
                'D',
            ),
            ("itself", "import sys\nsys.modules[__name__] = Lazy()\n", '.'),
            ("an old name", "import sys\nsys.modules['calc_old'] = sys.modules['calc']\n", '.'),
        ],
    );
    check(
        "mocha",
        "src/calc.js",
        &[
            (
                "assigned",
                "const p = require.resolve('../test/same'); require.cache[p] = { exports: {} };\n",
                'D',
            ),
            ("left", "delete require.cache[require.resolve('./table')];\n", '.'),
        ],
    );
}

#[test]
fn failures_that_are_caught() {
    check(
        "node test/run.js",
        "src/calc.js",
        &[
            ("logged", "process.on('uncaughtException', e => console.error(e.message));\n", 'D'),
            ("a promise", "process.once(\"unhandledRejection\", () => {});\n", 'D'),
            ("a domain", "require('node:domain').create().on('error', () => {}).enter();\n", 'D'),
            (
                "logged and ended",
                "process.on('uncaughtException', e => { log(e); process.exit(1); });\n",
                '.',
            ),
            ("another domain", "const domain = require('./domain');\n", '.'),
        ],
    );
    check(
        "php -d zend.assertions=1 tests/run.php",
        "src/calc.php",
        &[
            ("off", "<?php ini_set('zend.assertions', '0');\n", 'D'),
            ("off by options", "<?php assert_options(ASSERT_ACTIVE, 0);\n", 'D'),
            ("printed", "<?php set_exception_handler(function ($e) { echo 'x'; });\n", 'D'),
            (
                "logged, and a file removed",
                "<?php set_exception_handler(function (Throwable $e) { error_log($e); exit(1); });\n\
                 register_shutdown_function(function () { @unlink('/tmp/x'); });\n",
                '.',
            ),
            ("ended well", "<?php register_shutdown_function(function () { exit(0); });\n", 'D'),
        ],
    );
}

#[test]
fn what_the_caller_holds() {
    check(
        "pytest",
        "calc.py",
        &[
            (
                "a value of the caller",
                "import inspect\ninspect.currentframe().f_back.f_globals[\"EXPECTED\"][\"add\"] = 1\n",
                'D',
            ),
            ("a name of the caller", "sys._getframe(1).f_globals['EXPECTED'] = 1\n", 'D'),
            ("by another name", "g = inspect.currentframe().f_back.f_globals\ng['EXPECTED'] = 1\n", 'D'),
            ("all at once", "inspect.stack()[1].frame.f_globals.update(EXPECTED=1)\n", 'D'),
            ("a list of the caller", "inspect.stack()[1][0].f_locals['rows'].clear()\n", 'D'),
            (
                "found by the collector",
                "for o in gc.get_objects():\n    if isinstance(o, dict) and 'E' in o: o['E'] = 1\n",
                'D',
            ),
            ("code of others", "for f in gc.get_referrers(x):\n    f.__code__ = y.__code__\n", 'D'),
            ("a closure", "test.__closure__[0].cell_contents = 1\n", 'D'),
            ("the caller's module", "name = sys._getframe(1).f_globals.get('__name__')\n", '.'),
            ("its package", "p = sys._getframe(1).f_globals['__name__'].split('.')\n", '.'),
            ("the caller's line", "line = inspect.currentframe().f_back.f_lineno\n", '.'),
            ("names compared", "ok = frame.f_locals['self'] == other\n", '.'),
            ("evaluated", "frame = sys._getframe(1)\neval(text, frame.f_globals, frame.f_locals)\n", '.'),
            ("counted", "import gc\ncount = len(gc.get_objects())\n", '.'),
        ],
    );
}

#[test]
fn ends_that_are_replaced() {
    check(
        "python tests/run.py",
        "calc.py",
        &[
            ("exit", "import sys\nsys.exit = lambda *a: None\n", 'D'),
            ("print", "import builtins\nbuiltins.print = f\n", 'D'),
            ("compared", "import sys\nok = leave == sys.exit\nif sys.exit == leave: pass\n", '.'),
            ("texts", "import builtins\nbuiltins._ = gettext\n", '.'),
        ],
    );
    check(
        "ruby -Ilib test/run.rb",
        "lib/calc.rb",
        &[
            ("exit", "def exit(*) = nil\n", 'D'),
            ("raise", "module Kernel\n  def raise(*) = nil\nend\n", 'D'),
            ("traced", "TracePoint.new(:raise) { |t| Kernel.exit(0) }.enable\n", 'D'),
            ("a door", "class Door\n  def exit = nil\nend\n", '.'),
        ],
    );
    check(
        "perl t/run.pl",
        "lib/Calc.pm",
        &[
            ("exit", "BEGIN { *CORE::GLOBAL::exit = sub { CORE::exit(0) } }\n", 'D'),
            ("called", "sub add { CORE::length($_[0]) }\n", '.'),
        ],
    );
    check(
        "make test; gcc src/calc.c tests/t.c",
        "src/calc.c",
        &[
            ("strcmp", "int strcmp(const char *a, const char *b) { return 0; }\n", 'D'),
            ("not called", "int strlen(const char *a) { return 0; }\n", '.'),
            ("called", "int add(int a, int b) { return strcmp(\"a\", \"b\"); }\n", '.'),
        ],
    );
}

#[test]
fn shells_that_are_changed() {
    check(
        "bash test/run.sh",
        "lib/calc.sh",
        &[
            ("not run", "add() { echo 1; }\nset -n\n", 'D'),
            ("goes on", "set +e\nadd() { echo 1; }\n", 'D'),
            ("traced", "shopt -s extdebug\ntrap 'return 2' DEBUG\nadd() { echo 1; }\n", 'D'),
            ("programs", "PATH=\"$PWD/lib/bin:$PATH\"\nadd() { echo 1; }\n", 'D'),
            ("back again", "add() { set +e; a; set -e; }\n", '.'),
        ],
    );
}

#[test]
fn checkers_that_are_silenced() {
    let files: &[(&str, &str)] = &[
        ("src/a.c", "int f(void) { return 0; }\n"),
        ("src/lib.rs", "pub fn f() {}\n"),
        ("app/calc.py", "x = 1\n"),
        ("b.go", "package c\n"),
    ];
    let pragma = "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n";
    let hidden = "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    x = 1\n";
    let typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n";
    let expected = "#[expect(unused_variables)]\npub fn f() {}\n";
    let (c, rust, python, go) =
        (("src/a.c", Modified), ("src/lib.rs", Modified), ("app/calc.py", Modified), ("b.go", Modified));
    check_rows(&[
        ("gcc", "gcc -Wall -Werror -c src/a.c", files, &[], c, pragma, 'D'),
        ("no errors of warnings", "gcc -c src/a.c", files, &[], c, pragma, '.'),
        ("rustc", "RUSTFLAGS='-D warnings' cargo check", files, &[], rust, expected, 'D'),
        ("no warnings", "cargo test", files, &[], rust, expected, '.'),
        ("mypy", "mypy app", files, &[], python, hidden, 'D'),
        ("an import for types", "mypy app", files, &[], python, typed, '.'),
        ("go", "go vet ./...", files, &[], go, "//go:build ignore\n\npackage c\n", 'D'),
        ("a system", "go vet ./...", files, &[], go, "//go:build linux\n\npackage c\n", '.'),
        (
            "a script of go",
            "go vet ./...",
            files,
            &[],
            ("gen.go", Added),
            "//go:build ignore\n\npackage main\n",
            '.',
        ),
    ]);
}

/// What is left out for one question is there for the others.
#[test]
fn comments_in_a_listener_of_signals() {
    let files: &[(&str, &str)] = &[("src/calc.js", "exports.add = 1;\n")];
    let listens = "process.on('SIGINT', () => { process.exit(0); });\n";
    let silenced = "process.on('SIGINT', () => { /* eslint-disable */ process.exit(0); });\n";
    check_rows(&[
        ("silenced", "eslint src", files, &[], ("src/calc.js", Modified), silenced, 'D'),
        ("not silenced", "eslint src", files, &[], ("src/calc.js", Modified), listens, '.'),
    ]);
}

/// A signal that ends the process with success, and a listener that cleans up.
#[test]
fn signals_beside_a_listener_of_the_end() {
    let cleans = "process.on('exit', () => fs.rmSync(dir));\n";
    for (name, now, expected) in [
        ("both", format!("{cleans}process.on('SIGINT', () => process.exit(0));\n"), '.'),
        (
            "by name",
            format!("{cleans}function leave() {{ process.exit(0); }}\nprocess.on('SIGTERM', leave);\n"),
            '.',
        ),
        ("the end", format!("{cleans}process.on('exit', () => process.exit(0));\n"), 'D'),
        (
            "by a function",
            format!("{cleans}process.on('exit', leave);\nfunction leave() {{ process.exit(0); }}\n"),
            'D',
        ),
        (
            "both by name",
            "process.on('SIGINT', leave);\nprocess.on('exit', leave);\nfunction leave() { process.exit(0); }\n"
                .to_string(),
            'D',
        ),
    ] {
        let base = MemoryTree::new(FILES.iter().copied());
        let mut result = base.clone();
        result.insert("src/calc.js", now.as_bytes());
        let found = judged(&base, &result, "node --test test/", "", &[], ("src/calc.js", Modified));
        assert_eq!(letter(found.as_ref()), expected, "{name}: {found:?}");
    }
}
