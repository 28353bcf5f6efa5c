//! What a failing command may have left undone.
//!
//! Owns the names of compilers that list all their errors, and of programs that run steps one after another. Reads no file
//! and runs nothing. Refuses in doubt: a line that cannot be taken apart is one of steps if it may contain any.

use super::recognise::{self, Call};
use super::shell::{self, Word};
use super::{program, texts};

/// What a failure of a command may have kept from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coverage {
    /// A compiler that is called by itself: its errors keep nothing else from being compiled.
    Compiler,
    /// A program that runs steps, and was told to go on after a failure.
    KeepsGoing,
    /// Any other program.
    #[default]
    Unknown,
    /// A program whose name says that it tests or builds.
    Tests,
    /// Steps, the later of which do not run where an earlier one fails.
    Steps,
}

/// Programs that run steps, with the options with which they go on after a failure.
const BUILDERS: [(&str, &[&str]); 37] = [
    ("make", &["-k", "--keep-going", "-i", "--ignore-errors"]),
    ("gmake", &["-k", "--keep-going", "-i", "--ignore-errors"]),
    ("ninja", &[]),
    ("just", &[]),
    ("task", &[]),
    ("mage", &[]),
    ("rake", &[]),
    ("gradle", &["--continue"]),
    ("gradlew", &["--continue"]),
    ("mvn", &["-fae", "-fn", "--fail-at-end", "--fail-never"]),
    ("mvnw", &["-fae", "-fn", "--fail-at-end", "--fail-never"]),
    ("ant", &["-k", "-keep-going"]),
    ("sbt", &[]),
    ("bazel", &["-k", "--keep_going"]),
    ("bazelisk", &["-k", "--keep_going"]),
    ("buck2", &["--keep-going"]),
    ("pants", &[]),
    ("cmake", &[]),
    ("meson", &[]),
    ("scons", &["-k", "--keep-going"]),
    ("dotnet", &[]),
    ("msbuild", &[]),
    ("xcodebuild", &[]),
    ("swift", &[]),
    ("zig", &[]),
    ("cabal", &[]),
    ("stack", &["--keep-going"]),
    ("dune", &[]),
    ("mix", &[]),
    ("rebar3", &[]),
    ("tox", &[]),
    ("nox", &[]),
    ("nx", &[]),
    ("turbo", &["--continue"]),
    ("lerna", &["--no-bail"]),
    ("run-s", &["-c", "--continue-on-error"]),
    ("npm-run-all", &["-c", "--continue-on-error"]),
];

/// Commands before another one that find nothing.
const PREPARATIONS: [&str; 9] = ["cd", "export", "mkdir", ".", "source", "true", ":", "umask", "ulimit"];
/// Programs that run what follows them.
const LAUNCHERS: [&str; 9] = ["npx", "bunx", "time", "nice", "exec", "uvx", "pipx", "xvfb-run", "stdbuf"];
const INTERPRETERS: [&str; 9] = ["sh", "bash", "dash", "zsh", "python", "python3", "node", "perl", "ruby"];

pub(super) fn coverage(line: &str, scripts: &dyn Fn(&str) -> Option<String>) -> Coverage {
    if behind_javac(line).is_some() { Coverage::Compiler } else { nested(line, scripts, 3) }
}

/// Whether a line does nothing but build the library or the program of one package with cargo.
pub(super) fn builds_one_package(line: &str) -> bool {
    let words = shell::commands(line).and_then(|commands| {
        let (last, before) = commands.split_last()?;
        let words = before.is_empty().then(|| program(last)).flatten()?;
        Some(words.iter().map(|word| word.text.clone()).collect::<Vec<_>>())
    });
    let Some(words) = words.filter(|words| words.first().is_some_and(|word| base_name(word) == "cargo"))
    else {
        return false;
    };
    let own: Vec<&str> = words.iter().skip(1).map(String::as_str).take_while(|word| *word != "--").collect();
    let others =
        ["all", "target", "test", "bench", "example", "workspace", "bin", "package", "manifest-path"];
    let is_other =
        |word: &&str| word.strip_prefix("--").is_some_and(|name| others.iter().any(|o| name.starts_with(o)));
    let command = own.iter().find(|word| !word.starts_with(['-', '+']));
    let builds = command.is_some_and(|word| matches!(*word, "build" | "b" | "check" | "c" | "clippy"));
    builds && !own.iter().any(|word| is_other(word) || *word == "-p")
}

