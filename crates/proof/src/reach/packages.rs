//! Scripts of package managers: what `npm test`, `composer test`, `deno task` and `tox` run.
//!
//! Owns where each manager keeps its scripts. Refuses to install anything.

use serde_json::Value;

use super::Reach;
use super::walk::{Place, find, walk_shell};
use crate::paths::{directory, join, name as file_name};
use crate::tree::{Tree, text};

pub(super) fn walk(reach: &mut Reach, base: &dyn Tree, program: &str, arguments: &[String], place: &Place) {
    match program {
        "npm" | "yarn" | "pnpm" | "bun" | "npm-run-all" | "run-s" | "run-p" => {
            node(reach, base, arguments, place)
        }
        "composer" => scripts_of(reach, base, "composer.json", "scripts", arguments, place),
        "deno" => {
            for file in ["deno.json", "deno.jsonc"] {
                scripts_of(reach, base, file, "tasks", arguments, place);
            }
        }
        "tox" => lines_of(reach, base, "tox.ini", "commands", place),
        "pre-commit" => lines_of(reach, base, ".pre-commit-config.yaml", "entry:", place),
        _ => {}
    }
}

fn node(reach: &mut Reach, base: &dyn Tree, arguments: &[String], place: &Place) {
    let mut place = place.clone();
    let mut is_everywhere = false;
    for (at, word) in arguments.iter().enumerate() {
        let next = arguments.get(at + 1).map(String::as_str).unwrap_or_default();
        match word.as_str() {
            "--prefix" | "-C" | "--cwd" | "--dir" => {
                place.directory = join(&place.directory, next).unwrap_or_default()
            }
            "-r" | "--recursive" | "--workspaces" | "-ws" | "workspaces" | "-w" | "--workspace"
            | "--filter" | "-F" | "workspace" => {
                is_everywhere = true;
            }
            _ => {}
        }
    }
    scripts_of(reach, base, "package.json", "scripts", arguments, &place);
    if is_everywhere {
        let manifests: Vec<String> =
            base.files().iter().filter(|path| file_name(path) == "package.json").take(200).cloned().collect();
        for manifest in manifests.iter().filter(|path| !path.contains("node_modules/")) {
            let there = Place { directory: directory(manifest).to_string(), ..place.clone() };
            scripts_of(reach, base, "package.json", "scripts", arguments, &there);
        }
    }
}

/// The scripts whose names stand among the arguments, with those that run before and after them.
fn scripts_of(
    reach: &mut Reach,
    base: &dyn Tree,
    file: &str,
    section: &str,
    arguments: &[String],
    place: &Place,
) {
    let Some(path) = join(&place.directory, file) else { return };
    let Some(manifest) = text(base, &path).and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
        return;
    };
    let Some(Value::Object(scripts)) = manifest.get(section) else { return };
    for word in arguments {
        let word = match word.as_str() {
            "t" | "tst" => "test",
            word => word,
        };
        for name in [format!("pre{word}"), word.to_string(), format!("post{word}")] {
            let Some(script) = scripts.get(&name) else { continue };
            if !reach.visit(&format!("{path}\u{1}{name}")) {
                continue;
            }
            let lines: Vec<&str> = match script {
                Value::String(script) => vec![script],
                Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
                Value::Object(task) => task.get("command").and_then(Value::as_str).into_iter().collect(),
                Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
            };
            let inside = place.inside(&format!("script `{name}` of {path}"), &place.directory);
            for line in lines {
                let line = match line.strip_prefix("@php ") {
                    Some(rest) => format!("php {rest}"),
                    None => line.replace('@', "composer "),
                };
                walk_shell(
                    reach,
                    base,
                    if file == "composer.json" { &line } else { script.as_str().unwrap_or(&line) },
                    &inside,
                );
            }
        }
    }
}

/// Commands behind a word in a file of settings.
fn lines_of(reach: &mut Reach, base: &dyn Tree, file: &str, word: &str, place: &Place) {
    let Some(path) = find(base, place, file) else { return };
    let Some(content) = text(base, &path) else { return };
    if !reach.visit(&path) {
        return;
    }
    reach.note_text(&content);
    let inside = place.inside(&path, directory(&path));
    let mut is_within = false;
    for line in content.lines() {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.trim_start_matches("- ").strip_prefix(word) {
            is_within = true;
            walk_shell(reach, base, rest.trim_start_matches(['=', ' ', ':']), &inside);
        } else if is_within && line.starts_with([' ', '\t']) && word == "commands" {
            walk_shell(reach, base, &trimmed.replace("{posargs}", ""), &inside);
        } else {
            is_within = false;
        }
    }
}
