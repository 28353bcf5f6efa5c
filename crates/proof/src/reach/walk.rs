//! The walk through commands and scripts.
//!
//! Owns what becomes of each simple command: its program, the files it is given, the directory it changes to. Refuses to
//! expand more than plain variables.

use std::collections::BTreeMap;

use super::arguments::{
    cargo, compare, for_loop, glob_fits, go_run, guard, interpreter, nox, test_arguments,
};
use super::programs::{
    INTERPRETERS, LOADING_OPTIONS, RUNNERS, SHELLS, SHORT_LOADING_OPTIONS, WRAPPERS, WRAPPERS_WITH_WORD,
    is_script, program, sounds_like_expectation, sounds_like_test,
};
use super::shell::{Call, calls};
use super::shell_functions::only_defines;
use super::{Reach, imports, inputs, make, packages};
use crate::CheckCommand;
use crate::paths::{directory, extension, join};
use crate::tree::{Tree, text};

const MAX_DEPTH: usize = 10;

/// Where a command stands.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The directory it runs in, as far as that is known.
    pub(super) directory: String,
    /// The directory of the script it stands in.
    pub(super) script: String,
    /// Zero for a check's own command.
    pub(super) depth: usize,
    /// Who runs it, for people.
    pub(super) by: String,
    pub(super) variables: BTreeMap<String, String>,
}

impl Place {
    pub(super) fn inside(&self, by: &str, script: &str) -> Self {
        Self { depth: self.depth + 1, by: by.to_string(), script: script.to_string(), ..self.clone() }
    }
}

pub(super) fn walk_command(reach: &mut Reach, base: &dyn Tree, check: &CheckCommand) {
    let start = join("", &check.directory).unwrap_or_default();
    reach.import_roots.insert(start.clone());
    let place = Place {
        script: start.clone(),
        directory: start,
        depth: 0,
        by: "the check".to_string(),
        variables: BTreeMap::new(),
    };
    walk_shell(reach, base, &check.command, &place);
}

pub(super) fn walk_shell(reach: &mut Reach, base: &dyn Tree, script: &str, place: &Place) {
    if place.depth > MAX_DEPTH {
        return;
    }
    reach.note_text(script);
    let script = with_own_directory(script, &place.script);
    let mut place = place.clone();
    let calls = calls(&script);
    let outputs: Vec<String> = calls.iter().flat_map(|call| call.outputs.clone()).collect();
    for call in &calls {
        walk_call(reach, base, call, &mut place, &outputs);
    }
}

/// The ways in which a script names its own directory, as a path from the root.
fn with_own_directory(script: &str, own: &str) -> String {
    let here = format!("//{}", if own.is_empty() { "." } else { own });
    let mut text = script.to_string();
    for name in [
        "\"$0\"",
        "$0",
        "\"${0}\"",
        "\"${BASH_SOURCE[0]}\"",
        "${BASH_SOURCE[0]}",
        "\"$BASH_SOURCE\"",
        "$BASH_SOURCE",
    ] {
        for option in ["", "-- "] {
            text = text.replace(&format!("$(dirname {option}{name})"), &here);
            text = text.replace(&format!("`dirname {option}{name}`"), &here);
        }
    }
    for (form, path) in [
        ("${0%/*}", here.as_str()),
        ("${BASH_SOURCE%/*}", &here),
        ("$(git rev-parse --show-toplevel)", "//."),
    ] {
        text = text.replace(form, path);
    }
    for quoted in [format!("$(cd \"{here}\" && pwd)"), format!("$(cd {here} && pwd)")] {
        text = text.replace(&quoted, &here);
    }
    text.replace(&format!("$(cd \"{here}\" >/dev/null && pwd)"), &here)
}

