//! Lines as users write them, and what becomes of them. Each kind of change was tried with the real tool first.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::shell::{commands, quoted};
use super::*;

/// The scripts of the package the lines below run in.
fn scripts(name: &str) -> Option<String> {
    let script = match name {
        "test" => "jest --coverage",
        "build" => "tsc && vite build",
        "unit" => "cross-env CI=1 vitest run",
        "bailing" => "vitest run --bail=1",
        "separated" => "jest -- src",
        "spec" => "mocha --bail",
        "python" => "pytest -q tests",
        "all" => "eslint . && jest",
        "outer" => "npm test",
        "piped" => "jest | tee log",
        _ => return None,
    };
    Some(script.to_string())
}

fn read(line: &str) -> CommandLine {
    CommandLine::read(line, None, &scripts)
}

fn set(tests: &[&str]) -> BTreeSet<String> {
    tests.iter().map(ToString::to_string).collect()
}

#[test]
fn known_runners_tell_everything() {
    let table = [
        ("cargo test", "cargo test --no-fail-fast"),
        ("cargo +nightly t -p calc", "cargo +nightly t -p calc --no-fail-fast"),
        ("cargo test  -- --nocapture", "cargo test  --no-fail-fast -- --nocapture"),
        ("cargo test --no-fail-fast", "cargo test --no-fail-fast"),
        ("cargo test -q", "cargo test -q --no-fail-fast -- --format=pretty"),
        ("cargo test -- -q", "cargo test --no-fail-fast -- -q --format=pretty"),
        ("cargo test -q -- --format terse", "cargo test -q --no-fail-fast -- --format terse"),
        ("RUST_LOG=$LEVEL cargo test", "RUST_LOG=$LEVEL cargo test --no-fail-fast"),
        ("cargo nextest run", "cargo nextest run --no-fail-fast --status-level=pass"),
        ("cargo nextest run --max-fail=1", "cargo nextest run --max-fail=1 --status-level=pass"),
        (
            "cargo nextest run --status-level fail -- x",
            "cargo nextest run --status-level fail --no-fail-fast -- x",
        ),
        ("pytest", "pytest --maxfail=0 --verbosity=1"),
        ("pytest -x -qq tests", "pytest -x -qq tests --maxfail=0 --verbosity=1"),
        ("pytest -vv -k 'a or b'", "pytest -vv -k 'a or b' --maxfail=0 --verbosity=2"),
        ("pytest -q -- tests", "pytest -q --maxfail=0 --verbosity=1 -- tests"),
        ("env CI=1 python3 -m pytest", "env CI=1 python3 -m pytest --maxfail=0 --verbosity=1"),
        ("python3 -m unittest -f", "python3 -m unittest -v"),
        ("python3 -m unittest --failfast -v calc", "python3 -m unittest -v calc"),
        ("uv run pytest", "uv run pytest --maxfail=0 --verbosity=1"),
        ("python -m unittest -q unit_calc", "python -m unittest -q unit_calc -v"),
        ("python -m unittest discover -s tests", "python -m unittest discover -s tests -v"),
        ("python -m unittest -v -f x", "python -m unittest -v x"),
        ("python3 -m doctest -f calc.py", "python3 -m doctest -v calc.py"),
        ("python -m doctest -v guide.txt", "python -m doctest -v guide.txt"),
        ("go test ./...", "go test -gcflags=-e -json ./..."),
        (
            "go test -failfast ./... -args -v",
            "go test -gcflags=-e -json -failfast -failfast=false ./... -args -v",
        ),
        ("cd sub && go test -v ./...", "cd sub && go test -gcflags=-e -v ./..."),
        ("go test -C sub ./...", "go test -C sub -gcflags=-e -json ./..."),
        ("go test -C=sub -v -gcflags=-N", "go test -C=sub -v -gcflags=-N"),
        ("go build -o app .", "go build -gcflags=-e -o app ."),
        ("go generate && go vet ./...", "go generate && go vet -gcflags=-e ./..."),
        ("go build ./... && go test -v", "go build ./... && go test -gcflags=-e -v"),
        ("jest --bail -i", "jest --bail -i --verbose --bail=0"),
        ("npx jest --verbose -- src", "npx jest --verbose --bail=0 -- src"),
        ("vitest", "vitest --reporter=verbose --bail=0"),
        ("vitest run --bail 1 src", "vitest run --bail=0 src --reporter=verbose"),
        ("vitest run --reporter=junit --bail=3", "vitest run --reporter=junit --bail=0"),
        ("mocha --bail 'test/**/*.js'", "mocha --bail 'test/**/*.js' --no-bail"),
        ("npm ci; npm run build && npm test", "npm ci; npm run build && npm test -- --verbose --bail=0"),
        ("npm test src -- --ci", "npm test src -- --ci --verbose --bail=0"),
        ("npm run -s spec", "npm run -s spec -- --no-bail"),
        ("npm run python", "npm run python -- --maxfail=0 --verbosity=1"),
        ("yarn test --ci", "yarn test --ci --verbose --bail=0"),
        ("yarn install && yarn run unit", "yarn install && yarn run unit --reporter=verbose --bail=0"),
        ("pnpm test", "pnpm test --verbose --bail=0"),
        ("pnpm exec vitest run", "pnpm exec vitest run --reporter=verbose --bail=0"),
        ("bun run spec", "bun run spec --no-bail"),
        ("cargo fmt --check\ncargo test\n", "cargo fmt --check\ncargo test --no-fail-fast\n"),
        (
            "cargo build &&\\\n  cargo test \\\n  --lib ;",
            "cargo build &&\\\n  cargo test \\\n  --lib --no-fail-fast ;",
        ),
    ];
    for (line, expected) in table {
        assert_eq!(read(line).telling_everything(), expected, "{line}");
    }
}

