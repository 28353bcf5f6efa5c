//! Helpers and data that only tests use, and product with the name of a test.

use fixpoint_proof::ChangeKind::{Deleted, Modified};
use fixpoint_proof::MemoryTree;

use crate::classification::{judged, letter};

const FILES: &[(&str, &str)] = &[
    ("calc/sums.py", "from calc.money import rates\n\ndef add(a, b):\n    return a + b\n"),
    ("calc/money.py", "def rates():\n    return open('calc/rates.csv')\n"),
    ("calc/testing.py", "import unittest\n\nclass Case(unittest.TestCase):\n    pass\n"),
    ("calc/compare.py", "def same(a, b):\n    if a != b:\n        raise ValueError(a)\n"),
    (
        "calc/matrix.py",
        "def det(rows, cols):\n    if rows != cols:\n        raise ValueError(rows)\n    return rows\n",
    ),
    ("packages/util/index.js", "exports.same=(a,b)=>{if(a!==b)throw new Error(a)}\n"),
    ("packages/calc/index.js", "exports.add = (a, b) => a - b;\n"),
    ("packages/calc/test/a.test.js", "const {same}=require('../../util');const {add}=require('..');\n"),
    ("calc/limits.py", "def check(a):\n    if a != None:\n        raise ValueError(a)\n"),
    ("calc/test_link.py", "def reaches(state):\n    return state\n"),
    ("calc/test_rows.py", "ROWS = [1]\n"),
    ("calc/cli.py", "from calc.test_link import reaches\nfrom calc.spec.parser import words\n"),
    ("calc/spec/parser.py", "def words(text):\n    return text.split()\n"),
    ("calc/rates.csv", "1\n"),
    ("data/rows.csv", "1\n"),
    ("data/table.json", "[]\n"),
    ("qa/right.txt", "1\n"),
    ("settings.json", "{}\n"),
    ("README.md", "# calc\n"),
    (
        "web/same.js",
        "const assert = require('assert');\nexports.same = (a, b) => assert.strictEqual(a, b);\n",
    ),
    ("web/sums.js", "const assert = require('assert');\nexports.add = (a) => { assert(a); return a; };\n"),
    ("same/same.go", "package same\n\nimport \"testing\"\n"),
    ("sums.go", "package sums\n"),
    (
        "tests/test_calc.py",
        "from calc import sums, limits, matrix\nfrom calc.compare import same\nfrom calc.testing import Case\nimport calc.test_rows\n\
         open('data/rows.csv')\nopen(ROOT / 'data' / 'table.json')\nopen('qa/right.txt')\nopen('settings.json')\n\
         open('README.md')\nopen('calc/rates.csv')\n",
    ),
    ("tests/web.test.js", "const { same } = require('../web/same.js');\nrequire('../web/sums.js');\n"),
];

#[test]
fn who_uses_a_file_tells_what_it_is() {
    let base = MemoryTree::new(FILES.iter().copied());
    let rows = [
        ("calc/sums.py", '.'),
        ("calc/testing.py", 'T'),
        ("calc/compare.py", 'T'),
        ("calc/limits.py", '.'),
        ("calc/matrix.py", '.'),
        ("packages/util/index.js", 'T'),
        ("packages/calc/index.js", '.'),
        ("calc/test_link.py", '.'),
        ("calc/test_rows.py", 'T'),
        ("calc/spec/parser.py", '.'),
        ("calc/rates.csv", '.'),
        ("data/rows.csv", 'T'),
        ("data/table.json", 'T'),
        ("qa/right.txt", 'T'),
        ("settings.json", '.'),
        ("README.md", '.'),
        ("web/same.js", 'T'),
        ("web/sums.js", '.'),
        ("same/same.go", 'T'),
        ("sums.go", '.'),
    ];
    let mut wrong = Vec::new();
    for (path, expected) in rows {
        for kind in [Modified, Deleted] {
            let mut result = base.clone();
            if kind == Deleted {
                result.remove(path);
            } else {
                result.insert(path, b"changed\n");
            }
            let found = judged(&base, &result, "pytest", "", &[], (path, kind));
            if letter(found.as_ref()) != expected {
                wrong.push(format!("{path}: expected {expected}, found {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn entry_points_that_lead_elsewhere() {
    let package = |members: &str| format!("{{\"name\": \"a\", {members}}}");
    let rows = [
        ("the same file", "\"main\": \"lib/a.js\"", "\"main\": \"./lib/a.js\"", '.'),
        ("another file", "\"main\": \"lib/a.js\"", "\"main\": \"lib/b.js\"", 'D'),
        ("a file that is gone", "\"main\": \"lib/gone.js\"", "\"main\": \"lib/b.js\"", '.'),
        (
            "a new name",
            "\"imports\": {\"#a\": \"./lib/a.js\"}",
            "\"imports\": {\"#a\": \"./lib/a.js\", \"#b\": \"./lib/b.js\"}",
            '.',
        ),
        (
            "an old name",
            "\"imports\": {\"#a\": \"./lib/a.js\"}",
            "\"imports\": {\"#a\": \"./lib/b.js\"}",
            'D',
        ),
        ("a main file beside the one by default", "\"version\": \"1\"", "\"main\": \"lib/b.js\"", 'D'),
        (
            "exports beside a main file",
            "\"main\": \"lib/a.js\"",
            "\"main\": \"lib/a.js\", \"exports\": \"./lib/b.js\"",
            'D',
        ),
        (
            "exports of the main file",
            "\"main\": \"lib/a.js\"",
            "\"main\": \"lib/a.js\", \"exports\": \"./lib/a.js\"",
            '.',
        ),
    ];
    for (name, before, after, expected) in rows {
        let files = [("lib/a.js", ""), ("lib/b.js", ""), ("index.js", "")];
        let mut base = MemoryTree::new(files);
        base.insert("package.json", package(before).as_bytes());
        let mut result = base.clone();
        result.insert("package.json", package(after).as_bytes());
        let found = judged(&base, &result, "npm test", "", &[], ("package.json", Modified));
        assert_eq!(letter(found.as_ref()), expected, "{name}: {found:?}");
    }
}

#[test]
fn an_entry_point_that_moved_with_its_file() {
    let package = |main: &str, scripts: &str| {
        format!("{{\"main\": \"{main}\", \"scripts\": {{\"test\": \"node --test\"{scripts}}}}}")
    };
    for (name, scripts, stays, expected) in [
        ("alone", "", false, '.'),
        ("with a script", ", \"build\": \"echo build\"", false, '.'),
        ("with a script, and the old file stays", ", \"build\": \"echo build\"", true, 'D'),
        ("with a script before the tests", ", \"pretest\": \"rm test/a.test.js\"", false, 'D'),
        ("with a script that the check runs", ", \"lint\": \"true\"", false, 'D'),
    ] {
        let mut base = MemoryTree::new([("lib/index.js", ""), ("test/a.test.js", "require('..')\n")]);
        base.insert("package.json", package("lib/index.js", "").as_bytes());
        let mut result = base.clone();
        if !stays {
            result.remove("lib/index.js");
        }
        result.insert("src/index.js", b"");
        result.insert("package.json", package("src/index.js", scripts).as_bytes());
        let found = judged(&base, &result, "npm test && npm run lint", "", &[], ("package.json", Modified));
        assert_eq!(letter(found.as_ref()), expected, "{name}: {found:?}");
    }
}
