//! The order of detection: the root, then, if it has no tests, the directories directly below it, then make. Deeper
//! directories belong to a project that the root or those directories describe.
//!
//! Invariant: a result without checks has a note that says what to do.

use fixpoint_vocabulary::Text;

use crate::detected::DetectedProject;
use crate::ecosystems::{self, make};
use crate::files::Files;
use crate::findings::Findings;
use crate::private_files;
use crate::project_directory::ProjectDirectory;

/// Names of directories that are not projects: installed packages, build output, examples, test data.
const NOT_PROJECTS: &str = "build dist doc docs env example examples fixtures node_modules out spec target test testdata \
                            tests third_party tmp vendor venv virtualenv";

/// Directories below the root that are read, at most.
const MAX_DIRECTORIES: usize = 200;

/// `is_ignored` says whether git ignores a path from the root of the repository; the path of a directory ends with `/`.
pub fn detect(files: &dyn Files, is_ignored: &dyn Fn(&str) -> bool) -> DetectedProject {
    let root = ProjectDirectory::root(files, is_ignored);
    let mut findings = Findings::default();
    ecosystems::detect(&root, &mut findings);
    private_files::detect(&root, &mut findings);
    if !findings.has_tests() {
        detect_below(&root, &mut findings);
    }
    make::detect(&root, &mut findings);
    if !findings.has_checks() {
        findings.note(no_checks());
    }
    findings.finish()
}

fn detect_below(root: &ProjectDirectory<'_>, findings: &mut Findings) {
    let names = root.names();
    let directories =
        names.iter().filter_map(|name| name.strip_suffix('/')).filter(|name| may_be_project(name));
    for name in directories.take(MAX_DIRECTORIES).filter(|name| !root.is_ignored(&format!("{name}/"))) {
        let dir = root.below(name);
        if ecosystems::detect(&dir, findings) == ecosystems::Detected::Project {
            private_files::detect(&dir, findings);
        }
    }
}

/// Names with control characters are skipped: they could not be shown in a terminal or in a comment.
fn may_be_project(name: &str) -> bool {
    !name.starts_with('.')
        && !NOT_PROJECTS.split(' ').any(|other| other == name)
        && !name.chars().any(char::is_control)
}

fn no_checks() -> Text {
    Text::new(
        "No checks found. Add the command that tests this project to `checks` in .fixpoint/config.yaml, such as \
         `- {name: test, command: ./run-tests.sh}`.",
        "チェックが見つかりませんでした。このプロジェクトをテストするコマンドを .fixpoint/config.yaml の `checks` に\
         追加してください。例: `- {name: test, command: ./run-tests.sh}`",
    )
}
