//! What settings of runners, and the scripts of a check, load and run, transitively.
//!
//! Owns the walk from each file that decides to the files it loads: imports, keys of settings, names out of constant parts,
//! directories that are listed and run. Whether such a file decides, too, depends on who loads it: settings are about
//! nothing, while what prepares or runs tests loads the product as well. Invariant: what product claims stays product.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::claims::{Claims, has_only_values, is_prepared, is_shown, is_source, prepares};
use super::imports::{imported, is_tool};
use super::programs::{is_script, sounds_like_test};
use super::walk::Place;
use super::{Reach, configs, dynamic};
use crate::ChangeKind;
use crate::beside::{is_code, judges};
use crate::manifests::is_manifest;
use crate::paths::{directory, extension, join, name, stem};
use crate::tables::Tables;
use crate::tree::{Tree, text};

/// What a file that decides does with what it loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loads {
    /// It is set up by it.
    Settings,
    /// It prepares the tests with it.
    Preparation,
    /// It tests with it.
    Script,
}

/// Keys of settings whose values are files or modules that are loaded.
const KEYS: [&str; 15] = [
    "extends",
    "extend",
    "preset",
    "presets",
    "plugins",
    "plugin",
    "load-plugins",
    "load_plugins",
    "inherit_from",
    "includes",
    "inherit",
    "file",
    "rulesDirectory",
    "ref",
    "jsPlugins",
];
const MOST_FILES: usize = 500;
const MOST_PASSES: usize = 4;

/// All that is loaded by what decides.
pub(super) fn follow(reach: &mut Reach, base: &dyn Tree) {
    let tables = Tables::new(&|program| reach.mentions(program));
    let programs =
        ["rake", "nox", "gulp", "grunt"].into_iter().filter(|program| reach.mentions(program)).collect();
    let mut walk = Walk { base, tables: &tables, claims: OnceCell::new(), kinds: BTreeMap::new(), programs };
    let settings = walk.settings();
    // What was claimed by a file that turned out to decide is claimed no longer.
    for _ in 0..MOST_PASSES {
        let known = reach.definitions.len();
        walk.pass(reach, &settings);
        if reach.definitions.len() == known {
            return;
        }
    }
}

struct Walk<'a> {
    base: &'a dyn Tree,
    tables: &'a Tables,
    claims: OnceCell<Claims>,
    kinds: BTreeMap<String, Loads>,
    /// The programs whose files are scripts of checks only if a check mentions them.
    programs: Vec<&'static str>,
}