fn expanded(word: &str, variables: &BTreeMap<String, String>) -> String {
    if !word.contains('$') {
        return word.to_string();
    }
    let mut text = word.to_string();
    for (name, value) in variables.iter().rev() {
        text = text.replace(&format!("${{{name}}}"), value).replace(&format!("$({name})"), value);
        text = text.replace(&format!("${name}"), value);
    }
    text.replace("$PWD/", "").replace("${PWD}/", "").replace("$()/", "")
}

fn walk_call(reach: &mut Reach, base: &dyn Tree, call: &Call, place: &mut Place, outputs: &[String]) {
    for (name, value) in &call.assignments {
        let value = expanded(value, &place.variables);
        assign(reach, base, place, name, &value);
        if call.words.is_empty() {
            place.variables.insert(name.clone(), value);
        }
    }
    let words: Vec<String> = call.words.iter().map(|word| expanded(word, &place.variables)).collect();
    run(reach, base, &words, place, call.is_judged, outputs);
    inputs::read(reach, base, call, &words, place);
}

/// Variables that say where programs and modules are looked for, or what is loaded.
fn assign(reach: &mut Reach, base: &dyn Tree, place: &Place, name: &str, value: &str) {
    let directories = || value.split(':').filter_map(|part| join(&place.directory, part)).collect::<Vec<_>>();
    match name {
        "PATH" => reach.program_directories.extend(directories()),
        "PYTHONPATH" | "NODE_PATH" | "RUBYLIB" | "PERL5LIB" | "GOPATH" | "LUA_PATH" => {
            reach.import_roots.extend(directories());
        }
        "NODE_OPTIONS" | "PYTEST_ADDOPTS" | "RUBYOPT" | "PYTEST_PLUGINS" | "BASH_ENV" | "ENV"
        | "MAKEFILES" | "PYTHONSTARTUP" | "PERL5OPT" => {
            for word in value.split([' ', ',', '=', ':']) {
                define_if_there(reach, base, place, word.trim_start_matches("-r"), name);
                module(reach, base, place, word, name);
            }
        }
        _ => {}
    }
}

pub(super) fn run(
    reach: &mut Reach,
    base: &dyn Tree,
    words: &[String],
    place: &mut Place,
    is_judged: bool,
    outputs: &[String],
) {
    let Some((first, arguments)) = words.split_first() else { return };
    let name = program(first);
    if !first.contains('/') || first.contains(".bin/") {
        reach.programs.insert(crate::paths::name(first).to_string());
    }
    if builtin(reach, base, name, arguments, place, outputs) {
        return;
    }
    if let Some(behind) = behind_wrapper(name, arguments) {
        return run(reach, base, behind, place, is_judged, outputs);
    }
    loaded_by_options(reach, base, name, arguments, place);
    make::walk(reach, base, name, arguments, place);
    packages::walk(reach, base, name, arguments, place);
    if SHELLS.contains(&name) {
        return shell(reach, base, arguments, place, is_judged);
    }
    if RUNNERS.contains(&name) {
        if first.contains('/') {
            // A runner in the repository, as `bin/rspec`.
            define_if_there(reach, base, place, first, &place.by);
        }
        return test_arguments(reach, base, arguments, place);
    }
    if INTERPRETERS.contains(&name) {
        return interpreter(reach, base, name, arguments, place, is_judged);
    }
    match name {
        "go" if arguments.first().is_some_and(|word| word == "run") => {
            go_run(reach, base, arguments, place, is_judged)
        }
        "cargo" => cargo(reach, base, arguments, place, is_judged),
        "nox" => nox(reach, base, place),
        _ if first.contains('/') || base.is_file(&join(&place.directory, first).unwrap_or_default()) => {
            start_script(reach, base, first, place, is_judged);
        }
        _ => {
            // An unknown program may start a known one.
            let is_known =
                |word: &String| RUNNERS.contains(&program(word)) || SHELLS.contains(&program(word));
            if let Some(at) = arguments.iter().position(is_known) {
                run(reach, base, arguments.get(at..).unwrap_or_default(), place, is_judged, outputs);
            }
        }
    }
}

