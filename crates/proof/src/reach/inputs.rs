//! Files that a check reads rather than names as a script: lists of arguments, rules of a judge, scripts on the input.
//!
//! Owns which of them decide. Refuses what a check may look at in order to test it: a file that is compared, or printed into a
//! comparison. Invariant: only files of the base are found.

use super::Reach;
use super::imports::is_tool;
use super::programs::{INTERPRETERS, RUNNERS, SHELLS, WRAPPERS, is_script, program, sounds_like_test};
use super::shell::Call;
use super::walk::{Place, find, load_script};
use crate::beside::is_code;
use crate::paths::{directory, extension, join, part_matches};
use crate::tree::{Tree, below};

/// Commands that look at a text, and are not told by it what to do.
const LOOKING: [&str; 19] = [
    "test", "[", "[[", "echo", "printf", "expr", "diff", "cmp", "grep", "egrep", "fgrep", "case", "return",
    "exit", "local", "export", "declare", "read", "cat",
];

/// What a command reads beside what its words say.
pub(super) fn read(reach: &mut Reach, base: &dyn Tree, call: &Call, words: &[String], place: &Place) {
    let first = words.first().map(|word| program(word)).unwrap_or_default();
    let is_looking = LOOKING.contains(&first);
    for file in &call.texts {
        let Some(path) = find(base, place, file) else { continue };
        // What is kept in a variable may be compared later.
        let is_told = if words.is_empty() { is_tool(&path) } else { !is_looking };
        if is_told {
            reach.define(path, &format!("read into a command of {}", place.by));
        }
    }
    for word in words.iter().skip(1).filter(|word| word.len() > 1) {
        if let Some(path) = word.strip_prefix('@').and_then(|file| find(base, place, file)) {
            reach.define(path, &format!("arguments of `{first}`"));
        }
    }
    patterns(reach, base, first, words, place);
    let rest: Vec<&str> = behind_wrappers(words).iter().map(String::as_str).collect();
    // `$(< file)` is no loop, `… | while read line` is one.
    let is_loop = words.is_empty() && !call.is_judged
        || first == "read" && !call.before.is_empty()
        || matches!(first, "xargs" | "mapfile" | "readarray" | "parallel");
    for file in &call.inputs {
        let Some(path) = find(base, place, file) else { continue };
        if is_loop {
            reach.define(path, &format!("read by {}", place.by));
        } else if call.is_judged && !sounds_like_test(&path) {
            // What it prints is judged: it is what is tested.
        } else if runs_input(&rest) {
            load_script(reach, base, &format!("//{path}"), place, "run by");
        } else if is_tool(&path) && !is_looking && INTERPRETERS.contains(&first) {
            reach.define(path, &format!("read by {}", place.by));
        }
    }
    let is_run = runs_words(&rest) || runs_input(&rest) && !call.before.is_empty();
    for file in &call.extracts {
        let Some(path) = find(base, place, file) else { continue };
        let is_list = is_loop && call.assignments.is_empty() && !is_code(&path);
        let is_kept = words.is_empty() && call.assignments.iter().any(|(name, _)| reach.runs_variable(name));
        if is_run && !call.is_judged || is_list || is_kept {
            reach.define(path, &format!("read into a command of {}", place.by));
        }
    }
    if !call.before.is_empty() && !call.is_judged {
        rules_of_judge(reach, base, &rest, place);
    }
    found_files(reach, base, call, words, place);
}

/// `grep -v -f file`: what is looked for, or left out.
fn patterns(reach: &mut Reach, base: &dyn Tree, name: &str, words: &[String], place: &Place) {
    if !matches!(name, "grep" | "egrep" | "fgrep" | "rg" | "sed" | "awk" | "gawk" | "mawk" | "jq" | "yq") {
        return;
    }
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('f');
    let is_long = |word: &str| {
        matches!(word, "--file" | "--from-file" | "--exclude-from" | "--ignore-file" | "--slurpfile")
    };
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map(String::as_str);
        let value = match word.split_once('=') {
            Some((option, value)) if is_long(option) => Some(value),
            _ if is_short(word) || is_long(word) => next,
            _ => word.strip_prefix("-f"),
        };
        if let Some(path) = value.and_then(|value| find(base, place, value)) {
            reach.define(path, &format!("read by `{name}` of {}", place.by));
        }
    }
}

