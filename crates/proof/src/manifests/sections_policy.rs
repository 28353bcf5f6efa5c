//! Which entries of TOML and INI manifests are product.
//!
//! Owns the lists, by the path of an entry: the first that fits decides. And what only both versions show: a dependency
//! whose code comes from somewhere else, a member that left a workspace, a script that takes a test runner's name.

use toml::{Table, Value};

use super::substitution::is_substitution;
use crate::tables::{is_any_test_package, is_test_package};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Pyproject,
    Cargo,
    Pipfile,
    SetupCfg,
}

/// Paths by their beginning, `+` for product and `-` for definitions. A part of `*` is any.
const PYPROJECT: &str = "-project.entry-points.pytest11 +project +dependency-groups +build-system.requires \
    -tool.poetry.plugins.pytest11 -tool.poetry.build +tool.poetry -tool.setuptools.cmdclass +tool.setuptools \
    +tool.setuptools_scm +tool.hatch.version +tool.hatch.metadata +tool.hatch.build.targets +tool.flit \
    +tool.pdm.dev-dependencies +tool.pdm.version +tool.uv.dev-dependencies +tool.uv.sources +tool.rye.dev-dependencies \
    +tool.uv.index +tool.maturin -";
const CARGO: &str = "-package.build -package.autotests -package.autobenches -package.workspace -package.links +package \
    +dependencies +dev-dependencies +build-dependencies +target.*.dependencies +target.*.dev-dependencies \
    +target.*.build-dependencies -features.default +features +workspace.dependencies +workspace.package +workspace.members \
    +workspace.resolver +workspace.metadata -lib.test -lib.doctest -lib.harness -lib.bench -lib.doc +lib -bin.test \
    -bin.harness -bin.doctest -bin.bench +bin +example +badges -";
const PIPFILE: &str = "+packages +dev-packages +source +requires -";
const SETUP_CFG: &str = "+metadata -options.entry_points.pytest11 +options +options.extras_require \
    +options.packages.find +options.package_data +options.exclude_package_data +options.data_files +bdist_wheel +sdist \
    +egg_info -";

/// Tables whose entries are dependencies, wherever they stand.
const DEPENDENCY_TABLES: [&str; 6] =
    ["dependencies", "dev-dependencies", "build-dependencies", "packages", "dev-packages", "sources"];
const SCRIPT_TABLES: [&str; 3] = ["project.scripts", "project.gui-scripts", "tool.poetry.scripts"];

pub(super) struct Policy {
    kind: Kind,
    /// Paths that are definitions in these two versions.
    forced: Vec<Vec<String>>,
}

impl Policy {
    pub(super) fn new(kind: Kind, base: Option<&Table>, now: Option<&Table>) -> Self {
        let mut forced = Vec::new();
        if let (Some(base), Some(now)) = (base, now) {
            replaced_dependencies(&strings(base), Some(base), now, &mut Vec::new(), &mut forced);
            SCRIPT_TABLES.iter().for_each(|table| runner_scripts(now, table, &mut forced));
            lost_members(base, now, &mut forced);
        }
        Self { kind, forced }
    }

    /// Whether a whole section is a definition.
    pub(super) fn is_definition_section(&self, path: &[String]) -> bool {
        !path.is_empty() && (self.is_forced(path) || !self.is_product(path) && !self.has_product_below(path))
    }

    pub(super) fn is_definition(&self, path: &[String]) -> bool {
        let contains_forced = self.forced.iter().any(|forced| forced.starts_with(path));
        self.is_forced(path) || contains_forced || !self.is_product(path) || self.has_definition_below(path)
    }

    fn is_forced(&self, path: &[String]) -> bool {
        self.forced.iter().any(|forced| path.starts_with(forced))
    }

    fn rules(&self) -> impl Iterator<Item = (bool, Vec<&'static str>)> {
        let rules = match self.kind {
            Kind::Pyproject => PYPROJECT,
            Kind::Cargo => CARGO,
            Kind::Pipfile => PIPFILE,
            Kind::SetupCfg => SETUP_CFG,
        };
        rules.split_whitespace().map(|rule| {
            let parts = rule.trim_start_matches(['+', '-']);
            (rule.starts_with('+'), parts.split('.').filter(|part| !part.is_empty()).collect())
        })
    }

    fn is_product(&self, path: &[String]) -> bool {
        // In INI files a section's name has dots of its own.
        let parts: Vec<&str> = path.iter().flat_map(|part| self.parts(part)).collect();
        let fits = |rule: &Vec<&str>| {
            parts.len() >= rule.len()
                && rule.iter().zip(&parts).all(|(wanted, part)| *wanted == "*" || wanted == part)
        };
        self.rules().find(|(_, rule)| fits(rule)).is_some_and(|(is_product, _)| is_product)
    }