/// Commands of the shell itself, and comparisons; whether it is one.
fn builtin(
    reach: &mut Reach,
    base: &dyn Tree,
    name: &str,
    arguments: &[String],
    place: &mut Place,
    outputs: &[String],
) -> bool {
    match name {
        "cd" | "pushd" => {
            let target =
                arguments.iter().find(|word| !word.starts_with('-')).map(String::as_str).unwrap_or_default();
            place.directory = join(&place.directory, target).unwrap_or_default();
        }
        "export" | "declare" | "local" | "readonly" => {
            for (name, value) in arguments.iter().filter_map(|word| word.split_once('=')) {
                assign(reach, base, place, name, value);
                place.variables.insert(name.to_string(), value.to_string());
            }
        }
        "for" => for_loop(reach, base, arguments, place),
        "eval" => {
            walk_shell(reach, base, &arguments.join(" "), &place.inside(&place.by.clone(), &place.script));
        }
        "." | "source" => {
            if let Some(file) = arguments.first() {
                load_script(reach, base, file, place, "sourced by");
            }
        }
        "test" | "[" | "[[" => guard(reach, base, arguments, place),
        "diff" | "cmp" | "comm" | "sha256sum" | "md5sum" => {
            compare(reach, base, arguments, place, outputs);
        }
        _ => return false,
    }
    true
}

/// The command behind a wrapper, without the wrapper's options.
fn behind_wrapper<'a>(name: &str, arguments: &'a [String]) -> Option<&'a [String]> {
    let with_word = WRAPPERS_WITH_WORD.iter().find(|(wrapper, words)| {
        *wrapper == name && arguments.first().is_some_and(|word| words.contains(&word.as_str()))
    });
    if !WRAPPERS.contains(&name) && with_word.is_none() {
        return None;
    }
    let skipped = usize::from(with_word.is_some());
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let rest = arguments.get(skipped..)?;
    // `coverage run -m pytest` is `python -m pytest`.
    if with_word.is_some_and(|(wrapper, _)| *wrapper == "coverage") {
        let at = rest.iter().position(|word| word == "-m" || !word.starts_with('-'))?;
        let behind = rest.get(at..)?;
        return if behind.first().is_some_and(|word| word == "-m") { behind.get(1..) } else { Some(behind) };
    }
    let at = rest.iter().position(|word| {
        !word.starts_with('-') && !is_number(word) && (!word.contains('=') || word.contains('/'))
    })?;
    rest.get(at..)
}

/// A file as a command names it: from its directory, else from its script's, else from the root.
pub(super) fn find(base: &dyn Tree, place: &Place, word: &str) -> Option<String> {
    let word = word.trim_end_matches(['"', '\'', ',', ')']).trim_start_matches(['"', '\'', '@']);
    // A script may have changed its directory in ways that are not followed; a check's own command has not.
    let elsewhere: &[&str] = if place.depth == 0 { &[] } else { &[&place.script, ""] };
    let candidates = std::iter::once(place.directory.as_str()).chain(elsewhere.iter().copied());
    let candidates = candidates.map(|directory| join(directory, word));
    candidates.flatten().find(|path| !path.is_empty() && base.is_file(path))
}

pub(super) fn define_if_there(reach: &mut Reach, base: &dyn Tree, place: &Place, word: &str, by: &str) {
    let endings = ["", ".js", ".cjs", ".mjs", ".ts", ".rb", ".py", ".json", "/index.js", "/index.ts"];
    let found = endings.iter().find_map(|ending| find(base, place, &format!("{word}{ending}")));
    if let (false, Some(path)) = (word.is_empty(), found) {
        reach.define(path, &format!("loaded by {by}"));
    }
}

