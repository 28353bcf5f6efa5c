//! The files of a Python project that say what it needs, read once.
//!
//! Invariant: what is listed here is text from the files; nothing is installed or resolved.

use toml::{Table, Value};

use super::requirement::{is_plain, name_of, quoted};
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// Groups that are followed through `include-group`, at most.
const MAX_INCLUDED: usize = 20;

pub(super) struct Manifests {
    pub(super) pyproject: Option<Table>,
    pub(super) setup_cfg: Option<String>,
    pub(super) setup_py: Option<String>,
    pub(super) tox: Option<String>,
    pub(super) pipfile: Option<Table>,
    /// What a source archive of a registry says about itself.
    pub(super) archive: Option<String>,
}

impl Manifests {
    pub(super) fn read(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Self {
        let mut toml = |name: &str| dir.exists(name).then(|| dir.toml(name, findings)).flatten();
        let (pyproject, pipfile) = (toml("pyproject.toml"), toml("Pipfile"));
        Self {
            pyproject,
            pipfile,
            setup_cfg: dir.optional_text("setup.cfg", findings),
            setup_py: dir.optional_text("setup.py", findings),
            tox: dir.optional_text("tox.ini", findings),
            archive: dir.optional_text("PKG-INFO", findings),
        }
    }

    /// A value of `pyproject.toml`.
    pub(super) fn value(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.pyproject.as_ref()?.get(*first)?, |value, key| value.get(key))
    }

