//! The tables in `tests/proof/*.toml`, read and checked: projects, what is done to them, and what must come of it. Refuses
//! unknown fields, unknown projects and names that are used twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    project: BTreeMap<String, Project>,
    #[serde(default)]
    scenario: Vec<Scenario>,
}

/// A repository before anything is done to it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Project {
    /// Another project of the same file that fills in what is missing here.
    pub(crate) like: Option<String>,
    /// Programs on `PATH`, `python:MODULE` for a module of `python3`, or `wheels` for the directory of the script.
    pub(crate) needs: Vec<String>,
    pub(crate) until: String,
    pub(crate) check: String,
    /// A command that knows the truth by looking past all tests: passes if and only if the work is done and nothing is broken.
    pub(crate) truth: String,
    /// `workspace.setup` of the configuration.
    pub(crate) setup: String,
    /// Lines of `.gitignore`.
    pub(crate) ignored: Vec<String>,
    pub(crate) files: BTreeMap<String, String>,
}

/// One way to work on a project.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) project: String,
    /// What the agent does, as a shell script; for `fixpoint check`, what is done to the working tree.
    pub(crate) agent: String,
    pub(crate) expect: Expect,
    /// Texts that the result must contain, each.
    #[serde(default)]
    pub(crate) names: OneOrMore,
    /// Part of `cargo test`.
    #[serde(default)]
    pub(crate) ci: bool,
    #[serde(default)]
    pub(crate) command: Subcommand,
    /// More flags of the command.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[serde(default = "one")]
    pub(crate) attempts: u32,
    /// Run in the working tree before, and after the commit of the project.
    #[serde(default)]
    pub(crate) before: String,
    /// Run after `before` and after the checks have been seen at the base: an earlier run that leaves something.
    #[serde(default)]
    pub(crate) earlier: String,
    /// Whether the checks are green when they run in the agent's tree without more ado.
    #[serde(default)]
    pub(crate) naive: Naive,
    /// More of what the project says, or something else.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    pub(crate) until: Option<String>,
    pub(crate) check: Option<String>,
    pub(crate) truth: Option<String>,
    #[serde(default)]
    pub(crate) ignored: Vec<String>,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Which file it is from.
    #[serde(skip)]
    pub(crate) table: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Expect {
    Done,
    NotDone,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subcommand {
    #[default]
    Loop,
    Check,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Naive {
    #[default]
    Green,
    /// A mistake that every check shows: no cheat, but no work that is done either.
    Red,
    /// Red, and yet a cheat: the exit code is not what it tries to bend.
    Forged,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Default for OneOrMore {
    fn default() -> Self {
        Self::More(vec![])
    }
}

impl OneOrMore {
    pub(crate) fn all(&self) -> Vec<&str> {
        match self {
            Self::One(text) => vec![text],
            Self::More(texts) => texts.iter().map(String::as_str).collect(),
        }
    }
}

fn one() -> u32 {
    1
}

/// A scenario with its project.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) project: Project,
    pub(crate) scenario: Scenario,
}

impl Case {
    /// `table/name`, as lists and reports have it.
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.scenario.table, self.scenario.name)
    }

    pub(crate) fn kind(&self) -> &'static str {
        match (self.scenario.expect, self.scenario.naive) {
            (Expect::Done, _) => "honest",
            (Expect::NotDone, Naive::Green | Naive::Forged) => "cheat",
            (Expect::NotDone, Naive::Red) => "mistake",
        }
    }
}

/// The directory of the tables.
pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proof")
}

/// All scenarios of all tables, in order.
pub(crate) fn all() -> Vec<Case> {
    let entries = fs::read_dir(directory()).expect("the tables").map(|entry| entry.expect("an entry").path());
    let is_table = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let paths: BTreeSet<PathBuf> = entries.filter(is_table).collect();
    let cases: Vec<Case> = paths.iter().flat_map(|path| read(path)).collect();
    let names: BTreeSet<String> = cases.iter().map(Case::id).collect();
    assert_eq!(names.len(), cases.len(), "a name is used twice: {:?}", twice(&cases));
    cases
}

fn twice(cases: &[Case]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    cases.iter().map(Case::id).filter(|id| !seen.insert(id.clone())).collect()
}

fn read(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).expect("a table");
    let table: Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let case = |mut scenario: Scenario| {
        scenario.table.clone_from(&stem);
        let mut project = resolved(&table.project, &scenario.project);
        project.needs.extend(scenario.needs.clone());
        project.ignored.extend(scenario.ignored.clone());
        project.files.extend(scenario.files.clone());
        project.until = scenario.until.clone().unwrap_or(project.until);
        project.check = scenario.check.clone().unwrap_or(project.check);
        project.truth = scenario.truth.clone().unwrap_or(project.truth);
        Case { project, scenario }
    };
    table.scenario.clone().into_iter().map(case).collect()
}

fn resolved(projects: &BTreeMap<String, Project>, name: &str) -> Project {
    let mut project = projects.get(name).unwrap_or_else(|| panic!("no project {name}")).clone();
    let Some(like) = project.like.take() else { return project };
    let parent = resolved(projects, &like);
    let text = |own: String, inherited: String| if own.is_empty() { inherited } else { own };
    let list = |own: Vec<String>, inherited: Vec<String>| if own.is_empty() { inherited } else { own };
    let mut files = parent.files;
    files.extend(project.files);
    Project {
        like: None,
        needs: list(project.needs, parent.needs),
        until: text(project.until, parent.until),
        check: text(project.check, parent.check),
        truth: text(project.truth, parent.truth),
        setup: text(project.setup, parent.setup),
        ignored: list(project.ignored, parent.ignored),
        files,
    }
}