/// A Python module by its dotted name.
pub(super) fn module(
    reach: &mut Reach,
    base: &dyn Tree,
    place: &Place,
    dotted: &str,
    by: &str,
) -> Option<String> {
    let path = dotted.replace('.', "/");
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    if dotted.is_empty() || !dotted.chars().all(is_name) {
        return None;
    }
    let forms = [
        format!("{path}.py"),
        format!("{path}/__main__.py"),
        format!("{path}/__init__.py"),
        format!("src/{path}.py"),
    ];
    let found = forms.iter().find_map(|form| find(base, place, form))?;
    reach.define(found.clone(), &format!("loaded by {by}"));
    Some(found)
}

/// Values of options that name what a program loads.
fn loaded_by_options(reach: &mut Reach, base: &dyn Tree, name: &str, arguments: &[String], place: &Place) {
    let is_runner = RUNNERS.contains(&name) || INTERPRETERS.contains(&name);
    let by = format!("`{name}`");
    for (at, word) in arguments.iter().enumerate() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value.to_string())),
            None => (word.as_str(), arguments.get(at + 1).cloned()),
        };
        let glued =
            word.strip_prefix("-r").or_else(|| word.strip_prefix("-p")).or_else(|| word.strip_prefix("-c"));
        let is_loading =
            LOADING_OPTIONS.contains(&option) || is_runner && SHORT_LOADING_OPTIONS.contains(&option);
        let value = match glued {
            Some(glued) if is_runner && !glued.is_empty() && !word.starts_with("--") => {
                Some(glued.to_string())
            }
            _ if is_loading => value,
            _ => None,
        };
        let Some(value) = value else { continue };
        define_if_there(reach, base, place, &value, &by);
        if matches!(option, "-p" | "--plugin" | "--plugins") || word.starts_with("-p") {
            module(reach, base, place, &value, &by);
        }
    }
}

fn shell(reach: &mut Reach, base: &dyn Tree, arguments: &[String], place: &Place, is_judged: bool) {
    let command = arguments
        .iter()
        .position(|word| word.starts_with('-') && word.ends_with('c') && !word.starts_with("--"));
    if let Some(text) = command.and_then(|at| arguments.get(at + 1)) {
        walk_shell(
            reach,
            base,
            text,
            &Place { depth: place.depth, ..place.inside(&place.by, &place.script) },
        );
    } else if let Some(file) = arguments.iter().find(|word| !word.starts_with(['-', '+'])) {
        start_script(reach, base, file, place, is_judged);
    }
}

/// A script that is started: it decides, unless it is what is tested.
pub(super) fn start_script(reach: &mut Reach, base: &dyn Tree, word: &str, place: &Place, is_judged: bool) {
    match find(base, place, word) {
        Some(path) if is_judged && !sounds_like_test(&path) => drop(path),
        Some(_) => load_script(reach, base, word, place, "run by"),
        None => {
            let (glob, found) = fitting(base, place, word);
            for file in found.iter().filter(|file| !is_judged || sounds_like_test(file)) {
                load_script(reach, base, &format!("//{file}"), place, "run by");
            }
            if found.iter().any(|file| reach.definitions.contains_key(file)) {
                reach.looked_for.insert(glob, format!("added; run by {}", place.by));
            } else {
                reach.named.extend(join(&place.directory, word).filter(|_| place.depth == 0));
            }
        }
    }
}

/// The scripts that a word may mean of which a part is put in when it runs: `steps/$name.py`. Its directory must be known.
fn fitting(base: &dyn Tree, place: &Place, word: &str) -> (String, Vec<String>) {
    let mut stars = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let behind = match after.chars().next() {
            Some('{') => after.split_once('}').map_or("", |(_, behind)| behind),
            Some('(') => after.split_once(')').map_or("", |(_, behind)| behind),
            _ => after.trim_start_matches(is_name),
        };
        stars.push_str(&format!("{before}*"));
        rest = behind;
    }
    stars.push_str(rest);
    let known = stars.split_once('*').and_then(|(before, _)| before.rsplit_once('/'));
    let globs = [place.directory.as_str(), &place.script].map(|root| join(root, &stars));
    for glob in globs.into_iter().flatten().filter(|_| known.is_some()) {
        let fits = |file: &&String| is_script(file) && glob_fits(&glob, file);
        let found: Vec<String> = base.files().iter().filter(fits).cloned().collect();
        if !found.is_empty() {
            return (glob, found);
        }
    }
    (String::new(), Vec::new())
}

