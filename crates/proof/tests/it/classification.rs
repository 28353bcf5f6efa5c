//! Paths, kinds and commands: which changes are tests or definitions.

use std::collections::BTreeSet;

use fixpoint_proof::ChangeKind::{Added, Deleted, Modified, TypeChanged};
use fixpoint_proof::{
    Change, ChangeKind, CheckCommand, MemoryTree, ProtectedChange, Role, protected_changes,
};

/// What becomes of one change: `T` for a test, `D` for a definition, `.` for product.
pub(crate) fn judged(
    base: &MemoryTree,
    result: &MemoryTree,
    command: &str,
    directory: &str,
    observed: &[&str],
    (path, kind): (&str, ChangeKind),
) -> Option<ProtectedChange> {
    let check = CheckCommand { command: command.to_string(), directory: directory.to_string() };
    let observed: BTreeSet<String> = observed.iter().map(|name| (*name).to_string()).collect();
    let change = Change { path: path.to_string(), kind };
    protected_changes(&[check], &observed, &[change], base, result).pop()
}

pub(crate) fn letter(change: Option<&ProtectedChange>) -> char {
    match change.map(|change| change.role) {
        None => '.',
        Some(Role::Test) => 'T',
        Some(Role::Definition | Role::Interference) => 'D',
    }
}

/// A small repository of every kind.
pub(crate) fn repository() -> MemoryTree {
    MemoryTree::new([
        ("app.py", "def add(a, b):\n    return a + b\n"),
        ("src/calc.py", "x = 1\n"),
        ("src/lib.rs", "pub fn a() {}\n"),
        ("src/app/app.config.ts", "export {}\n"),
        ("index.js", "module.exports = 1\n"),
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("package.json", "{\"scripts\": {\"test\": \"jest\"}}\n"),
        ("go.mod", "module a\n"),
        ("tests/test_app.py", "import app\n"),
        ("answer", "41\n"),
        ("out/main.c", "int main(void) { return 0; }\n"),
        ("Makefile", "test:\n\tpytest\n"),
        ("check.sh", "pytest\n"),
        ("sub/check.sh", "pytest\n"),
        ("scripts/run.py", "print(1)\n"),
        ("verify.py", "import app\ndef test_x():\n    assert app.add(1, 1) == 2\n"),
        ("verify.js", "test('x', () => {})\n"),
        ("checks/verify.py", "import app\ndef helper():\n    pass\ndef test_x():\n    pass\n"),
        ("requirements.txt", "requests==2.0\n"),
    ])
}

