//! The order of detection: the root, then the directories below it that may be projects of their own, then make.
//!
//! Directories are read directly below the root, and one deeper below those that usually hold the members of a
//! repository, such as `packages`. A project below is left out where the tests of the root are of the same kind: they
//! usually include it. Invariant: a result without checks has a note that says what to do.

use fixpoint_vocabulary::Text;

use crate::detected::DetectedProject;
use crate::ecosystems::{self, Ecosystem, make};
use crate::files::Files;
use crate::findings::Findings;
use crate::private_files;
use crate::project_directory::ProjectDirectory;

/// Names of directories that are not projects: installed packages, build output, examples, test data.
const NOT_PROJECTS: &str = "bench benches benchmark benchmarks build demo demos dist doc docs env example examples \
                            fixtures node_modules out sample samples site spec target test testdata tests third_party \
                            tmp vendor venv virtualenv website";

/// Names of directories whose directories are projects.
const CONTAINERS: &str = "apps components crates extensions integrations libraries libs modules packages plugins pkgs \
                          projects services workspaces";

/// Directories below the root that are read, at most.
const MAX_DIRECTORIES: usize = 200;

/// Directories that are named where several are left out, at most.
const MOST_NAMED: usize = 5;

/// `is_ignored` says whether git ignores a path from the root of the repository; the path of a directory ends with `/`.
/// `has_program` says whether a program is on the PATH: where the tool of a lock file is missing, another one may do.
pub fn detect(
    files: &dyn Files,
    is_ignored: &dyn Fn(&str) -> bool,
    has_program: &dyn Fn(&str) -> bool,
) -> DetectedProject {
    let root = ProjectDirectory::root(files, is_ignored, has_program);
    let mut findings = Findings::default();
    for ecosystem in ecosystems::ALL {
        (ecosystem.detect)(&root, &mut findings);
    }
    private_files::detect(&root, &mut findings);
    detect_below(&root, &mut findings);
    make::detect(&root, &mut findings);
    if !findings.has_checks() {
        findings.note(no_checks());
    }
    findings.finish()
}

fn detect_below(root: &ProjectDirectory<'_>, findings: &mut Findings) {
    let is_covered =
        |ecosystem: &&Ecosystem| ecosystem.root_includes_members && findings.has_tests_of(ecosystem.name);
    let covered: Vec<&str> = ecosystems::ALL.iter().filter(is_covered).map(|known| known.name).collect();
    let mut left_out: Vec<String> = Vec::new();
    for path in directories(root) {
        let dir = root.below(&path);
        let mut is_project = false;
        for ecosystem in ecosystems::ALL {
            if !covered.contains(&ecosystem.name) {
                is_project |= (ecosystem.detect)(&dir, findings) == ecosystems::Detected::Project;
            } else if dir.first(ecosystem.manifests).is_some() {
                left_out.push(format!("{path}/"));
            }
        }
        if is_project {
            private_files::detect(&dir, findings);
        }
    }
    if !left_out.is_empty() {
        left_out.dedup();
        findings.skip(root, &named(&left_out), covered_by_root());
    }
}

/// The directories that may be projects, as paths from the root.
fn directories(root: &ProjectDirectory<'_>) -> Vec<String> {
    let mut paths = Vec::new();
    for name in projects_in(root, "") {
        let is_container = CONTAINERS.split_whitespace().any(|known| known == name);
        let members = if is_container { projects_in(root, &name) } else { Vec::new() };
        paths.push(name);
        paths.extend(members);
    }
    paths.truncate(MAX_DIRECTORIES);
    paths
}

fn projects_in(root: &ProjectDirectory<'_>, directory: &str) -> Vec<String> {
    let names = root.names_in(directory);
    let candidates =
        names.iter().filter_map(|name| name.strip_suffix('/')).filter(|name| may_be_project(name));
    let path =
        |name: &str| if directory.is_empty() { name.to_string() } else { format!("{directory}/{name}") };
    candidates.map(path).filter(|path| !root.is_ignored(&format!("{path}/"))).collect()
}

/// Names with control characters are skipped: they could not be shown in a terminal or in a comment.
fn may_be_project(name: &str) -> bool {
    !name.starts_with('.')
        && !NOT_PROJECTS.split_whitespace().any(|other| other == name)
        && !name.chars().any(char::is_control)
}

fn named(paths: &[String]) -> String {
    let shown: Vec<&str> = paths.iter().take(MOST_NAMED).map(String::as_str).collect();
    match paths.len().saturating_sub(MOST_NAMED) {
        0 => shown.join(", "),
        more => format!("{} (+{more})", shown.join(", ")),
    }
}

fn covered_by_root() -> Text {
    Text::new("the checks of the root directory usually include it", "ルートのチェックに通常は含まれるため")
}

fn no_checks() -> Text {
    Text::new(
        "No checks found. Add the command that tests this project to `checks` in .fixpoint/config.yaml, such as \
         `- {name: test, command: ./run-tests.sh}`.",
        "チェックが見つかりませんでした。このプロジェクトをテストするコマンドを .fixpoint/config.yaml の `checks` に\
         追加してください。例: `- {name: test, command: ./run-tests.sh}`",
    )
}