#[test]
fn other_lines_stay_as_they_are() {
    let table = [
        "",
        "make test",
        "cargo test | tee log",
        "cargo test > log",
        "cargo test 2>&1",
        "(cargo test)",
        "cargo test && pytest",
        "cargo test; echo done",
        "cargo test &",
        "cargo test || true",
        "cargo test $(cat names)",
        "cargo test `cat names`",
        "cargo test $ARGS",
        "$CARGO test",
        "if x; then cargo test; fi",
        "cargo test -- --list",
        "cargo test --no-run",
        "cargo nextest list",
        "go test -c ./calc",
        "go build --gcflags 'all=-N -l' .",
        "pytest --collect-only",
        "vitest watch",
        "vitest --ui",
        "jest --watch",
        "node --test",
        "npx ava",
        "npm run all",
        "npm run outer",
        "npm run piped",
        "npm run missing",
        "npm run bailing",
        "npm run separated",
        "npm -w x test",
        "npm test --ignore-scripts",
        "yarn test -- --ci",
        "pnpm test -- --ci",
        "cd web && npm test",
        "npm test && npm run spec",
        "bun test",
        "time cargo test",
        "sudo pytest",
    ];
    for line in table {
        assert_eq!(read(line).telling_everything(), line);
        assert_eq!(read(line).only(&set(&["a > b", "x.js > y"])), None, "{line}");
    }
}

#[test]
fn the_runner_is_what_was_told_or_what_is_known() {
    let table = [
        ("make test", None, None),
        ("make test", Some(Runner::Jest), Some(Runner::Jest)),
        ("npm test", None, Some(Runner::Jest)),
        ("npm test", Some(Runner::Junit), Some(Runner::Junit)),
        ("node --test x", None, Some(Runner::NodeTest)),
        ("vitest --ui", None, Some(Runner::Vitest)),
        ("go build", None, None),
    ];
    for (line, told, expected) in table {
        assert_eq!(CommandLine::read(line, told, &scripts).runner(), expected, "{line}");
    }
    let told = CommandLine::read("make test", Some(Runner::Jest), &scripts);
    assert_eq!((told.telling_everything().as_str(), told.only(&set(&["a.js > b"]))), ("make test", None));
}

