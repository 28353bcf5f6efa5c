//! Snapshots and data that only tests read, wherever they are.

use std::collections::BTreeSet;

use fixpoint_proof::ChangeKind::{self, Added, Deleted, Modified, TypeChanged};
use fixpoint_proof::{Change, CheckCommand, MemoryTree, protected_changes};

use crate::classification::{judged, letter};

fn check(files: &[(&str, &str)], command: &str, rows: &[(&str, ChangeKind, char)]) {
    let base = MemoryTree::new(files.iter().copied());
    let mut failures = Vec::new();
    for (path, kind, expected) in rows {
        let mut result = base.clone();
        match kind {
            Deleted => result.remove(path),
            Added | Modified | TypeChanged => result.insert(path, b"changed\n"),
        }
        let found = judged(&base, &result, command, "", &[], (path, *kind));
        if letter(found.as_ref()) != *expected {
            failures.push(format!("{path} {kind:?}: expected {expected}, found {found:?}"));
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn snapshots_that_a_test_names() {
    let files: &[(&str, &str)] = &[
        ("src/page.js", "import { rows } from './rows.gen.js';\nexport const page = () => '<p>bad</p>'\n"),
        ("src/rows.gen.js", "export const rows = []\n"),
        (
            "src/page.test.js",
            "import { page } from './page';\n\
             await expect(page()).toMatchFileSnapshot('../out/page.html');\n\
             await expect(page()).toMatchFileSnapshot(`../out/${name}.svg`);\n\
             await expect(page()).toMatchFileSnapshot(path.join(__dirname, '..', 'web', 'a.css'));\n\
             expect(page()).toMatchSpecificSnapshot('../shots/page.shot');\n\
             await expect(rows).toMatchFileSnapshot('./rows.gen.js');\n\
             await expect(page()).toMatchFileSnapshot('../out/page.js');\n\
             render('../out/other.html')\n",
        ),
        ("out/page.html", "<p>good</p>"),
        ("out/other.html", "<p>good</p>"),
        ("out/page.js", "x"),
        ("out/logo.svg", "<svg/>"),
        ("web/a.css", "a {}"),
        ("web/b.css", "a {}"),
        ("shots/page.shot", "x"),
        ("tests/it.rs", "expect_file![\"../out/list.txt\"].assert_eq(&list());\n"),
        ("out/list.txt", "x"),
        ("calc/.snapshots/TestAdd", "3"),
    ];
    let rows = [
        ("out/page.html", Deleted, 'T'),
        ("out/page.html", Modified, 'T'),
        ("out/logo.svg", Modified, 'T'),
        ("out/page.js", Deleted, 'T'),
        ("out/new.svg", Added, 'T'),
        ("web/a.css", Modified, 'T'),
        ("shots/page.shot", Deleted, 'T'),
        ("shots/new.shot", Added, '.'),
        ("out/list.txt", Modified, 'T'),
        ("calc/.snapshots/TestAdd", Deleted, 'T'),
        ("out/other.html", Modified, '.'),
        ("out/other.html", Deleted, '.'),
        ("web/b.css", Modified, '.'),
        ("src/rows.gen.js", Modified, '.'),
        ("src/page.js", Modified, '.'),
    ];
    check(files, "vitest run", &rows);
}

#[test]
fn data_that_tests_read_beside_the_product() {
    let files: &[(&str, &str)] = &[
        ("calc.py", "import json\nRATES = json.load(open('rates.json'))\nf = root / 'tables' / f'{n}.tab'\n"),
        ("rates.json", "{}"),
        ("limits.json", "{\"tolerance\": 0}"),
        ("limits.toml", "tolerance = 0\n"),
        ("corpus/sum.res", "3\n"),
        ("corpus/notes.md", "3\n"),
        ("corpus/sum.tab", "3\n"),
        ("wheel/sum.res", "3\n"),
        ("countries.yaml", "- a\n"),
        ("settings.toml", "a = 1\n"),
        ("shipped.yaml", "a: 1\n"),
        ("tables/sum.tab", "3\n"),
        ("pyproject.toml", "[tool.setuptools.package-data]\ncalc = [\"shipped.yaml\"]\n"),
        (
            "tests/test_calc.py",
            "import tomllib\nfrom calc import add\nTOL = json.load(open(\"limits.json\"))\n\
             with open(\"limits.toml\", \"rb\") as f: pass\nopen('rates.json')\nopen('settings.toml')\n\
             assert add(1, 2) == int((ROOT / \"corpus\" / f\"{n}.res\").read_text())\nopen('shipped.yaml')\n\
             open(ROOT / 'tables' / f'{n}.tab')\n",
        ),
        ("tests/test_countries.py", "import yaml\nassert 'a' in yaml.load(open('countries.yaml'))\n"),
    ];
    let rows = [
        ("limits.json", Modified, 'T'),
        ("limits.json", Deleted, 'T'),
        ("limits.toml", Modified, 'T'),
        ("corpus/sum.res", Modified, 'T'),
        ("corpus/notes.md", Modified, '.'),
        ("wheel/sum.res", Modified, '.'),
        ("rates.json", Modified, '.'),
        ("tables/sum.tab", Modified, '.'),
        ("countries.yaml", Modified, '.'),
        ("settings.toml", Modified, '.'),
        ("shipped.yaml", Modified, '.'),
        ("calc.py", Modified, '.'),
    ];
    check(files, "pytest", &rows);
}

#[test]
fn sources_that_are_compared_with_what_a_generator_prints() {
    let files: &[(&str, &str)] = &[
        ("tools/gen.py", "print('NAMES =', [l.strip() for l in open('names.txt')])\n"),
        ("names.txt", "a\nb\n"),
        ("names_gen.py", "NAMES = ['a']\n"),
        ("wanted.py", "NAMES = ['a', 'b']\n"),
        ("wanted.txt", "a\n"),
        ("app.py", "from names_gen import NAMES\nprint(NAMES)\n"),
    ];
    check(files, "python tools/gen.py | diff - names_gen.py", &[("names_gen.py", Modified, '.')]);
    check(files, "python app.py | diff - wanted.py", &[("wanted.py", Modified, 'D')]);
    check(files, "python app.py | diff - wanted.txt", &[("wanted.txt", Modified, 'D')]);

    let base = MemoryTree::new(files.iter().copied());
    let mut result = base.clone();
    let changed = ["names_gen.py", "tools/gen.py"];
    let changes = changed.map(|path| Change { path: path.to_string(), kind: Modified });
    changed.iter().for_each(|path| result.insert(path, b""));
    let command = "python tools/gen.py | diff - names_gen.py".to_string();
    let checks = [CheckCommand { command, directory: String::new() }];
    let found = protected_changes(&checks, &BTreeSet::new(), &changes, &base, &result);
    assert!(found.iter().any(|change| change.path == "names_gen.py"), "{found:?}");
}

#[test]
fn tests_that_are_no_longer_found_from_above() {
    let files: &[(&str, &str)] = &[
        ("go.mod", "module c\n"),
        ("calc/calc.go", "package calc\n"),
        ("calc/calc_test.go", "package calc\n"),
        ("cmd/main.go", "package main\n"),
        ("app/__init__.py", ""),
        ("app/sub/__init__.py", ""),
        ("app/sub/test_a.py", "import unittest\n"),
        ("app/plain/__init__.py", ""),
        ("app/plain/a.py", "x = 1\n"),
        ("tests/__init__.py", ""),
    ];
    let rows = [
        ("calc/go.mod", Added, 'D'),
        ("cmd/go.mod", Added, '.'),
        ("extra/go.mod", Added, '.'),
        ("app/sub/__init__.py", Deleted, 'D'),
        ("app/sub/__init__.py", Modified, '.'),
        ("app/__init__.py", Deleted, 'D'),
        ("app/plain/__init__.py", Deleted, '.'),
        ("tests/__init__.py", Deleted, 'T'),
    ];
    check(files, "go test ./... && python -m unittest", &rows);
}

#[test]
fn data_in_other_languages() {
    let files: &[(&str, &str)] = &[
        ("index.js", "module.exports = 1;\n"),
        ("test/a.test.js", "const a = require('..');\nconst l = require('../limits.json');\n"),
        ("limits.json", "{}"),
        ("calc/calc.go", "package calc\n"),
        ("calc/calc_test.go", "package calc\nvar rows, _ = os.ReadFile(\"rows.yaml\")\n"),
        ("calc/rows.yaml", "- 1\n"),
        ("app.sh", "cat served.json\n"),
        ("test/run.py", "subprocess.run(['sh', 'app.sh'])\nopen('asked.json')\nopen('served.json')\n"),
        ("asked.json", "{}"),
        ("served.json", "{}"),
    ];
    let rows = [
        ("limits.json", Modified, 'T'),
        ("calc/rows.yaml", Modified, 'T'),
        ("asked.json", Modified, 'T'),
        ("served.json", Modified, '.'),
    ];
    check(files, "npm test && go test ./... && python test/run.py", &rows);
}