fn check_rows(rows: &[(&str, ChangeKind, &str, &str, char)]) {
    let base = repository();
    let mut failures = Vec::new();
    for (path, kind, command, directory, expected) in rows {
        let mut result = base.clone();
        let mut before = base.clone();
        match kind {
            Added => {
                before.remove(path);
                result.insert(path, b"x\n");
            }
            Modified => {
                if fixpoint_proof::Tree::read(&before, path).is_none() {
                    before.insert(path, b"old\n");
                }
                result.insert(path, b"new\n");
            }
            Deleted => {
                if fixpoint_proof::Tree::read(&before, path).is_none() {
                    before.insert(path, b"old\n");
                }
                result.remove(path);
            }
            TypeChanged => result.insert_link(path, "app.py"),
        }
        let found = judged(&before, &result, command, directory, &[], (path, *kind));
        if letter(found.as_ref()) != *expected {
            failures.push(format!("{path} {kind:?} `{command}`: expected {expected}, found {found:?}"));
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn tests_by_their_paths() {
    check_rows(&[
        ("tests/it.rs", Modified, "cargo test", "", 'T'),
        ("tests/it.rs", Deleted, "cargo test", "", 'T'),
        ("tests/new.rs", Added, "cargo test", "", 'T'),
        ("tests/it.rs", TypeChanged, "cargo test", "", 'T'),
        ("src/tests.rs", Added, "cargo test", "", 'T'),
        ("calc/test_calc.py", Modified, "pytest", "", 'T'),
        ("calc/test_calc.py", Added, "pytest", "", 'T'),
        ("calc/calc_test.go", Modified, "go test ./...", "", 'T'),
        ("calc/testdata/a.json", Modified, "go test ./...", "", 'T'),
        ("web/a.test.tsx", Modified, "npm test", "", 'T'),
        ("web/__snapshots__/a.test.tsx.snap", Modified, "npm test", "", 'T'),
        ("web/__mocks__/axios.js", Added, "npm test", "", 'T'),
        ("src/snapshots/a.snap", Deleted, "cargo test", "", 'T'),
        ("src/AppTest.java", Modified, "mvn test", "", 'T'),
        ("src/test/java/Helper.java", Modified, "mvn test", "", 'T'),
        ("src/test/resources/a.json", Modified, "mvn test", "", 'T'),
        ("app/src/androidTest/java/A.kt", Modified, "./gradlew test", "", 'T'),
        ("spec/calc_spec.rb", Modified, "rspec", "", 'T'),
        ("lib/calc_spec.rb", Modified, "rspec", "", 'T'),
        ("tests/CalcTest.php", Modified, "vendor/bin/phpunit", "", 'T'),
        ("Calc.Tests/CalcTests.cs", Modified, "dotnet test", "", 'T'),
        ("test/test_helper.exs", Modified, "mix test", "", 'T'),
        ("test_calc.c", Modified, "make test", "", 'T'),
        ("checks/a.bats", Modified, "bats checks", "", 'T'),
        ("golden/a.txt", Modified, "sh check.sh", "", 'T'),
        ("a.golden", Modified, "sh check.sh", "", 'T'),
        ("a.approved.txt", Modified, "dotnet test", "", 'T'),
        ("expected_output.txt", Modified, "sh check.sh", "", 'T'),
        ("t/basic.t", Modified, "prove", "", 'T'),
        ("cypress/e2e/a.cy.js", Modified, "npx cypress run", "", 'T'),
        ("features/a.feature", Modified, "behave", "", 'T'),
        ("src/main/java/Latest.java", Modified, "mvn test", "", '.'),
        ("latest.py", Modified, "pytest", "", '.'),
        ("src/contest.rs", Modified, "cargo test", "", '.'),
        ("src/attestation.ts", Added, "npm test", "", '.'),
        ("src/specials.py", Added, "pytest", "", '.'),
    ]);
}

#[test]
fn definitions_by_their_paths() {
    check_rows(&[
        ("conftest.py", Added, "pytest", "", 'D'),
        ("tests/conftest.py", Modified, "pytest", "", 'D'),
        ("sitecustomize.py", Added, "pytest", "", 'D'),
        ("a.pth", Added, "pytest", "", 'D'),
        ("fake.dist-info/entry_points.txt", Added, "pytest", "", 'D'),
        ("x.egg-info/entry_points.txt", Added, "pytest", "", 'D'),
        ("pytest.ini", Added, "pytest", "", 'D'),
        (".pytest.ini", Added, "pytest", "", 'D'),
        ("pytest.toml", Added, "pytest", "", 'D'),
        ("tox.ini", Added, "pytest", "", 'D'),
        ("__pycache__/app.cpython-312.pyc", Added, "pytest", "", 'D'),
        ("mypy.ini", Added, "mypy app.py", "", 'D'),
        ("ruff.toml", Added, "ruff check", "", 'D'),
        (".flake8", Modified, "flake8", "", 'D'),
        ("pyrightconfig.json", Added, "pyright", "", 'D'),
        ("vitest.config.ts", Added, "npx vitest", "", 'D'),
        ("jest.config.js", Added, "npm test", "", 'D'),
        (".mocharc.yml", Added, "npm test", "", 'D'),
        (".npmrc", Added, "npm test", "", 'D'),
        (".pnpmfile.cjs", Added, "pnpm test", "", 'D'),
        ("node_modules/jest/index.js", Added, "npm test", "", 'D'),
        ("node_modules/.bin/jest", Added, "npm test", "", 'D'),
        ("babel.config.js", Added, "npm test", "", 'D'),
        ("tsconfig.json", Modified, "npx tsc --noEmit", "", 'D'),
        ("eslint.config.mjs", Modified, "npx eslint .", "", 'D'),
        ("bunfig.toml", Added, "bun test", "", 'D'),
        (".cargo/config.toml", Added, "cargo test", "", 'D'),
        (".config/nextest.toml", Added, "cargo nextest run", "", 'D'),
        ("build.rs", Added, "cargo test", "", 'D'),
        ("src/build.rs", Added, "cargo test", "", '.'),
        ("rust-toolchain.toml", Added, "cargo test", "", 'D'),
        ("clippy.toml", Modified, "cargo clippy", "", 'D'),
        ("go.work", Added, "go test ./...", "", 'D'),
        ("vendor/github.com/x/y.go", Modified, "go test ./...", "", 'D'),
        ("vendor/github.com/x/y.go", Added, "go test ./...", "", 'D'),
        (".golangci.yml", Modified, "golangci-lint run", "", 'D'),
        (".rspec", Added, "rspec", "", 'D'),
        ("Rakefile", Modified, "rake test", "", 'D'),
        ("lib/minitest/ok_plugin.rb", Added, "rake test", "", 'D'),
        ("lib/tasks/x.rake", Added, "rake test", "", 'D'),
        ("phpunit.xml.dist", Modified, "vendor/bin/phpunit", "", 'D'),
        ("gradle.properties", Modified, "./gradlew test", "", 'D'),
        ("src/main/java/org/junit/Assert.java", Added, "mvn test", "", 'D'),
        ("Directory.Build.props", Added, "dotnet test", "", 'D'),
        ("a.runsettings", Modified, "dotnet test", "", 'D'),
        ("rules.mk", Added, "make test", "", 'D'),
        ("rules.mk", Added, "cargo test", "", '.'),
        ("CTestCustom.cmake", Added, "ctest", "", 'D'),
        (".env.test", Added, "npm test", "", 'D'),
        (".gitattributes", Added, "npm test", "", 'D'),
        (".shellcheckrc", Added, "shellcheck a.sh", "", 'D'),
        (".editorconfig", Modified, "dotnet format --verify-no-changes", "", 'D'),
        (".rubocop.yml", Modified, "rubocop", "", 'D'),
        (".gitignore", Modified, "ruff check", "", 'D'),
        (".gitignore", Modified, "cargo test", "", '.'),
        ("justfile", Modified, "just test", "", 'D'),
        ("src/app/app.config.ts", Modified, "npm test", "", '.'),
        ("lib/Test/More.pm", Added, "prove -l", "", 'D'),
        ("xtask/src/main.rs", Modified, "cargo xtask ci", "", 'D'),
        ("xtask/src/main.rs", Modified, "cargo test", "", '.'),
    ]);
}

#[test]
fn what_a_command_runs_and_what_it_looks_at() {
    check_rows(&[
        ("check.sh", Modified, "sh ./check.sh --all", "", 'D'),
        ("check.sh", Deleted, "sh ./check.sh --all", "", 'D'),
        ("check.sh", Modified, "sh ../check.sh", "sub", 'D'),
        ("check.sh", Modified, "./check.sh", "sub", '.'),
        ("sub/check.sh", Modified, "./check.sh", "sub", 'D'),
        ("scripts/run.py", Modified, "cd x && cd .. && python3 scripts/run.py", "", 'D'),
        ("scripts/run.py", Modified, "python3 -B scripts/run.py", "", 'D'),
        ("scripts/run.py", Modified, "uv run scripts/run.py", "", 'D'),
        ("scripts/run.py", Modified, "timeout 60 python3.11 scripts/run.py", "", 'D'),
        ("check.sh", Modified, "bash -c \"./check.sh --all\"", "", 'D'),
        ("check.sh", Modified, "bash -euo pipefail -c './check.sh'", "", 'D'),
        ("check.sh", Modified, "./check.sh 2>&1 | tee log", "", 'D'),
        ("scripts/run.py", Modified, "python3 scripts/run.py 1 2 | grep -qx 3", "", '.'),
        ("scripts/run.py", Modified, "test \"$(python3 scripts/run.py)\" = 3", "", '.'),
        ("scripts/run.py", Modified, "python3 scripts/run.py > got && diff got want", "", '.'),
        ("manage.py", Modified, "python manage.py test", "", 'D'),
        ("bin/rspec", Modified, "bin/rspec checks", "", 'D'),
        ("checks/verify.py", Modified, "php vendor/bin/phpunit checks/verify.py", "", 'T'),
        ("Makefile", Modified, "make -s test", "", 'D'),
        ("Makefile", Modified, "cargo test", "", '.'),
        ("GNUmakefile", Added, "make test", "", 'D'),
        ("makefile", Added, "make test", "", 'D'),
        ("verify.py", Modified, "python3.11 -m pytest verify.py::test_x", "", 'T'),
        ("verify.js", Modified, "CI=1 npx jest ./verify.js", "", 'T'),
        ("verify.js", Modified, "node --test verify.js", "", 'T'),
        ("checks/verify.py", Modified, "pytest checks", "", 'T'),
        ("checks/new.py", Added, "pytest checks/", "", 'T'),
        ("src/calc.py", Modified, "pytest src", "", '.'),
        ("answer", Modified, "grep -qx 42 answer", "", '.'),
        ("answer", Modified, "test \"$(cat answer)\" = 42", "", '.'),
        ("app.py", Modified, "mypy app.py && pytest tests", "", '.'),
        ("out/main.c", Modified, "gcc -o main out/main.c && ./main", "", '.'),
        ("out.txt", Added, "test -f out.txt", "", '.'),
        ("test_new.py", Added, "pytest test_new.py", "", '.'),
        ("hello.py", Added, "python hello.py", "", '.'),
        ("answer", Modified, "sort in.txt | diff - answer", "", 'D'),
        ("package.json", TypeChanged, "npm test", "", 'D'),
        (".github/workflows/ci.yml", Modified, "pytest", "", '.'),
        ("README.md", Modified, "pytest", "", '.'),
        ("Cargo.lock", Modified, "cargo test", "", '.'),
        ("yarn.lock", Added, "yarn test", "", '.'),
        ("poetry.lock", Added, "pytest", "", '.'),
        ("src/new_module.py", Added, "pytest", "", '.'),
        ("src/lib.rs", Modified, "cargo test", "", '.'),
        ("app.py", Deleted, "pytest", "", '.'),
    ]);
}

#[test]
fn shadows() {
    check_rows(&[
        ("pytest.py", Added, "python -m pytest -q", "", 'D'),
        ("pytest/__init__.py", Added, "python -m pytest -q", "", 'D'),
        ("_pytest/__init__.py", Added, "python -m pytest -q", "", 'D'),
        ("src/unittest/__init__.py", Added, "pytest", "", 'D'),
        ("json.py", Added, "python -m pytest", "", 'D'),
        ("sub/random.py", Added, "python -m pytest", "sub", 'D'),
        ("sub/random.py", Added, "python -m pytest", "", '.'),
        ("requests/__init__.py", Added, "pytest", "", 'D'),
        ("src/app/json.py", Added, "pytest", "", '.'),
        ("lib/set.rb", Added, "rake test", "", 'D'),
        ("lib/minitest.rb", Added, "rake test", "", 'D'),
        ("lib/calc.rb", Added, "rake test", "", '.'),
        ("tools/pytest", Added, "PATH=tools:$PATH pytest", "", 'D'),
        ("bin/pytest", Added, "pytest", "", 'D'),
        ("bin/serve", Added, "pytest", "", '.'),
        ("lib/extra.py", Added, "PYTHONPATH=lib pytest", "", '.'),
        ("lib/hypothesis.py", Added, "PYTHONPATH=lib pytest", "", 'D'),
    ]);
}

#[test]
fn links() {
    let base = repository();
    let mut result = base.clone();
    result.insert_link("data", "/etc");
    result.insert_link("up", "../../x");
    result.insert_link("tests", "fake");
    result.insert_link("docs", "src");
    for (path, expected) in [("data", 'D'), ("up", 'D'), ("tests", 'D'), ("docs", '.')] {
        let found = judged(&base, &result, "pytest", "", &[], (path, Added));
        assert_eq!(letter(found.as_ref()), expected, "{path} {found:?}");
    }
}