#[test]
fn some_tests_are_run_alone() {
    let table: [(&str, &[&str], &str); 7] = [
        (
            "cargo test",
            &["calc tests::equal", "integration adds"],
            "cargo test --no-fail-fast -- --exact adds tests::equal",
        ),
        ("cargo test -- --exact x", &["tests::equal"], "cargo test --no-fail-fast -- --exact x tests::equal"),
        (
            "cargo test",
            &["calc src/lib.rs - add", "calc src/lib.rs -", "calc tests::equal"],
            "cargo test --no-fail-fast -- 'src/lib.rs - (line ' 'src/lib.rs - add (line ' tests::equal",
        ),
        (
            "cargo nextest run -- x",
            &["calc tests::equal", "calc::integration adds"],
            "cargo nextest run --no-fail-fast --status-level=pass -E '(binary_id(=calc) & test(=tests::equal)) | \
             (binary_id(=calc::integration) & test(=adds))' -- x",
        ),
        (
            "pytest -x tests -k 'a'",
            &["tests/test_a.py::test_x[a b]"],
            "pytest -x -k 'a' --maxfail=0 --verbosity=1 'tests/test_a.py::test_x[a b]'",
        ),
        (
            "pytest -n 4 -- tests more",
            &["t.py::a", "t.py::b"],
            "pytest -n 4 --maxfail=0 --verbosity=1 -- t.py::a t.py::b",
        ),
        (
            "python -m unittest unit_calc",
            &["unit_calc.C.test_a (i=1)", "unit_calc.C.test_a (i=2)"],
            "python -m unittest -v unit_calc.C.test_a",
        ),
    ];
    for (line, tests, expected) in table {
        assert_eq!(read(line).only(&set(tests)).as_deref(), Some(expected), "{line}");
    }
}

#[test]
fn some_tests_are_run_alone_by_pattern() {
    let table: [(&str, &[&str], &str); 10] = [
        (
            "go test ./...",
            &["example.com/calc TestA", "example.com/calc TestB"],
            "go test -gcflags=-e -json -run '^(TestA|TestB)$' ./...",
        ),
        (
            "go test ./...",
            &["example.com/calc TestA/2+3", "example.com/calc TestA/x"],
            r#"go test -gcflags=-e -json -run '^(TestA)$/''^(2'"\\+3|x)"'$' ./..."#,
        ),
        (
            "go test ./...",
            &["example.com/calc TestA/x", "example.com/calc TestB"],
            "go test -gcflags=-e -json -run '^(TestA|TestB)$' ./...",
        ),
        (
            "go test -v -run Test ./calc",
            &["example.com/calc TestA"],
            "go test -gcflags=-e -v -run Test -run '^(TestA)$' ./calc",
        ),
        (
            "go test -v --run=Test ./calc",
            &["example.com/calc TestA"],
            "go test -gcflags=-e -v --run=Test -run '^(TestA)$' ./calc",
        ),
        ("jest src", &["src/a.test.js > top"], "jest src --verbose --bail=0 -t '^ *(?:top) *$'"),
        (
            "npm test",
            &["src/a.test.js > calc > it's (x)"],
            r#"npm test -- --verbose --bail=0 -t '^ *(?:calc +(?:[>›] +)?it'"'s \\(x\\)) *"'$'"#,
        ),
        (
            "vitest run",
            &["a.test.ts > x", "b.test.ts > x"],
            "vitest run --reporter=verbose --bail=0 -t '^ *(?:x) *$'",
        ),
        ("mocha", &["calc > adds"], "mocha --no-bail -g '^ *(?:calc +(?:[>›] +)?adds) *$'"),
        ("yarn spec", &["adds"], "yarn spec --no-bail -g '^ *(?:adds) *$'"),
    ];
    for (line, tests, expected) in table {
        assert_eq!(read(line).only(&set(tests)).as_deref(), Some(expected), "{line}");
    }
}

#[test]
fn where_tests_cannot_be_told_apart_none_are_selected() {
    let table: [(&str, &[&str]); 15] = [
        ("cargo test", &[]),
        ("cargo test", &["calc tests::a\nb"]),
        ("cargo test -- --exact x", &["calc src/lib.rs - add"]),
        ("cargo nextest run -E 'test(x)'", &["calc tests::a"]),
        ("cargo nextest run", &["tests::a"]),
        ("pytest", &["tests/test_a.py"]),
        ("pytest --lf", &["a.py::b"]),
        ("pytest --unknown tests", &["a.py::b"]),
        ("npm run python", &["a.py::b"]),
        ("python -m unittest discover", &["a.B.c"]),
        ("python -m unittest", &["unit_calc.SetupTest.setUpClass"]),
        ("go test", &["example.com/calc"]),
        ("jest -t x", &["a.js > b"]),
        ("jest", &["b"]),
        ("mocha", &["calc > \"before all\" hook for \"inside\""]),
    ];
    for (line, tests) in table {
        assert_eq!(read(line).only(&set(tests)), None, "{line} {tests:?}");
    }
    let many = (0..20_000).map(|number| format!("calc tests::number_{number}")).collect();
    assert_eq!(read("cargo test").only(&many), None);
}

