//! Files that the project needs and git ignores, such as `.env`: a new workspace does not have them.
//!
//! Files that usually contain a token are only noted: a person must decide about them.

use fixpoint_vocabulary::Text;

use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// Endings of files that only show what `.env` may contain.
const SAMPLES: [&str; 6] = ["default", "defaults", "dist", "example", "sample", "template"];

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) {
    for name in dir.names().iter().filter(|name| is_environment(name) && dir.is_ignored(name)) {
        findings.copy(dir.path(name));
    }
    if dir.exists(".npmrc") && dir.is_ignored(".npmrc") {
        findings.note(token(&dir.path(".npmrc")));
    }
}

fn is_environment(name: &str) -> bool {
    let sample = name.rsplit('.').next().is_some_and(|ending| SAMPLES.contains(&ending));
    let is_file = !name.ends_with('/') && !name.chars().any(char::is_control);
    is_file && !sample && (name == ".env" || name.starts_with(".env."))
}

fn token(path: &str) -> Text {
    Text::new(
        format!(
            "{path} is ignored by git and often contains a token, so agents do not get it. If packages cannot be \
             installed without it, add it to `workspace.copy`."
        ),
        format!(
            "{path} は git に無視されており、トークンを含むことが多いため、エージェントには渡しません。\
             パッケージのインストールに必要な場合は `workspace.copy` に追加してください。"
        ),
    )
}
