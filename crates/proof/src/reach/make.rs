//! Makefiles and justfiles: which file is read, what it includes, and the recipes of the targets that a command asks for.
//!
//! Owns as much of their syntax as says what is run. Refuses functions and conditionals: both branches count.

use std::collections::BTreeMap;

use super::Reach;
use super::walk::{Place, find, walk_shell};
use crate::paths::{directory, join, part_matches};
use crate::tree::{Tree, text};

const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const JUSTFILES: [&str; 4] = ["justfile", ".justfile", "Justfile", "JUSTFILE"];
const TASKFILES: [&str; 6] = [
    "Taskfile.yml",
    "taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yaml",
    "Taskfile.dist.yml",
    "Taskfile.dist.yaml",
];

#[derive(Default)]
struct Rules {
    variables: BTreeMap<String, String>,
    includes: Vec<String>,
    /// Targets in the order of the file: name, prerequisites, recipe.
    targets: Vec<(String, Vec<String>, String)>,
}

pub(super) fn walk(reach: &mut Reach, base: &dyn Tree, name: &str, arguments: &[String], place: &Place) {
    let candidates: &[&str] = match name {
        "make" | "gmake" | "remake" | "$(MAKE)" | "${MAKE}" => &MAKEFILES,
        "just" => &JUSTFILES,
        "task" | "go-task" => &TASKFILES,
        _ => return,
    };
    let mut place = place.clone();
    let mut file = None;
    let mut goals = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-C" | "--directory" | "-d" => {
                let to = words.next().map(String::as_str).unwrap_or_default();
                place.directory = join(&place.directory, to).unwrap_or_default();
            }
            "-f" | "--file" | "--makefile" | "--justfile" | "-t" | "--taskfile" => {
                file = words.next().cloned()
            }
            "-j" | "-I" | "-l" | "-o" => {}
            word if word.starts_with("-f") && word.len() > 2 => file = word.get(2..).map(str::to_string),
            word if word.starts_with('-') || word.contains('=') => {}
            word if word.bytes().all(|byte| byte.is_ascii_digit()) => {}
            word => goals.push(word.to_string()),
        }
    }
    let read = match &file {
        Some(file) => find(base, &place, file),
        None => default_file(reach, base, candidates, &place, name),
    };
    let Some(path) = read else { return };
    reach.define(path.clone(), &format!("what {name} runs"));
    read_rules(reach, base, &path, &goals, &place);
}

/// The file that is read without being named; those that would be read instead of it are looked for.
fn default_file(
    reach: &mut Reach,
    base: &dyn Tree,
    candidates: &[&str],
    place: &Place,
    by: &str,
) -> Option<String> {
    for candidate in candidates {
        let path = join(&place.directory, candidate)?;
        if base.is_file(&path) {
            return Some(path);
        }
        reach.looked_for.insert(path, format!("added; {by} reads it"));
    }
    None
}

fn read_rules(reach: &mut Reach, base: &dyn Tree, path: &str, goals: &[String], place: &Place) {
    let mut rules = Rules::default();
    let mut files = vec![path.to_string()];
    let mut at = 0;
    while let Some(file) = files.get(at).cloned() {
        at += 1;
        let Some(content) = text(base, &file) else { continue };
        reach.note_text(&content);
        let known = rules.includes.len();
        parse(&content, &mut rules);
        for piece in content.split("$(shell cat ").skip(1) {
            let files = piece.split(')').next().unwrap_or_default().split_whitespace();
            for found in files.filter_map(|word| find(base, place, word)) {
                reach.define(found, &format!("read by {file}"));
            }
        }
        for include in rules.includes.iter().skip(known) {
            let here = Place { script: directory(&file).to_string(), ..place.clone() };
            match find(base, &here, include) {
                Some(found) if !files.contains(&found) && files.len() < 100 => {
                    reach.define(found.clone(), &format!("included by {file}"));
                    files.push(found);
                }
                Some(_) => {}
                None => {
                    let absent = join(&place.directory, include);
                    reach.looked_for.extend(absent.map(|path| (path, format!("added; included by {file}"))));
                }
            }
        }
    }
    let first = rules
        .targets
        .iter()
        .map(|(name, _, _)| name)
        .find(|name| !name.starts_with('.') && !name.contains('$'));
    let mut wanted: Vec<String> =
        if goals.is_empty() { first.cloned().into_iter().collect() } else { goals.to_vec() };
    let mut next = 0;
    while let Some(goal) = wanted.get(next).cloned() {
        next += 1;
        for (name, prerequisites, recipe) in &rules.targets {
            if !is_meant(name, &goal, &rules.variables)
                || !reach.visit(&format!("{path}\u{1}{}\u{1}{name}\u{1}{recipe}", place.directory))
            {
                continue;
            }
            if !recipe.trim().is_empty() && !is_phony(&rules, name) {
                made(reach, base, name, place, path);
            }
            let prerequisites = expanded(&prerequisites.join(" "), &rules.variables);
            let more =
                prerequisites.split_whitespace().filter(|name| !wanted.iter().any(|known| known == name));
            let more: Vec<String> = more.map(str::to_string).collect();
            wanted.extend(more);
            let mut inside = place.inside(path, directory(path));
            inside.variables.extend(rules.variables.clone());
            let source = prerequisites.split_whitespace().next().unwrap_or_default();
            let recipe = recipe.replace("$@", &goal).replace("$<", source).replace("$^", &prerequisites);
            walk_shell(reach, base, &expanded(&recipe, &rules.variables), &inside);
        }
    }
}