    fn parts<'a>(&self, part: &'a str) -> Vec<&'a str> {
        match self.kind {
            Kind::SetupCfg => part.split('.').collect(),
            Kind::Pyproject | Kind::Cargo | Kind::Pipfile => vec![part],
        }
    }

    fn has_below(&self, path: &[String], wanted: bool) -> bool {
        let parts: Vec<&str> = path.iter().flat_map(|part| self.parts(part)).collect();
        self.rules().any(|(is_product, rule)| {
            is_product == wanted
                && rule.len() > parts.len()
                && rule.iter().zip(&parts).all(|(rule, part)| *rule == "*" || rule == part)
        })
    }

    fn has_product_below(&self, path: &[String]) -> bool {
        self.has_below(path, true)
    }

    fn has_definition_below(&self, path: &[String]) -> bool {
        self.has_below(path, false)
    }
}

fn table<'a>(root: &'a Table, path: &str) -> Option<&'a Table> {
    let mut here = root;
    for part in path.split('.') {
        here = here.get(part)?.as_table()?;
    }
    Some(here)
}

fn full_path(table: &str, key: &str) -> Vec<String> {
    table.split('.').map(str::to_string).chain([key.to_string()]).collect()
}

/// Dependencies that were there, or that are a test runner's, and whose code comes from somewhere else now.
fn replaced_dependencies(
    known: &[String],
    base: Option<&Table>,
    now: &Table,
    path: &mut Vec<String>,
    forced: &mut Vec<Vec<String>>,
) {
    let is_dependencies = path.last().is_some_and(|name| DEPENDENCY_TABLES.contains(&name.as_str()));
    for (name, value) in now {
        let old = base.and_then(|base| base.get(name));
        path.push(name.clone());
        let is_replaced = match value {
            Value::Table(_) | Value::String(_) if is_dependencies => {
                let takes_place = old.is_some() || mentions(known, name) || is_any_test_package(name);
                takes_place
                    && is_substitution(&old.map(specification).unwrap_or_default(), &specification(value))
            }
            Value::Array(values) => {
                let is_new = |text: &&str| !known.iter().any(|known| known == text);
                let mut added = values.iter().filter_map(Value::as_str).filter(is_new);
                added.any(|text| match text.split_once('@') {
                    Some((name, _)) => mentions(known, name.trim()) || is_any_test_package(name.trim()),
                    None => false,
                })
            }
            Value::Table(below) => {
                replaced_dependencies(known, old.and_then(Value::as_table), below, path, forced);
                false
            }
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_) => false,
        };
        if is_replaced {
            forced.push(path.clone());
        }
        path.pop();
    }
}

/// A specification as text with its keys, since they say where the code comes from.
fn specification(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Table(table) => {
            table.iter().map(|(key, value)| format!("{key} = {},", specification(value))).collect()
        }
        Value::Array(values) => values.iter().map(specification).collect::<Vec<_>>().join(";"),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => String::new(),
    }
}

/// Whether a text names a package.
fn mentions(texts: &[String], name: &str) -> bool {
    texts.iter().any(|text| text.split(['<', '>', '=', '~', '!', '[', ';', ' ', '@']).next() == Some(name))
}

/// Console scripts with a test runner's name.
fn runner_scripts(now: &Table, path: &str, forced: &mut Vec<Vec<String>>) {
    for (name, _) in table(now, path).into_iter().flatten() {
        if is_test_package("python", name)
            || matches!(name.as_str(), "python" | "python3" | "make" | "sh" | "py.test")
        {
            forced.push(full_path(path, name));
        }
    }
}

/// A workspace that lost a member tests less.
fn lost_members(base: &Table, now: &Table, forced: &mut Vec<Vec<String>>) {
    let members =
        |root: &Table| table(root, "workspace").and_then(|workspace| workspace.get("members").cloned());
    let (Some(Value::Array(old)), new) = (members(base), members(now)) else { return };
    let kept = match &new {
        Some(Value::Array(new)) => old.iter().all(|member| new.contains(member)),
        Some(_) | None => false,
    };
    if !kept {
        forced.push(full_path("workspace", "members"));
    }
}

/// All keys and strings of a document.
fn strings(root: &Table) -> Vec<String> {
    let of_value = |value: &Value| match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().filter_map(Value::as_str).map(str::to_string).collect(),
        Value::Table(table) => strings(table),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => Vec::new(),
    };
    root.iter().flat_map(|(key, value)| of_value(value).into_iter().chain([key.clone()])).collect()
}