impl Walk<'_> {
    fn claims(&self) -> &Claims {
        self.claims.get_or_init(|| Claims::new(self.base, self.tables))
    }

    fn pass(&mut self, reach: &mut Reach, settings: &[(String, Loads)]) {
        let mut queue = settings.to_vec();
        let mut seen = BTreeSet::new();
        loop {
            queue.extend(self.reached(reach, &seen));
            let Some((path, loads)) = queue.pop() else { return };
            if seen.len() < MOST_FILES && seen.insert(path.clone()) {
                self.kinds.insert(path.clone(), loads);
                queue.extend(self.file(reach, &path, loads));
            }
        }
    }

    /// Settings by their names, and tests that prepare others.
    fn settings(&self) -> Vec<(String, Loads)> {
        let is_near = |path: &&String| {
            let is_installed = ["node_modules", "vendor", ".yarn", "__pycache__"];
            path.matches('/').count() < 5 && !path.split('/').any(|part| is_installed.contains(&part))
        };
        let loads = |path: &String| {
            let is_file = |path: &str| self.base.is_file(path);
            let is_test = || is_code(path) && self.tables.test(path, ChangeKind::Modified).is_some();
            let is_run = || needed_program(path).is_none_or(|program| self.programs.contains(&program));
            let is_manifest = || matches!(name(path), "package.json" | "pyproject.toml" | "setup.cfg");
            if self.tables.definition(path, ChangeKind::Modified, &is_file).is_some() || is_manifest() {
                is_run().then(|| by_name(path))
            } else {
                (is_test() && prepares(path)).then_some(Loads::Preparation)
            }
        };
        let near = self.base.files().iter().filter(is_near);
        near.filter_map(|path| Some((path.clone(), loads(path)?))).take(MOST_FILES / 2).collect()
    }

    /// Code that is known to decide and was not looked at.
    fn reached(&self, reach: &Reach, seen: &BTreeSet<String>) -> Vec<(String, Loads)> {
        if seen.len() >= MOST_FILES {
            return Vec::new();
        }
        let is_new = |path: &&String| is_code(path) && !seen.contains(*path);
        let kind = |path: &String| {
            let known = self.kinds.get(path).copied();
            (path.clone(), known.unwrap_or_else(|| self.kind(path, reach.definitions.get(path))))
        };
        reach.definitions.keys().filter(is_new).map(kind).collect()
    }

    fn kind(&self, path: &str, why: Option<&String>) -> Loads {
        let by = why.and_then(|why| why.strip_prefix("loaded by ")).unwrap_or_default();
        let is_settings =
            || is_manifest(by) || self.tables.definition(by, ChangeKind::Modified, &|_| true).is_some();
        if let Some(loads) = self.kinds.get(by) {
            return *loads;
        }
        if by.starts_with('`') && sounds_like_settings(path) {
            Loads::Settings
        } else if by.starts_with('`')
            || by.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') && !by.is_empty()
            || is_settings()
        {
            Loads::Preparation
        } else {
            Loads::Script
        }
    }

    /// What a file loads that decides with it.
    fn file(&self, reach: &mut Reach, path: &str, loads: Loads) -> Vec<(String, Loads)> {
        let Some(content) = text(self.base, path) else { return Vec::new() };
        let mut loaded = imported(self.base, reach, path, &content);
        if loads == Loads::Settings {
            loaded.extend(self.named_by_keys(path, &content));
            if !is_manifest(path) && reach.definitions.contains_key(path) {
                configs::read_file(reach, self.base, &content, &settings_place(path));
            }
        }
        loaded.retain(|file| file != path && !is_manifest(file));
        let mut found = Vec::new();
        for file in loaded.iter().filter(|file| !reach.definitions.contains_key(*file)) {
            if self.decides(reach, file, loads, &loaded) {
                found.push((file.clone(), format!("loaded by {path}")));
            }
        }
        if loads == Loads::Script && !matches!(extension(path), "sh" | "bash" | "zsh" | "bats") {
            found.extend(self.run(reach, path, &content));
        }
        for (file, why) in &found {
            reach.define(file.clone(), why);
        }
        found.into_iter().map(|(file, _)| (file, loads)).collect()
    }

    /// Files and modules behind the keys of settings.
    fn named_by_keys(&self, path: &str, content: &str) -> Vec<String> {
        let is_of_file = |key: &&&str| match **key {
            "includes" => extension(path) == "neon",
            "ref" => extension(path) == "xml",
            "file" => name(path).starts_with(".mocharc"),
            _ => true,
        };
        let is_python = matches!(extension(path), "ini" | "toml" | "cfg" | "");
        // A list of an INI file goes on behind a comma.
        let content = if is_python {
            content.replace(",\n    ", ",").replace(",\n\t", ",")
        } else {
            content.to_string()
        };
        let values = KEYS.iter().filter(is_of_file).flat_map(|key| configs::values(&content, key));
        let find = |word: String| {
            let word = word.replace("<rootDir>/", "./");
            let module = word.replace('.', "/");
            let mut forms = vec![word.clone()];
            forms.extend(
                [".json", ".js", ".cjs", ".mjs", ".yml", "/index.js"].map(|ending| format!("{word}{ending}")),
            );
            if is_python {
                forms.extend([".py", "/__init__.py"].map(|ending| format!("{module}{ending}")));
                forms.push(format!("src/{module}.py"));
            }
            let places = [directory(path), ""];
            let mut files =
                places.iter().flat_map(|own| forms.iter().filter_map(move |form| join(own, form)));
            files.find(|file| !file.is_empty() && self.base.is_file(file))
        };
        let is_path = |word: &String| is_python || word.contains(['/', '.']);
        let is_settings = |file: &String| !is_code(file) || !is_source(file);
        values.filter(is_path).filter_map(find).filter(is_settings).collect()
    }

    /// Whether what is loaded decides, rather than being what is tested.
    fn decides(&self, reach: &Reach, file: &str, loads: Loads, loaded: &[String]) -> bool {
        let (claims, known) = (self.claims(), &reach.definitions);
        let content = || text(self.base, file).unwrap_or_default();
        let is_used = || claims.is_used_by_product(file, known) || claims.is_used_by_tests(file);
        match loads {
            Loads::Settings => !is_used(),
            Loads::Preparation => {
                let beyond = || imported(self.base, reach, file, &content());
                // What this file alone uses is not product for that.
                let with_own = || {
                    let mut known = known.clone();
                    known.insert(file.to_string(), String::new());
                    known
                };
                let is_about_product = || beyond().iter().any(|other| claims.is_claimed(other, &with_own()));
                !claims.is_claimed(file, known)
                    && !is_about_product()
                    && claims.has_product(loaded, known)
                    && (has_only_values(file, &content())
                        || is_prepared(file) && claims.is_apart(file, self.base, known))
            }
            Loads::Script if claims.is_used_by_product(file, known) => false,
            Loads::Script => {
                let is_value = |file: &str| has_only_values(file, &text(self.base, file).unwrap_or_default());
                let has_others = || loaded.iter().any(|other| other != file && !is_value(other));
                is_tool(file)
                    || sounds_like_test(file)
                    || judges(extension(file), &content()).is_some()
                    || !claims.is_claimed(file, known)
                        && (is_value(file) && has_others()
                            || claims.is_apart(file, self.base, known) && complains(&content()))
            }
        }
    }

    /// What a script runs by a name that it puts together, or because it is in a directory.
    fn run(&self, reach: &mut Reach, path: &str, content: &str) -> Vec<(String, String)> {
        let (named, listed) = dynamic::candidates(self.base, reach, path, content);
        let (claims, own) = (self.claims(), directory(path));
        let is_open =
            |file: &String| is_script(file) && file != path && !reach.definitions.contains_key(file);
        let is_used = |file: &str| claims.is_used_by_product(file, &reach.definitions);
        let is_claimed = |file: &str| claims.is_claimed(file, &reach.definitions);
        let is_below =
            |file: &str| !own.is_empty() && file.starts_with(&format!("{own}/")) && !is_claimed(file);
        let by_name = |file: &&String| is_open(file) && (is_tool(file) && !is_used(file) || is_below(file));
        let by_place = |file: &&String| {
            let is_free = is_tool(file) && !is_used(file) || !is_claimed(file);
            let is_listed = || !is_tool(file) && claims.is_listed_by_product(file, &reach.definitions);
            is_open(file) && is_free && !is_shown(file) && !is_listed()
        };
        let mut found: Vec<String> = named.iter().filter(by_name).cloned().collect();
        let mut globs = Vec::new();
        for (glob, files) in &listed {
            let before = found.len();
            found.extend(files.iter().filter(by_place).cloned());
            globs.extend((found.len() > before).then(|| glob.clone()));
        }
        for glob in globs {
            reach.looked_for.entry(glob).or_insert_with(|| format!("added; run by {path}"));
        }
        found.into_iter().map(|file| (file, format!("run by {path}"))).collect()
    }
}