/// The position behind the name of the compiler, if the line does nothing but call `javac`.
pub(super) fn behind_javac(line: &str) -> Option<usize> {
    let commands = shell::commands(line)?;
    let (last, before) = commands.split_last()?;
    let word = program(last)?.first()?;
    (before.iter().all(|command| is_preparation(command)) && base_name(&word.text) == "javac")
        .then_some(word.place.end)
}

fn nested(line: &str, scripts: &dyn Fn(&str) -> Option<String>, depth: u8) -> Coverage {
    let Some(commands) = shell::commands(line).filter(|_| depth > 0) else { return of_any_line(line) };
    let mut others = commands.iter().filter(|command| !is_preparation(command));
    let (Some(command), None) = (others.next(), others.next()) else { return Coverage::Steps };
    let Some(words) = program(command) else { return Coverage::Unknown };
    let words = texts(words);
    if let [shell, "-c", inner] | [shell, "-ec", inner] = words.as_slice()
        && INTERPRETERS.iter().take(4).any(|name| base_name(shell) == *name)
    {
        return nested(inner, scripts, depth - 1);
    }
    if let Some(Call::Script { name, .. }) = recognise::call(&words, &|name| scripts(name).is_some()) {
        return scripts(&name).map_or(Coverage::Unknown, |script| nested(&script, scripts, depth - 1));
    }
    of_words(&words)
}

/// A line with pipes, groups or anything else that is not taken apart.
fn of_any_line(line: &str) -> Coverage {
    let mut words = line.split(|letter: char| letter.is_whitespace() || ";|&()'\"".contains(letter));
    let has_steps =
        line.contains("&&") || line.contains("||") || line.contains("set -e") || line.contains(';');
    let is_builder =
        |word: &str| BUILDERS.iter().any(|(name, _)| base_name(word) == *name) || word == "cargo";
    let is_cut = |word: &str| matches!(base_name(word), "head" | "tail" | "grep" | "sed" | "awk");
    if has_steps || words.any(|word| is_builder(word) || is_cut(word)) {
        Coverage::Steps
    } else {
        Coverage::Unknown
    }
}

fn is_preparation(command: &[Word]) -> bool {
    let is_of = |word: &Word| PREPARATIONS.contains(&word.text.as_str());
    program(command).is_none_or(|words| words.first().is_some_and(is_of))
}

fn of_words(words: &[&str]) -> Coverage {
    let Some((name, rest)) = words.split_first() else { return Coverage::Unknown };
    let name = base_name(name);
    if LAUNCHERS.contains(&name) {
        let options = rest.iter().take_while(|word| word.starts_with('-')).count();
        return of_words(rest.get(options..).unwrap_or_default());
    }
    if matches!(name, "uv" | "poetry" | "pdm" | "pipenv" | "rye" | "bundle") {
        return of_words(rest.get(1..).unwrap_or_default());
    }
    if let Some((_, options)) = BUILDERS.iter().find(|(builder, _)| *builder == name) {
        let goes_on = rest.iter().any(|word| options.contains(word));
        return if goes_on { Coverage::KeepsGoing } else { Coverage::Steps };
    }
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
    match name {
        "cargo" => of_cargo(rest),
        "go" => match rest.first() {
            Some(&"vet" | &"build") => of_go(rest),
            _ => Coverage::Unknown,
        },
        "tsc" | "vue-tsc" if has(&["-b", "--build"]) => Coverage::Steps,
        "tsc" | "vue-tsc" | "rustc" => Coverage::Compiler,
        // Unless it is told otherwise, it does not analyse what follows from a type that it does not know.
        "javac" => Coverage::Steps,
        _ if is_c_compiler(name) => {
            let only_compiles = has(&["-c", "-S", "-fsyntax-only"]);
            // Warnings of later passes are not printed where an earlier pass found an error.
            let is_limited = |word: &&str| {
                ["-Werror", "-Wfatal-errors", "-fmax-errors", "-ferror-limit"]
                    .iter()
                    .any(|option| word.starts_with(option) && *word != "-ferror-limit=0")
            };
            if only_compiles && !rest.iter().any(is_limited) { Coverage::Compiler } else { Coverage::Steps }
        }
        _ => of_script(name, rest),
    }
}

/// Cargo does not come to what needs a crate that failed.
fn of_cargo(rest: &[&str]) -> Coverage {
    let command = rest.iter().find(|word| !word.starts_with(['-', '+']));
    match command {
        Some(&"fmt" | &"deny" | &"audit" | &"machete" | &"udeps" | &"outdated") => Coverage::Unknown,
        Some(_) | None => Coverage::Steps,
    }
}

