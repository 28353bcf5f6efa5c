//! Which agent a run has: as typed, as configured, or the first that is installed.
//!
//! Owns the choice. Refuses to complete its command line: that differs from attempt to attempt.

use std::path::Path;

use fixpoint_project::{FoundAgent, agent, agents};
use fixpoint_vocabulary::settings::{AgentKind, AgentSettings, Settings};

use crate::app_context::AppContext;
use crate::evidence::refuse_secret;
use crate::failure::Failure;
use crate::repository::Repository;

/// The agent's command line as a person would type it. What is typed goes before what a file says about its kind.
pub(crate) fn choose(
    typed: &[String],
    settings: &mut Settings,
    repository: &Repository,
    app: &AppContext,
) -> Result<Vec<String>, Failure> {
    for argument in typed {
        refuse_secret("the agent's command line", argument)?;
    }
    if !typed.is_empty() {
        settings.agent.kind = AgentKind::Auto;
        let working_dir = app.working_dir()?;
        let root = repository.root().canonicalize().unwrap_or_else(|_| repository.root().to_path_buf());
        let resolved = typed.iter().enumerate();
        return Ok(resolved.map(|(place, word)| resolved_word(place, word, &working_dir, &root)).collect());
    }
    if let Some(configured) = configured(&settings.agent) {
        return Ok(configured);
    }
    let wanted = wanted(settings.agent.kind)?;
    let found = agents(&|name| app.program(name));
    match found.iter().find(|agent| wanted.is_none_or(|name| agent.name == name)) {
        Some(agent) => {
            app.notices.say(&format!("the agent is {}: {}", agent.title, agent.command_line()));
            Ok(words(agent))
        }
        None => Err(Failure::BadInput(
            "no agent was named and none is installed; name one after `--`, such as `-- claude`".into(),
        )),
    }
}

/// The command line of the configuration. Of the agents that are run as plain commands, its arguments come after those
/// they need.
fn configured(settings: &AgentSettings) -> Option<Vec<String>> {
    let (program, extra) = settings.command.split_first()?;
    let known = match settings.kind {
        AgentKind::Opencode => agent("opencode", program.into()),
        AgentKind::Gemini => agent("gemini", program.into()),
        AgentKind::Auto | AgentKind::Command | AgentKind::Claude | AgentKind::Codex => None,
    };
    let complete = |known: &FoundAgent| words(known).into_iter().chain(extra.iter().cloned()).collect();
    Some(known.as_ref().map_or_else(|| settings.command.clone(), complete))
}

/// The name of the agent that is wanted, if it must be a certain one.
fn wanted(kind: AgentKind) -> Result<Option<&'static str>, Failure> {
    match kind {
        AgentKind::Auto => Ok(None),
        AgentKind::Claude => Ok(Some("claude")),
        AgentKind::Codex => Ok(Some("codex")),
        AgentKind::Opencode => Ok(Some("opencode")),
        AgentKind::Gemini => Ok(Some("gemini")),
        AgentKind::Command => Err(Failure::BadInput("name the agent after `--`, such as `-- claude`".into())),
    }
}

fn words(agent: &FoundAgent) -> Vec<String> {
    let arguments = agent.arguments.iter().map(ToString::to_string);
    std::iter::once(agent.program.to_string_lossy().into_owned()).chain(arguments).collect()
}

/// A word of the agent's command line, as it is in a private workspace. The program is the one that was typed, seen
/// from here; another word that names a file outside the repository would mean nothing there.
fn resolved_word(place: usize, word: &str, working_dir: &Path, root: &Path) -> String {
    let path = Path::new(word);
    let seen_from_here = working_dir.join(path);
    if path.is_absolute() || !seen_from_here.is_file() {
        return word.to_string();
    }
    let is_outside = seen_from_here.canonicalize().is_ok_and(|target| !target.starts_with(root));
    if place == 0 && word.contains('/') {
        // An agent is known by its name, and a link to it may lead to another.
        let directory = seen_from_here.parent().and_then(|directory| directory.canonicalize().ok());
        let program = directory.zip(seen_from_here.file_name()).map(|(directory, name)| directory.join(name));
        program.unwrap_or(seen_from_here).to_string_lossy().into_owned()
    } else if is_outside {
        seen_from_here.canonicalize().unwrap_or(seen_from_here).to_string_lossy().into_owned()
    } else {
        word.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_program_is_run_as_its_kind_needs_it() {
        let line = |kind, words: &[&str]| {
            let command = words.iter().map(ToString::to_string).collect();
            configured(&AgentSettings { kind, command, ..AgentSettings::default() })
                .map(|words| words.join(" "))
        };
        let case = |kind, expected: Option<&str>| {
            assert_eq!(line(kind, &["/opt/x", "-m", "y"]).as_deref(), expected, "{kind:?}");
        };
        case(AgentKind::Claude, Some("/opt/x -m y"));
        case(AgentKind::Codex, Some("/opt/x -m y"));
        case(AgentKind::Command, Some("/opt/x -m y"));
        case(AgentKind::Auto, Some("/opt/x -m y"));
        case(AgentKind::Opencode, Some("/opt/x run {prompt} -m y"));
        case(AgentKind::Gemini, Some("/opt/x --skip-trust --approval-mode auto_edit -p {prompt} -m y"));
        assert_eq!(line(AgentKind::Claude, &[]), None);
    }

    #[test]
    fn words_that_name_files_mean_the_same_elsewhere() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let root = base.join("repository");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        for file in ["agent.sh", "repository/inside.sh", "repository/sub/deep.sh"] {
            std::fs::write(base.join(file), "").unwrap();
        }
        let sub = root.join("sub");
        let word = |place, word: &str| resolved_word(place, word, &sub, &root);
        let absolute = |path: &str| base.join(path).to_string_lossy().into_owned();
        assert_eq!(word(0, "./deep.sh"), absolute("repository/sub/deep.sh"));
        std::os::unix::fs::symlink(base.join("agent.sh"), sub.join("claude")).unwrap();
        assert_eq!(word(0, "./claude"), absolute("repository/sub/claude"), "it keeps its name");
        assert_eq!(word(0, "deep.sh"), "deep.sh", "a bare name is looked up on the PATH");
        assert_eq!(word(1, "../inside.sh"), "../inside.sh", "it is in the workspace too");
        assert_eq!(word(1, "../../agent.sh"), absolute("agent.sh"));
        assert_eq!(word(1, "--flag"), "--flag");
        assert_eq!(word(1, "/bin/sh"), "/bin/sh");
    }
}