/// What kind of settings a file has by its name.
fn by_name(path: &str) -> Loads {
    let is_rake =
        name(path).eq_ignore_ascii_case("rakefile") || matches!(name(path), "Rakefile.rb" | "rakefile.rb");
    match stem(path) {
        _ if is_rake || extension(path) == "rake" => Loads::Script,
        "noxfile" | "tasks" | "fabfile" | "dodo" | "gulpfile" | "Gruntfile" => Loads::Script,
        "conftest" | "sitecustomize" | "usercustomize" => Loads::Preparation,
        stem if stem.to_ascii_lowercase().contains("setup") => Loads::Preparation,
        _ => Loads::Settings,
    }
}

/// The program that runs a file of a certain name, if nothing else does.
fn needed_program(path: &str) -> Option<&'static str> {
    match stem(path) {
        "noxfile" => Some("nox"),
        "gulpfile" => Some("gulp"),
        "Gruntfile" => Some("grunt"),
        _ if by_name(path) == Loads::Script && matches!(extension(path), "rake" | "rb" | "") => Some("rake"),
        _ => None,
    }
}

fn sounds_like_settings(path: &str) -> bool {
    let lower = name(path).to_ascii_lowercase();
    ["conf", "rc.", "preset", "babel", "webpack", "eslint", "jest", "rules", "lint"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a source says that something failed.
fn complains(content: &str) -> bool {
    const WORDS: [&str; 9] =
        ["abort", "exit(1", "exit 1", "sys.exit", "raise", "throw", "AssertionError", "FAIL", "process.exit"];
    WORDS.iter().any(|word| content.contains(word))
}

fn settings_place(path: &str) -> Place {
    let own = directory(path).to_string();
    Place { directory: own.clone(), script: own, depth: 1, by: path.to_string(), variables: BTreeMap::new() }
}
