//! Files git ignores that the project needs to run, such as `.env`: a new workspace does not have them.
//!
//! Refuses to propose what git does not ignore, since that is in the workspace anyhow, and what usually holds a token
//! for a service: that a person decides.

use fixpoint_vocabulary::Text;

use crate::gathering::Gathering;
use crate::place::Place;

/// Endings of files that only show what `.env` may hold.
const SAMPLES: [&str; 6] = ["default", "defaults", "dist", "example", "sample", "template"];

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) {
    for name in place.names().iter().filter(|name| is_environment(name) && place.is_ignored(name)) {
        gathering.copy(place.path(name));
    }
    if place.exists(".npmrc") && place.is_ignored(".npmrc") {
        gathering.note(token(&place.path(".npmrc")));
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
            "{path} is ignored by git and often holds a token, so agents are not given it. If packages cannot be \
             installed without it, add it to `workspace.copy`."
        ),
        format!(
            "{path} は git の管理外で、トークンを含むことが多いため、エージェントには渡しません。\
             パッケージのインストールに必要な場合は `workspace.copy` に追加してください。"
        ),
    )
}
