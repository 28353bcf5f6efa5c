//! The order in which a repository is looked at: its root, then the directories right below it, then make.
//!
//! Refuses to look deeper: what lies further down belongs to a project that the root or those directories describe.
//! Invariant: an answer without checks has a note that says what to do.

use fixpoint_vocabulary::Text;

use crate::ecosystems::{self, make};
use crate::files::Files;
use crate::found::Found;
use crate::gathering::Gathering;
use crate::place::Place;
use crate::private_files;

/// Directories of which none is a project of its own: what is installed, built, shown or fed to tests.
const NOT_PROJECTS: [&str; 20] = [
    "build",
    "dist",
    "doc",
    "docs",
    "env",
    "example",
    "examples",
    "fixtures",
    "node_modules",
    "out",
    "spec",
    "target",
    "test",
    "testdata",
    "tests",
    "third_party",
    "tmp",
    "vendor",
    "venv",
    "virtualenv",
];

/// How many directories below the root are looked at.
const MAX_DIRECTORIES: usize = 200;

/// Looks at a repository. `is_ignored` tells whether git ignores a path from its root; a directory's ends with `/`.
pub fn look(files: &dyn Files, is_ignored: &dyn Fn(&str) -> bool) -> Found {
    let root = Place::root(files, is_ignored);
    let mut gathering = Gathering::default();
    ecosystems::look(&root, &mut gathering);
    private_files::look(&root, &mut gathering);
    if !gathering.has_tests() {
        look_below(&root, &mut gathering);
    }
    make::look(&root, &mut gathering);
    if !gathering.has_checks() {
        gathering.note(no_checks());
    }
    gathering.finish()
}

fn look_below(root: &Place<'_>, gathering: &mut Gathering) {
    let names = root.names();
    let directories =
        names.iter().filter_map(|name| name.strip_suffix('/')).filter(|name| may_be_project(name));
    for name in directories.take(MAX_DIRECTORIES).filter(|name| !root.is_ignored(&format!("{name}/"))) {
        let place = root.below(name);
        if ecosystems::look(&place, gathering) == ecosystems::Seen::Project {
            private_files::look(&place, gathering);
        }
    }
}

/// Names with control characters are passed over: they could not be shown in a terminal or in a comment.
fn may_be_project(name: &str) -> bool {
    !name.starts_with('.') && !NOT_PROJECTS.contains(&name) && !name.chars().any(char::is_control)
}

fn no_checks() -> Text {
    Text::new(
        "No check was found. Write the command that tests this project under `checks` in .fixpoint/config.yaml, \
         such as `- {name: test, command: ./run-tests.sh}`.",
        "チェックが見つかりませんでした。このプロジェクトをテストするコマンドを .fixpoint/config.yaml の `checks` に\
         書いてください。例: `- {name: test, command: ./run-tests.sh}`",
    )
}