/// Whether a rule is one of those for a goal. A goal that is worked out may be any that a pattern makes.
fn is_meant(target: &str, goal: &str, variables: &BTreeMap<String, String>) -> bool {
    if target == goal {
        return true;
    }
    if target.contains('$') {
        return expanded(target, variables).split_whitespace().any(|target| target == goal);
    }
    target.contains('%') && (goal.contains('$') || part_matches(&target.replace('%', "*"), goal))
}

/// A target that is a file: if an attempt adds it, make takes it for made.
fn made(reach: &mut Reach, base: &dyn Tree, target: &str, place: &Place, by: &str) {
    let file = join(&place.directory, target).filter(|file| !base.is_file(file) && !target.contains('%'));
    reach.looked_for.extend(file.map(|file| (file, format!("added; {by} makes it"))));
}

fn is_phony(rules: &Rules, name: &str) -> bool {
    rules
        .targets
        .iter()
        .any(|(target, names, _)| target == ".PHONY" && names.iter().any(|known| known == name))
}

/// A recipe with its variables replaced, which a shell would take for substitutions.
fn expanded(recipe: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = recipe.replace("$(MAKE)", "make").replace("${MAKE}", "make").replace("$$", "$");
    // Twice, since a value may hold variables.
    for (name, value) in variables.iter().chain(variables) {
        text = text.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
    }
    // What a pattern stands for, and the files that it finds.
    text = text.replace("$*", "*").replace("${*}", "*").replace("$(*)", "*");
    for function in ["$(wildcard ", "$(sort ", "${wildcard "] {
        while let Some((before, after)) = text.split_once(function) {
            let end = if function.starts_with("${") { '}' } else { ')' };
            let (inner, behind) = after.split_once(end).unwrap_or((after, ""));
            text = format!("{before}{inner}{behind}");
        }
    }
    text
}

fn parse(content: &str, rules: &mut Rules) {
    let mut is_in_target = false;
    for line in content.replace("\\\n", " ").lines() {
        let trimmed = line.trim();
        if trimmed.starts_with('#') && !line.starts_with('\t') || trimmed.is_empty() {
            continue;
        }
        if line.starts_with([' ', '\t']) && is_in_target {
            if let Some((_, _, recipe)) = rules.targets.last_mut() {
                recipe.push_str(trimmed.trim_start_matches(['@', '-', '+', ' ']).trim_start_matches("cmds:"));
                recipe.push('\n');
            }
            continue;
        }
        let keyword = trimmed.trim_start_matches('-').trim_start_matches('s');
        if let Some(files) = keyword.strip_prefix("include ").or_else(|| trimmed.strip_prefix("import ")) {
            rules
                .includes
                .extend(files.split_whitespace().map(|file| file.trim_matches(['"', '\'']).to_string()));
            continue;
        }
        is_in_target = false;
        let assignment = trimmed
            .split_once('=')
            .filter(|(name, _)| !name.trim_end_matches([':', '?', '+', '!', ' ']).contains([':', ' ', '$']));
        if let Some((name, value)) = assignment {
            let name = name.trim_end_matches([':', '?', '+', '!', ' ']).to_string();
            rules.variables.insert(name, value.trim().to_string());
        } else if let Some((names, rest)) = trimmed.split_once(':') {
            let (prerequisites, recipe) = rest.split_once(';').unwrap_or((rest, ""));
            let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
            // A recipe of just has parameters behind its name.
            for name in words(names).into_iter().take(50) {
                rules.targets.push((name, words(prerequisites.trim_start_matches(':')), recipe.to_string()));
            }
            is_in_target = true;
        }
    }
}