    /// The version of a source archive whose build would read it from git tags. Workspaces have no tags, and packages that
    /// the tests need may not accept the version that is made up then.
    pub(super) fn version_without_tags(&self) -> Option<&str> {
        let requires = self.value(&["build-system", "requires"]).map(strings).unwrap_or_default();
        let names = ["setuptools-scm", "hatch-vcs"];
        let in_code = self.setup_py.as_deref().is_some_and(|code| code.contains("use_scm_version"));
        let by_tags =
            in_code || requires.iter().any(|requirement| names.contains(&name_of(requirement).as_str()));
        let mut lines = self.archive.as_deref()?.lines().take_while(|line| !line.is_empty());
        let version = lines.find_map(|line| line.strip_prefix("Version: "))?.trim();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '!');
        Some(version).filter(|version| by_tags && !version.is_empty() && version.chars().all(is_plain))
    }

    /// Whether pip can install the project itself.
    pub(super) fn is_installable(&self) -> bool {
        let is_off = |path: &[&str]| self.value(path).and_then(Value::as_bool) == Some(false);
        if is_off(&["tool", "uv", "package"]) || is_off(&["tool", "poetry", "package-mode"]) {
            return false;
        }
        let tables: [&[&str]; 3] = [&["build-system"], &["project", "name"], &["tool", "poetry", "name"]];
        let has_metadata = self.setup_cfg.as_deref().is_some_and(|text| has_section(text, "[metadata]"));
        tables.iter().any(|path| self.value(path).is_some()) || self.setup_py.is_some() || has_metadata
    }

    /// The dependencies of a project that is not installed itself.
    pub(super) fn dependencies(&self) -> Vec<String> {
        let listed = self.value(&["project", "dependencies"]).map(strings).unwrap_or_default();
        let poetry = self.value(&["tool", "poetry", "dependencies"]).map(keys).unwrap_or_default();
        let pipfile =
            self.pipfile.as_ref().and_then(|file| file.get("packages")).map(keys).unwrap_or_default();
        listed.into_iter().chain(poetry.into_iter().filter(|name| name != "python")).chain(pipfile).collect()
    }

    /// The extras of the project, each with its requirements as far as they can be read.
    pub(super) fn extras(&self) -> Vec<(String, Vec<String>)> {
        let mut extras = Vec::new();
        let tables = self.value(&["project", "optional-dependencies"]).and_then(Value::as_table);
        for (name, value) in tables.into_iter().flatten() {
            extras.push((name.clone(), self.with_own_extras(strings(value))));
        }
        let poetry = self.value(&["tool", "poetry", "extras"]).and_then(Value::as_table);
        extras.extend(poetry.into_iter().flatten().map(|(name, value)| (name.clone(), strings(value))));
        if let Some(text) = &self.setup_cfg {
            extras.extend(ini_section(text, "[options.extras_require]"));
        }
        extras.extend(self.setup_py.iter().flat_map(|code| extras_in_code(code)));
        extras
    }

    /// Requirements with those of other extras of the project, which are listed as `project[extra]`.
    fn with_own_extras(&self, requirements: Vec<String>) -> Vec<String> {
        let own = self.value(&["project", "name"]).and_then(Value::as_str).map(name_of).unwrap_or_default();
        let named = |requirement: &String| {
            let inside = requirement.split_once('[')?.1.split_once(']')?.0.to_string();
            (name_of(requirement) == own).then_some(inside)
        };
        let included: Vec<String> = requirements.iter().filter_map(named).collect();
        let of_extra = |name: &str| {
            let listed =
                self.value(&["project", "optional-dependencies"]).and_then(|all| all.get(name.trim()));
            listed.map(strings).unwrap_or_default()
        };
        let more: Vec<String> =
            included.iter().flat_map(|names| names.split(',')).flat_map(of_extra).collect();
        requirements.into_iter().chain(more).collect()
    }

    /// The groups of `[dependency-groups]`, each with its requirements and those of the groups it includes.
    pub(super) fn groups(&self) -> Vec<(String, Vec<String>)> {
        let Some(table) = self.value(&["dependency-groups"]).and_then(Value::as_table) else {
            return Vec::new();
        };
        table.keys().map(|name| (name.clone(), group(table, name))).collect()
    }

    /// Requirements for tests and development that only a certain tool knows, each list with a name.
    pub(super) fn lists_of_tools(&self) -> Vec<(String, Vec<String>)> {
        let mut lists = Vec::new();
        let named = |path: &[&str]| self.value(path).and_then(Value::as_table).into_iter().flatten();
        for (name, group) in named(&["tool", "poetry", "group"]) {
            lists.push((name.clone(), group.get("dependencies").map(keys).unwrap_or_default()));
        }
        let poetry = self.value(&["tool", "poetry", "dev-dependencies"]).map(keys);
        lists.extend(poetry.map(|names| ("dev".to_string(), names)));
        for (name, list) in named(&["tool", "pdm", "dev-dependencies"]) {
            lists.push((name.clone(), strings(list)));
        }
        let uv = self.value(&["tool", "uv", "dev-dependencies"]).map(strings);
        lists.extend(uv.map(|names| ("dev".to_string(), names)));
        for (name, env) in named(&["tool", "hatch", "envs"]) {
            let of = |key: &str| env.get(key).map(strings).unwrap_or_default();
            let name = if name == "hatch-test" { "test" } else { name };
            lists.push((name.to_string(), [of("dependencies"), of("extra-dependencies")].concat()));
        }
        let pipfile = self.pipfile.as_ref().and_then(|file| file.get("dev-packages")).map(keys);
        lists.extend(pipfile.map(|names| ("dev".to_string(), names)));
        lists.extend(self.setup_py.iter().map(|code| {
            let listed = list_after(code, "tests_require").or_else(|| list_after(code, "test_requires"));
            ("test".to_string(), listed.unwrap_or_default())
        }));
        lists.retain(|(_, names)| !names.is_empty());
        lists
    }
}

/// Whether an INI file has a section.
pub(super) fn has_section(text: &str, section: &str) -> bool {
    text.lines().any(|line| line.trim() == section)
}

/// The keys of a section of an INI file, each with the lines of its value.
pub(super) fn ini_section(text: &str, section: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let lines = text.lines().skip_while(|line| line.trim() != section).skip(1);
    for line in lines.take_while(|line| !line.starts_with('[')) {
        let value = line.trim();
        if value.is_empty() || value.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            found.last_mut().into_iter().for_each(|(_, lines)| lines.push(value.to_string()));
        } else if let Some((key, first)) = value.split_once('=') {
            let first = Some(first.trim().to_string()).filter(|first| !first.is_empty());
            found.push((key.trim().to_string(), first.into_iter().collect()));
        }
    }
    found
}

