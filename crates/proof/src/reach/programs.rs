//! What programs do with their arguments: which they run, which are tests, which are settings, which they only look at.
//!
//! Owns the lists. Invariant: a program in no list runs nothing of what it is given.

/// Programs that run the command behind them; options and what these take are skipped.
pub(crate) const WRAPPERS: [&str; 24] = [
    "exec",
    "command",
    "env",
    "time",
    "nice",
    "nohup",
    "timeout",
    "sudo",
    "xvfb-run",
    "npx",
    "bunx",
    "pnpx",
    "cross-env",
    "dotenv",
    "stdbuf",
    "ionice",
    "setsid",
    "unbuffer",
    "chronic",
    "retry",
    "xargs",
    "strace",
    "catchsegv",
    "script",
];
/// Programs with a word that makes them run the command behind it.
pub(crate) const WRAPPERS_WITH_WORD: [(&str, &[&str]); 15] = [
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("pdm", &["run"]),
    ("hatch", &["run"]),
    ("rye", &["run"]),
    ("bundle", &["exec"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("mise", &["exec", "x"]),
    ("direnv", &["exec"]),
    ("coverage", &["run"]),
    ("kcov", &["run"]),
    ("bun", &["x"]),
];
pub(crate) const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "ash", "mksh"];
/// Programs whose first argument that is no option is a program.
pub(crate) const INTERPRETERS: [&str; 22] = [
    "python",
    "pypy",
    "node",
    "nodejs",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "ruby",
    "perl",
    "php",
    "lua",
    "luajit",
    "Rscript",
    "julia",
    "elixir",
    "groovy",
    "swift",
    "osascript",
    "babel-node",
    "awk",
    "expect",
];
/// Programs that take files and directories of tests.
pub(crate) const RUNNERS: [&str; 42] = [
    "pytest",
    "py.test",
    "unittest",
    "nose2",
    "nosetests",
    "trial",
    "stestr",
    "green",
    "ward",
    "behave",
    "robot",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tape",
    "tap",
    "jasmine",
    "playwright",
    "cypress",
    "uvu",
    "qunit",
    "testcafe",
    "nightwatch",
    "c8",
    "nyc",
    "bats",
    "shellspec",
    "rspec",
    "minitest",
    "cucumber",
    "prove",
    "phpunit",
    "pest",
    "paratest",
    "codecept",
    "behat",
    "busted",
    "lit",
    "kaocha",
    "doctest",
    "run-parts",
];
/// Options whose value is a file that the program loads or is set up by, of any program.
pub(crate) const LOADING_OPTIONS: [&str; 38] = [
    "--config",
    "--config-file",
    "--configfile",
    "--configuration",
    "--rcfile",
    "--rc",
    "--settings",
    "--runsettings",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--preload",
    "--setup",
    "--setup-file",
    "--setupFiles",
    "--setupFilesAfterEnv",
    "--globalSetup",
    "--globals",
    "--plugin",
    "--plugins",
    "--env-file",
    "--bootstrap",
    "--manifest-path",
    "--rulesdir",
    "--resolver",
    "--transform",
    "--reporter",
    "--reporters",
    "--testRunner",
    "--test-runner",
    "--formatter",
    "--options",
    "--opts",
    "--makefile",
    "--justfile",
    "--taskfile",
    "--import-map",
];
/// Short options of the same kind, of interpreters and test runners only.
pub(crate) const SHORT_LOADING_OPTIONS: [&str; 5] = ["-c", "-p", "-r", "-f", "-R"];
/// Names of scripts that test, though their output is piped on.
const TEST_WORDS: [&str; 14] = [
    "test", "check", "verify", "ci", "spec", "lint", "qa", "validate", "assert", "harness", "suite",
    "run_all", "selftest", "grade",
];

/// A program's name without directory and version: `python` for `/usr/bin/python3.11`.
pub(crate) fn program(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.strip_suffix(".cmd").or_else(|| name.strip_suffix(".exe")).unwrap_or(name);
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if INTERPRETERS.contains(&stem) { stem } else { name }
}

/// Whether a script's name says that it tests.
pub(crate) fn sounds_like_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let mut words = name.split(['.', '_', '-']);
    words.any(|word| {
        TEST_WORDS.iter().any(|known| word == *known || known.len() > 3 && word.starts_with(known))
    })
}

/// Whether a file's name says that outputs are compared with it.
pub(crate) fn sounds_like_expectation(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [
        "expect",
        "golden",
        "reference",
        "snapshot",
        "baseline",
        "correct",
        "want",
        "approved",
        "truth",
        "oracle",
        ".ref",
        ".exp",
        ".sha256",
        ".md5",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Whether a file is a script that can be run.
pub(crate) fn is_script(path: &str) -> bool {
    matches!(
        crate::paths::extension(path),
        "sh" | "bash"
            | "zsh"
            | "py"
            | "js"
            | "mjs"
            | "cjs"
            | "ts"
            | "rb"
            | "pl"
            | "php"
            | "lua"
            | "bats"
            | "mk"
            | "awk"
            | "jq"
            | "R"
            | "ps1"
    )
}