/// An error keeps go from what imports the package, unless it is the only one that was asked for. `go vet` goes on after
/// what it finds itself.
fn of_go(rest: &[&str]) -> Coverage {
    let mut is_value = false;
    let mut packages = rest.iter().skip(1).filter(|word| {
        let is_argument = !is_value && !word.starts_with('-');
        is_value = matches!(**word, "-o" | "-C" | "-p" | "-tags" | "-mod" | "-gcflags" | "-ldflags");
        is_argument
    });
    match rest.first() {
        _ if packages.all(|word| *word == ".") => Coverage::Compiler,
        Some(&"vet") => Coverage::Unknown,
        Some(_) | None => Coverage::Steps,
    }
}

fn is_c_compiler(name: &str) -> bool {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let plain = plain.strip_suffix('-').unwrap_or(plain);
    matches!(plain, "gcc" | "cc" | "g++" | "c++" | "clang" | "clang++")
        || plain.ends_with("-gcc")
        || plain.ends_with("-g++")
}

/// A program or the script of an interpreter, by its name.
fn of_script(name: &str, rest: &[&str]) -> Coverage {
    let is_interpreter = INTERPRETERS
        .contains(&name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'));
    let script = rest.iter().find(|word| !word.starts_with('-')).filter(|_| is_interpreter);
    let name = base_name(script.unwrap_or(&name));
    let mut parts = name.split(|letter: char| !letter.is_alphanumeric());
    let says = |part: &str| {
        let part = part.to_ascii_lowercase();
        ["test", "spec", "build", "compile"].iter().any(|word| part.contains(word))
    };
    if parts.any(says) { Coverage::Tests } else { Coverage::Unknown }
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_say_what_a_failure_may_hide() {
        let scripts = |name: &str| match name {
            "lint" => Some("eslint .".to_string()),
            "all" => Some("eslint . && tsc --noEmit".to_string()),
            "types" => Some("tsc --noEmit".to_string()),
            _ => None,
        };
        for (line, expected) in [
            ("flake8 src tests", Coverage::Unknown),
            ("cd backend && flake8", Coverage::Unknown),
            ("flake8 && mypy .", Coverage::Steps),
            ("flake8; mypy .", Coverage::Steps),
            ("bash -c 'flake8 && mypy .'", Coverage::Steps),
            ("mypy . | head -20", Coverage::Steps),
            ("mypy . 2>&1", Coverage::Unknown),
            ("npm run lint", Coverage::Unknown),
            ("npm run all", Coverage::Steps),
            ("npm run -s types", Coverage::Compiler),
            ("npx tsc --noEmit", Coverage::Compiler),
            ("tsc -b", Coverage::Steps),
            ("gcc -c a.c", Coverage::Compiler),
            ("clang-17 -ferror-limit=0 -fsyntax-only a.c", Coverage::Compiler),
            ("gcc -c -Werror a.c", Coverage::Steps),
            ("gcc -o a a.c", Coverage::Steps),
            ("LC_ALL=C javac -d out A.java", Coverage::Compiler),
            ("sh -c 'javac -d out A.java'", Coverage::Steps),
            ("make lint", Coverage::Steps),
            ("make -k lint", Coverage::KeepsGoing),
            ("./gradlew check", Coverage::Steps),
            ("cargo clippy", Coverage::Steps),
            ("cargo fmt --check", Coverage::Unknown),
            ("go vet ./...", Coverage::Unknown),
            ("go vet", Coverage::Compiler),
            ("go build -o /dev/null .", Coverage::Compiler),
            ("go build ./...", Coverage::Steps),
            ("./check.sh", Coverage::Unknown),
            ("./run-tests.sh", Coverage::Tests),
            ("sh scripts/build.sh", Coverage::Tests),
            ("python3.11 check_records.py tests", Coverage::Unknown),
            ("uv run ruff check", Coverage::Unknown),
        ] {
            assert_eq!(coverage(line, &scripts), expected, "{line}");
        }
    }

    #[test]
    fn only_a_plain_call_of_javac_is_changed() {
        assert_eq!(behind_javac("cd a && javac -d out A.java"), Some(13));
        assert_eq!(behind_javac("javac A.java && java A"), None);
        assert_eq!(behind_javac("javac A.java | cat"), None);
    }

    #[test]
    fn one_package_is_told_from_several() {
        for (line, expected) in [
            ("cargo clippy -- -D warnings", true),
            ("cargo +nightly build --locked", true),
            ("cargo clippy --all-targets", false),
            ("cargo check -p a", false),
            ("cargo build && ./run", false),
            ("cargo test", false),
        ] {
            assert_eq!(builds_one_package(line), expected, "{line}");
        }
    }
}