pub(super) fn load_script(reach: &mut Reach, base: &dyn Tree, word: &str, place: &Place, how: &str) {
    let Some(path) = find(base, place, word) else {
        let (_, found) = if word.contains('$') { fitting(base, place, word) } else { Default::default() };
        for file in &found {
            load_script(reach, base, &format!("//{file}"), place, how);
        }
        if how == "sourced by" && !word.contains('$') {
            let absent = join(&place.directory, word);
            reach.looked_for.extend(absent.map(|path| (path, format!("added; {how} {}", place.by))));
        }
        return;
    };
    let may_be_tested = place.depth > 0 && how != "loaded by" || how == "sourced by";
    if may_be_tested && is_tested(base, &path, place, how) {
        reach.tested.insert(path);
        return;
    }
    reach.define(path.clone(), &format!("{how} {}", place.by));
    if !reach.visit(&path) {
        return;
    }
    let Some(content) = text(base, &path) else { return };
    let inside = place.inside(&path, directory(&path));
    let first = content.lines().next().unwrap_or_default();
    let is_shell = first.starts_with("#!")
        && first.split(['/', ' ']).any(|word| SHELLS.contains(&program(word)))
        || matches!(extension(&path), "sh" | "bash" | "zsh" | "ksh" | "")
        || how == "sourced by";
    if is_shell {
        walk_shell(reach, base, &content, &inside);
    } else {
        quoted_files(reach, base, &content, &inside);
        imports::follow(reach, base, &path, &content, &inside);
    }
}

/// Whether a script loads a file in order to test it. What is sourced is tested if it only defines functions, and none that
/// judges. What is run is tested if it is with the sources of the product and the script is not, or the script is with the
/// tests and the file is not.
fn is_tested(base: &dyn Tree, path: &str, place: &Place, how: &str) -> bool {
    let is_source =
        |part: &str| matches!(part, "src" | "source" | "app" | "apps" | "pkg" | "internal" | "cmd" | "core");
    let is_test = |part: &str| matches!(part, "tests" | "test" | "spec" | "specs" | "__tests__" | "t");
    let has = |directory: &str, is: &dyn Fn(&str) -> bool| directory.split('/').any(is);
    let (own, script) = (directory(path), place.script.as_str());
    if sounds_like_test(path) || has(own, &is_test) {
        return false;
    }
    if how == "sourced by" {
        let is_beside = own == script && !own.is_empty() && !has(own, &is_source);
        let content = text(base, path).unwrap_or_default();
        return !is_beside && only_defines(&content);
    }
    has(own, &is_source) && !has(script, &is_source) || has(script, &is_test)
}

/// Scripts and expectations that another language's script names in quotes.
fn quoted_files(reach: &mut Reach, base: &dyn Tree, content: &str, place: &Place) {
    reach.note_text(content);
    for piece in content.split(['"', '\'', '`']) {
        if piece.len() > 200 || piece.contains(['\n', ' ']) {
            continue;
        }
        let Some(path) = find(base, place, piece) else { continue };
        if sounds_like_expectation(&path) {
            reach.define(path, &format!("compared by {}", place.by));
        } else if inputs::is_beside_tool(&path, place) {
            reach.define(path, &format!("read by {}", place.by));
        } else if matches!(extension(&path), "sh" | "bash" | "mk")
            || is_script(&path) && sounds_like_test(&path)
        {
            load_script(reach, base, piece, place, "run by");
        }
    }
}