fn behind_wrappers(words: &[String]) -> &[String] {
    let is_option = |word: &String| {
        word.starts_with('-') || word.contains('=') || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut rest = words;
    while let Some((first, behind)) = rest.split_first() {
        if !WRAPPERS.contains(&program(first)) {
            break;
        }
        let skipped = behind.iter().take_while(|word| is_option(word)).count();
        rest = behind.get(skipped..).unwrap_or_default();
    }
    rest
}

/// Whether a command runs the script that it is given on its input, or behind its words: it names none, and does not only
/// look at it, as `sh -n` does.
fn runs_input(words: &[&str]) -> bool {
    let Some((first, options)) = words.split_first() else { return false };
    let is_plain = |word: &&str| {
        matches!(
            *word,
            "-" | "-u" | "-B" | "-s" | "-E" | "-x" | "-e" | "-ex" | "-eu" | "-eux" | "-euo" | "pipefail"
        ) || word.starts_with("-I")
    };
    let (is_shell, name) = (SHELLS.contains(&program(first)), program(first));
    let evaluates = !is_shell && options.contains(&"-e");
    (is_shell || INTERPRETERS.contains(&name)) && options.iter().all(is_plain) && !evaluates
}

/// Whether a text that stands in the words of a command is run, or says what is run.
fn runs_words(words: &[&str]) -> bool {
    let Some((first, options)) = words.split_first() else { return false };
    let is_command = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let name = program(first);
    name == "eval"
        || name.starts_with("$()")
        || RUNNERS.contains(&name)
        || (SHELLS.contains(&name) || INTERPRETERS.contains(&name)) && options.iter().any(is_command)
}

/// `… | python judge.py rules`: what a script is given that judges an output.
fn rules_of_judge(reach: &mut Reach, base: &dyn Tree, words: &[&str], place: &Place) {
    let Some((first, arguments)) = words.split_first() else { return };
    let name = program(first);
    let is_script_itself =
        || find(base, place, first).is_some_and(|path| reach.definitions.contains_key(&path));
    if !INTERPRETERS.contains(&name) && !SHELLS.contains(&name) && !is_script_itself() {
        return;
    }
    let files: Vec<String> = arguments.iter().filter_map(|word| find(base, place, word)).collect();
    for path in files.into_iter().filter(|path| !is_code(path)) {
        reach.define(path, &format!("given to a script of {}", place.by));
    }
}

/// `find dir -name '*.py' | xargs python`, `find dir -exec sh {} ;`
fn found_files(reach: &mut Reach, base: &dyn Tree, call: &Call, words: &[String], place: &Place) {
    let is_find = |words: &[String]| words.first().is_some_and(|word| word == "find");
    let (search, runs) = if is_find(&call.before) && words.first().is_some_and(|word| word == "xargs") {
        (call.before.as_slice(), behind_wrappers(words))
    } else if is_find(words) {
        let at = words.iter().position(|word| word.starts_with("-exec"));
        let Some(behind) = at.and_then(|at| words.get(at + 1..)) else { return };
        (words, behind)
    } else {
        return;
    };
    let command: Vec<&str> = runs
        .iter()
        .map(String::as_str)
        .take_while(|word| !matches!(*word, "{}" | ";" | "+" | "\\;"))
        .collect();
    let is_runner = command.first().is_some_and(|word| RUNNERS.contains(&program(word)));
    if !command.is_empty() && !is_runner && !runs_input(&command) {
        return;
    }
    let directories = search.iter().skip(1).take_while(|word| !word.starts_with(['-', '(', '!']));
    let pattern = search.windows(2).find_map(|pair| match pair {
        [option, pattern] if matches!(option.as_str(), "-name" | "-iname") => Some(pattern.as_str()),
        _ => None,
    });
    for path in directories.filter_map(|word| join(&place.directory, word)) {
        let fits = |file: &&str| {
            let name = crate::paths::name(file);
            pattern.map_or(is_script(file) || extension(file).is_empty(), |glob| part_matches(glob, name))
        };
        let found: Vec<String> = below(base, &path).filter(fits).map(str::to_string).collect();
        for file in found {
            if is_runner {
                reach.tests.insert(file);
            } else {
                load_script(reach, base, &format!("//{file}"), place, "run by");
            }
        }
        let glob = join(&path, pattern.unwrap_or_default()).filter(|_| pattern.is_some() && !is_runner);
        reach.looked_for.extend(glob.map(|glob| (glob, format!("added; run by {}", place.by))));
    }
}

/// Rules and lists beside a script of a check, in a directory of tools.
pub(super) fn is_beside_tool(path: &str, place: &Place) -> bool {
    directory(path) == place.script && is_tool(path) && !is_code(path)
}