/// The texts of a list.
pub(super) fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(ToString::to_string).collect()
}

fn keys(value: &Value) -> Vec<String> {
    value.as_table().map(|table| table.keys().cloned().collect()).unwrap_or_default()
}

fn group(table: &Table, name: &str) -> Vec<String> {
    let (mut names, mut requirements) = (vec![name.to_string()], Vec::new());
    let mut next = 0;
    while let Some(name) = names.get(next).cloned() {
        next += 1;
        let value = table.get(&name);
        requirements.extend(value.map(strings).unwrap_or_default());
        let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let included = items.iter().filter_map(|item| item.get("include-group")?.as_str());
        let new: Vec<String> = included
            .filter(|name| !names.iter().any(|known| known == name))
            .map(ToString::to_string)
            .collect();
        names.extend(new.into_iter().take(MAX_INCLUDED.saturating_sub(names.len())));
    }
    requirements
}

/// The extras that `setup.py` lists, as far as they are written there as plain lists.
fn extras_in_code(code: &str) -> Vec<(String, Vec<String>)> {
    let Some(at) = code.find("extras_require") else { return Vec::new() };
    let after = code.get(at..).unwrap_or_default();
    let names = ["test", "tests", "testing", "dev", "develop", "development"];
    let found = names.iter().filter_map(|name| {
        let keys = [format!("'{name}'"), format!("\"{name}\"")];
        let listed = keys.iter().find_map(|key| list_after(after, key))?;
        Some(((*name).to_string(), listed))
    });
    found.collect()
}

/// The texts of the list that follows a word in some Python code.
fn list_after(code: &str, word: &str) -> Option<Vec<String>> {
    let after = code.split_once(word)?.1;
    let (before, list) = after.split_once('[')?;
    if !before.chars().all(|c| c.is_whitespace() || matches!(c, '=' | ':' | '(')) {
        return None;
    }
    let texts = quoted(list.split_once(']')?.0);
    Some(texts.into_iter().filter(|text| is_plain(text)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_in_code() {
        let code = "setup(\n  extras_require={\n    'test': [\n 'pytest', # why\n 'mock>=1'],\n 'docs': ['x']},\n  \
                    tests_require = TESTS,\n)";
        let expected = vec![("test".to_string(), vec!["pytest".to_string(), "mock>=1".to_string()])];
        assert_eq!(extras_in_code(code), expected);
        assert_eq!(list_after(code, "tests_require"), None, "it is a variable");
        assert_eq!(list_after("tests_require=['nose']", "tests_require"), Some(vec!["nose".to_string()]));
    }

    #[test]
    fn sections_of_ini_files_have_keys_with_lines() {
        let text = "[a]\nx = 1\n[options.extras_require]\ntest =\n  pytest\n  # no\n  mock\ndev = ruff\n\n[b]\ny = 2";
        let expected = [("test", vec!["pytest", "mock"]), ("dev", vec!["ruff"])];
        let expected: Vec<(String, Vec<String>)> = expected
            .into_iter()
            .map(|(key, lines)| (key.to_string(), lines.into_iter().map(str::to_string).collect()))
            .collect();
        assert_eq!(ini_section(text, "[options.extras_require]"), expected);
    }

    #[test]
    fn groups_include_others_and_never_without_end() {
        let text =
            "[dependency-groups]\na = ['x', {include-group = 'b'}]\nb = ['pytest', {include-group = 'a'}]";
        let table: Table = toml::from_str(text).expect("valid");
        let groups = table.get("dependency-groups").and_then(Value::as_table).expect("a table");
        assert_eq!(group(groups, "a"), ["x", "pytest"]);
    }
}