/// Words and signs that lines are made of.
fn line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "cargo", "test", "nextest", "run", "pytest", "python", "-m", "unittest", "go", "jest", "vitest",
        "mocha", "npm", "yarn", "pnpm", "bun", "npx", "--", "-x", "-q", "-v", "--bail", "1", "-run", "-E",
        "-k", "'a b'", "\"$X\"", "A=1", "env", "cd", "&&", ";", "|", ">", "(", ")", "$(x)", "`x`", "\\",
        "\n", "'", "\"", "#", "日本", "--bail=1", "unit", "spec",
    ]);
    let joined = prop::collection::vec(words, 0..8).prop_map(|words| words.join(" "));
    let known = prop::sample::select(vec![
        "cargo test",
        "cd é && pytest",
        "go test -failfast",
        "jest",
        "npm test",
        "yarn unit",
    ]);
    let arguments = prop::sample::select(vec![
        "--",
        "-x",
        "-q",
        "'a b'",
        "-run=x",
        "--verbose",
        "日本",
        "\
",
    ]);
    let called = (known, prop::collection::vec(arguments, 0..5))
        .prop_map(|(known, rest)| format!("{known} {}", rest.join(" ")));
    prop_oneof![any::<String>(), joined, called]
}

/// The words of a line as the shell reads them.
fn words(line: &str) -> Vec<String> {
    commands(line).unwrap_or_default().into_iter().flatten().map(|word| word.text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Catches a line without a known runner that is put together anew from its words, and a place that lies outside
    /// of the text or inside of a character.
    #[test]
    fn unknown_lines_come_back_byte_for_byte(line in line(), tests in prop::collection::btree_set(any::<String>(), 0..3)) {
        let read = read(&line);
        let selected = read.only(&tests);
        if read.known.is_none() {
            prop_assert_eq!(read.telling_everything(), line);
            prop_assert_eq!(selected, None);
        }
    }

    /// Catches options that are put over words instead of between them: all that the user wrote is still there, in
    /// order, unless a number of failures to stop at is taken out.
    #[test]
    fn what_the_user_wrote_stays(line in line().prop_filter("Vitest takes it once only", |line| !line.contains("--bail"))) {
        let told = read(&line).telling_everything();
        let (before, after) = (words(&line), words(&told));
        let mut rest = after.iter();
        prop_assert!(before.iter().all(|word| rest.any(|other| other == word)), "{} became {}", line, told);
    }

    /// Catches a sign of the shell that is forgotten among those that make a line unreadable.
    #[test]
    fn a_line_with_a_sign_of_the_shell_is_left_alone(
        sign in prop::sample::select(vec!["|", "||", ">", "<", "(", ")", "`", "$(", "#", "&", "'", "\"", "\\"]),
        at in prop::sample::select(vec!["cargo test % x", "cd x && % cargo test", "cargo test x %"]),
    ) {
        let line = at.replace('%', sign);
        // A backslash before a blank or a name is no sign, only an odd word.
        prop_assume!(sign != "\\" || line.ends_with('\\'));
        prop_assert_eq!(read(&line).telling_everything(), line);
    }

    /// Catches a character that the shell reads as more than itself, and that is left without quotes.
    #[test]
    fn quoted_words_are_read_back(word in "[^\0\r]*") {
        let line = format!("x {}", quoted(&word));
        let words = commands(&line).unwrap_or_default().pop().unwrap_or_default();
        let seen: Vec<_> = words.iter().map(|word| (word.text.as_str(), word.has_variable)).collect();
        prop_assert_eq!(seen, [("x", false), (word.as_str(), false)]);
    }
}
