//! Which runner a simple command calls.
//!
//! Owns the names under which runners are called: their own, through an interpreter, through a launcher such as `npx`,
//! or by a package script. Refuses whatever it does not know word for word. Decides nothing about what to change.

use crate::report::Runner;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    /// A runner, whose arguments begin at this word.
    Runner(Runner, usize),
    /// `go build`, `go install` or `go vet`, which run no test; its arguments begin at this word.
    GoCompiler(usize),
    Script {
        name: String,
        /// The word at which its arguments begin.
        arguments: usize,
        manager: Manager,
    },
}

/// The package manager that runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manager {
    /// npm passes on only what follows `--`.
    Npm,
    /// yarn, pnpm and bun pass on everything after the name of the script.
    Other,
}

/// Options of npm that do not change what a script runs.
pub(super) const NPM_OPTIONS: [&str; 3] = ["-s", "--silent", "--if-present"];

/// What a command calls, whose words are these, without the variables that are set before it. `is_script` says which
/// package scripts there are.
pub(super) fn call(words: &[&str], is_script: &dyn Fn(&str) -> bool) -> Option<Call> {
    let name = base_name(words.first()?);
    let rest = words.get(1..)?;
    let found = match name {
        "cargo" => cargo(rest),
        "go" => match *rest.first()? {
            "test" => Some((Runner::GoTest, 1)),
            "build" | "install" | "vet" => return Some(Call::GoCompiler(2)),
            _ => None,
        },
        "node" => node(rest),
        "uv" | "poetry" | "pdm" | "pipenv" | "rye" if *rest.first()? == "run" => {
            python(rest.get(1..)?).map(|(runner, at)| (runner, at + 1))
        }
        "npx" | "bunx" => {
            let options = ["-y", "--yes", "--no", "--no-install", "--"];
            let skipped = rest.iter().take_while(|word| options.contains(word)).count();
            binary(rest.get(skipped)?).map(|runner| (runner, skipped + 1))
        }
        "npm" => return npm(words),
        "yarn" | "pnpm" | "bun" => return other_manager(name, words, is_script),
        "bundle" if *rest.first()? == "exec" => other_runner(rest.get(1)?).map(|runner| (runner, 2)),
        "php" => {
            let options = rest.iter().take_while(|word| word.starts_with('-')).count();
            other_runner(rest.get(options)?).map(|runner| (runner, options + 1))
        }
        _ => match binary(name).or_else(|| other_runner(name)) {
            Some(runner) => Some((runner, 0)),
            None => python(words).map(|(runner, at)| (runner, at - 1)),
        },
    };
    found.map(|(runner, at)| Call::Runner(runner, at + 1))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A test runner for JavaScript, by the name of its program.
fn binary(name: &str) -> Option<Runner> {
    match name {
        "jest" => Some(Runner::Jest),
        "vitest" => Some(Runner::Vitest),
        "mocha" | "_mocha" => Some(Runner::Mocha),
        "ava" => Some(Runner::Ava),
        _ => None,
    }
}

/// A test runner for PHP or Ruby, by its program.
fn other_runner(word: &str) -> Option<Runner> {
    match base_name(word) {
        "phpunit" | "phpunit.phar" => Some(Runner::PhpUnit),
        "rspec" => Some(Runner::Rspec),
        "minitest" => Some(Runner::Minitest),
        _ => None,
    }
}

fn cargo(rest: &[&str]) -> Option<(Runner, usize)> {
    // A quiet cargo is left alone here: only behind `test` is it looked for.
    let options = ["-v", "-vv", "--verbose", "--locked", "--offline", "--frozen"];
    let toolchain = usize::from(rest.first()?.starts_with('+'));
    let at = toolchain + rest.iter().skip(toolchain).take_while(|word| options.contains(word)).count();
    match (*rest.get(at)?, rest.get(at + 1).copied()) {
        ("test" | "t", _) => Some((Runner::CargoTest, at + 1)),
        ("nextest", Some("run" | "r")) => Some((Runner::Nextest, at + 2)),
        _ => None,
    }
}

/// The words begin with the interpreter or the program; the number is the position of the arguments.
fn python(words: &[&str]) -> Option<(Runner, usize)> {
    let name = base_name(words.first()?);
    if matches!(name, "pytest" | "py.test") {
        return Some((Runner::Pytest, 1));
    }
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"))?;
    if !version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let options = ["-B", "-u", "-E", "-s", "-S", "-I", "-O", "-OO", "-b", "-bb", "-Wd", "-Werror"];
    let mut at = 1;
    loop {
        match *words.get(at)? {
            "-X" | "-W" => at += 2,
            option if options.contains(&option) => at += 1,
            "-m" => break,
            _ => return None,
        }
    }
    match *words.get(at + 1)? {
        "pytest" | "py.test" => Some((Runner::Pytest, at + 2)),
        "unittest" => Some((Runner::Unittest, at + 2)),
        "doctest" => Some((Runner::Doctest, at + 2)),
        _ => None,
    }
}

/// Node's own runner, or the script of another one.
fn node(rest: &[&str]) -> Option<(Runner, usize)> {
    let options = rest.iter().take_while(|word| word.starts_with('-')).count();
    if rest.iter().take(options).any(|word| *word == "--test") {
        return Some((Runner::NodeTest, options));
    }
    let (folder, file) = rest.get(options)?.rsplit_once('/')?;
    let runner = binary(file.strip_suffix(".js").or_else(|| file.strip_suffix(".mjs")).unwrap_or(file))?;
    let package = if runner == Runner::Mocha { "mocha" } else { runner.name() };
    let is_known = [".bin".to_string(), format!("{package}/bin"), package.to_string()]
        .iter()
        .any(|known| folder.ends_with(&format!("node_modules/{known}")));
    is_known.then_some((runner, options + 1))
}

fn npm(words: &[&str]) -> Option<Call> {
    let skip =
        |from: usize| from + words.iter().skip(from).take_while(|word| NPM_OPTIONS.contains(word)).count();
    let at = skip(1);
    let (name, arguments) = match *words.get(at)? {
        "test" | "t" | "tst" => ("test", at + 1),
        "run" | "run-script" => {
            let name = skip(at + 1);
            (*words.get(name)?, name + 1)
        }
        _ => return None,
    };
    (!name.starts_with('-')).then(|| Call::Script {
        name: name.to_string(),
        arguments,
        manager: Manager::Npm,
    })
}

/// A script takes precedence over a program of the same name.
fn other_manager(manager: &str, words: &[&str], is_script: &dyn Fn(&str) -> bool) -> Option<Call> {
    let silent = words.iter().skip(1).take_while(|word| NPM_OPTIONS.contains(word)).count();
    let at = silent + 1;
    let script = |name: &str, arguments: usize| {
        let name = name.to_string();
        is_script(&name).then_some(Call::Script { name, arguments, manager: Manager::Other })
    };
    let program = |at: usize| Some(Call::Runner(binary(words.get(at)?)?, at + 1));
    match (manager, *words.get(at)?) {
        ("pnpm", "exec") => program(at + 1),
        ("pnpm", "t") => script("test", at + 1),
        (_, "run") => script(words.get(at + 1)?, at + 2).or_else(|| program(at + 1)),
        // bun has a runner of its own by that name, and programs of its own by others.
        ("bun", _) => None,
        (_, name) => script(name, at + 1).or_else(|| program(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_are_known_by_the_words_that_call_them() {
        let table = [
            ("cargo test", Some((Runner::CargoTest, 2))),
            ("cargo +nightly --locked t -p x", Some((Runner::CargoTest, 4))),
            ("cargo nextest run -j1", Some((Runner::Nextest, 3))),
            ("cargo nextest list", None),
            ("cargo build", None),
            ("go test ./...", Some((Runner::GoTest, 2))),
            ("go mod tidy", None),
            (".venv/bin/pytest -x", Some((Runner::Pytest, 1))),
            ("python3.11 -B -X dev -m pytest tests", Some((Runner::Pytest, 6))),
            ("python -m unittest discover", Some((Runner::Unittest, 3))),
            ("python3 -m doctest calc.py", Some((Runner::Doctest, 3))),
            ("npx ava --serial", Some((Runner::Ava, 2))),
            ("python setup.py test", None),
            ("pythonw -m pytest", None),
            ("uv run pytest -q", Some((Runner::Pytest, 3))),
            ("poetry run python -m pytest", Some((Runner::Pytest, 5))),
            ("uv run --all-extras pytest", None),
            ("npx --yes jest --ci", Some((Runner::Jest, 3))),
            ("npx tsc", None),
            ("./node_modules/.bin/mocha x", Some((Runner::Mocha, 1))),
            ("pnpm exec vitest run", Some((Runner::Vitest, 3))),
            ("yarn jest", Some((Runner::Jest, 2))),
            ("node --experimental-vm-modules node_modules/jest/bin/jest.js x", Some((Runner::Jest, 3))),
            ("node --no-warnings --test x", Some((Runner::NodeTest, 3))),
            ("node jest.js", None),
            ("make test", None),
        ];
        for (line, expected) in table {
            let words: Vec<&str> = line.split(' ').collect();
            let expected = expected.map(|(runner, at)| Call::Runner(runner, at));
            assert_eq!(call(&words, &|_| false), expected, "{line}");
        }
    }

    #[test]
    fn the_compiler_of_go_runs_no_test() {
        for line in ["go build ./...", "go install .", "go vet ./..."] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(call(&words, &|_| false), Some(Call::GoCompiler(2)), "{line}");
        }
    }

    #[test]
    fn scripts_are_known_by_who_runs_them() {
        let table = [
            ("npm test", Some(("test", 2, Manager::Npm))),
            ("npm -s run unit -- -x", Some(("unit", 4, Manager::Npm))),
            ("npm --prefix x test", None),
            ("npm install", None),
            ("yarn unit", Some(("unit", 2, Manager::Other))),
            ("yarn run unit --ci", Some(("unit", 3, Manager::Other))),
            ("yarn install", None),
            ("pnpm test", Some(("test", 2, Manager::Other))),
            ("pnpm --filter x test", None),
            ("bun run unit", Some(("unit", 3, Manager::Other))),
            ("bun test", None),
        ];
        for (line, expected) in table {
            let words: Vec<&str> = line.split(' ').collect();
            let expected = expected.map(|(name, arguments, manager)| Call::Script {
                name: name.into(),
                arguments,
                manager,
            });
            assert_eq!(call(&words, &|name| ["test", "unit"].contains(&name)), expected, "{line}");
        }
    }
}
