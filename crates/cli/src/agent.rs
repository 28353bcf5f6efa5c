//! Which agent a run uses: the one named on the command line, the configured one, or the first that is installed.
//!
//! Owns the choice, and the check that its program exists and may be executed: a missing agent is reported before anything
//! is run. Refuses to complete its command line, which differs from attempt to attempt.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixpoint_project::{InstalledAgent, installed_agents, known_agent};
use fixpoint_vocabulary::settings::{AgentKind, AgentSettings, Settings};

use crate::app_context::AppContext;
use crate::failure::Failure;
use crate::repository::Repository;
use crate::selected_checks::refuse_secret;

const NOT_ON_PATH: &str = "it is not on PATH";
/// Bytes of the first line of a script that the kernel reads.
const LONGEST_SHEBANG: u64 = 256;

/// The agent's command line, as a person would type it. `base` is the commit to start from, if not the working tree.
/// An agent on the command line overrides `agent.kind`.
pub(crate) fn choose(
    typed: &[String],
    base: Option<&str>,
    settings: &mut Settings,
    repository: &Repository,
    app: &AppContext,
) -> Result<Vec<String>, Failure> {
    for argument in typed {
        refuse_secret("the agent's command line", argument)?;
    }
    let working_dir = app.working_dir()?;
    let command = if !typed.is_empty() {
        settings.agent.kind = AgentKind::Auto;
        let root = repository.root().canonicalize().unwrap_or_else(|_| repository.root().to_path_buf());
        let words = typed.iter().enumerate();
        words.map(|(position, word)| resolved_word(position, word, &working_dir, &root)).collect()
    } else if let Some(configured) = configured(&settings.agent) {
        configured
    } else {
        installed(settings.agent.kind, app)?
    };
    // A setup command, or another commit, may bring a file that is not in the working tree.
    let workspace = match (base, settings.workspace.setup.is_empty()) {
        (None, true) => WorkspaceFiles::AsInWorkingTree,
        (Some(_), _) | (None, false) => WorkspaceFiles::Unknown,
    };
    let program = command.first().map(String::as_str).unwrap_or_default();
    match problem_with(program, workspace, &working_dir, app) {
        Some(problem) => Err(unavailable(program, &problem, app)),
        None => Ok(command),
    }
}

/// Whether the files of a workspace are known before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorkspaceFiles {
    AsInWorkingTree,
    Unknown,
}

/// Why a program cannot be started; `None` where it can, or where that is only known in the workspace.
fn problem_with(
    program: &str,
    workspace: WorkspaceFiles,
    working_dir: &Path,
    app: &AppContext,
) -> Option<String> {
    if !program.contains('/') {
        let path = app.variable("PATH")?;
        // A relative entry of PATH is searched in the workspace.
        let is_certain = std::env::split_paths(path).all(|directory| directory.is_absolute());
        return match app.program(program) {
            Some(found) => script_problem(&found),
            None => is_certain.then(|| NOT_ON_PATH.to_string()),
        };
    }
    let path = working_dir.join(program);
    let problem = match path.metadata() {
        Ok(found) if found.is_dir() => "it is a directory",
        Ok(found) if found.permissions().mode() & 0o111 == 0 => {
            "it is not executable (`chmod +x` makes it so, or name its interpreter, such as `sh`)"
        }
        Ok(found) if found.is_file() && found.len() == 0 => "it is empty",
        Ok(_) => return script_problem(&path),
        Err(_) if Path::new(program).is_relative() && workspace == WorkspaceFiles::Unknown => return None,
        Err(_) => "it does not exist",
    };
    Some(problem.to_string())
}

/// A script that names an interpreter which is not there. A relative one is searched in the workspace.
fn script_problem(program: &Path) -> Option<String> {
    let mut start = Vec::new();
    std::fs::File::open(program).ok()?.take(LONGEST_SHEBANG).read_to_end(&mut start).ok()?;
    let line = String::from_utf8_lossy(start.strip_prefix(b"#!")?).into_owned();
    let interpreter = Path::new(line.lines().next()?.split_whitespace().next()?);
    let is_missing = interpreter.is_absolute() && !interpreter.exists();
    is_missing.then(|| format!("its interpreter {} does not exist", interpreter.display()))
}

/// The error for an agent that cannot be started, with those that can.
fn unavailable(program: &str, problem: &str, app: &AppContext) -> Failure {
    let found = installed_agents(&|name| app.program(name));
    let names: Vec<&str> = found.iter().map(|agent| agent.name).collect();
    let install = if problem == NOT_ON_PATH { format!("install `{program}`, or ") } else { String::new() };
    let advice = match names.first() {
        Some(first) => format!(
            "installed agents: {}; {install}name another agent after `--`, such as `-- {first}`",
            names.join(", ")
        ),
        None => format!("no supported agent found on PATH; {install}name another command after `--`"),
    };
    Failure::Unavailable(format!("the agent `{program}` cannot be started: {problem}; {advice}"))
}

/// The agent of a kind if it is installed, or the first known agent that is.
fn installed(kind: AgentKind, app: &AppContext) -> Result<Vec<String>, Failure> {
    let wanted = wanted(kind)?;
    let found = installed_agents(&|name| app.program(name));
    match (found.iter().find(|agent| wanted.is_none_or(|name| agent.name == name)), wanted) {
        (Some(agent), _) => {
            let (title, line) = (agent.title, agent.command_line());
            app.notice(format!("using {title}: {line}"), format!("使用するエージェント: {title}（{line}）"));
            Ok(words(agent))
        }
        (None, Some(name)) => Err(unavailable(name, NOT_ON_PATH, app)),
        (None, None) => Err(Failure::BadInput(
            "no agent was named and no supported agent found on PATH; name one after `--`, such as `-- claude`"
                .into(),
        )),
    }
}

/// The configured command line. Agents that are run as plain commands need their own arguments before the configured
/// ones.
fn configured(settings: &AgentSettings) -> Option<Vec<String>> {
    let (program, extra) = settings.command.split_first()?;
    let known = match settings.kind {
        AgentKind::Opencode => known_agent("opencode", program.into()),
        AgentKind::Gemini => known_agent("gemini", program.into()),
        AgentKind::Auto | AgentKind::Command | AgentKind::Claude | AgentKind::Codex => None,
    };
    let complete = |known: &InstalledAgent| words(known).into_iter().chain(extra.iter().cloned()).collect();
    Some(known.as_ref().map_or_else(|| settings.command.clone(), complete))
}

/// The name of the agent of a kind; `None` where any will do.
fn wanted(kind: AgentKind) -> Result<Option<&'static str>, Failure> {
    match kind {
        AgentKind::Auto => Ok(None),
        AgentKind::Claude => Ok(Some("claude")),
        AgentKind::Codex => Ok(Some("codex")),
        AgentKind::Opencode => Ok(Some("opencode")),
        AgentKind::Gemini => Ok(Some("gemini")),
        AgentKind::Command => Err(Failure::BadInput(
            "`agent.kind: command` needs `agent.command`; set it, or name the agent after `--`".into(),
        )),
    }
}

fn words(agent: &InstalledAgent) -> Vec<String> {
    let arguments = agent.arguments.iter().map(ToString::to_string);
    std::iter::once(agent.program.to_string_lossy().into_owned()).chain(arguments).collect()
}

/// A word of the agent's command line, as it is passed on in a private workspace. The program is found from the working
/// directory; another word that names a file outside the repository becomes an absolute path.
fn resolved_word(position: usize, word: &str, working_dir: &Path, root: &Path) -> String {
    let path = Path::new(word);
    let here = working_dir.join(path);
    if path.is_absolute() || !here.is_file() {
        return word.to_string();
    }
    let is_outside = here.canonicalize().is_ok_and(|target| !target.starts_with(root));
    if position == 0 && word.contains('/') {
        // An agent is recognised by its name, so a symbolic link keeps its own.
        let directory = here.parent().and_then(|directory| directory.canonicalize().ok());
        let program = directory.zip(here.file_name()).map(|(directory, name)| directory.join(name));
        program.unwrap_or(here).to_string_lossy().into_owned()
    } else if is_outside {
        here.canonicalize().unwrap_or(here).to_string_lossy().into_owned()
    } else {
        word.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_program_gets_the_arguments_of_its_kind() {
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
    fn words_that_name_files_work_in_a_workspace() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let root = base.join("repository");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        for file in ["agent.sh", "repository/inside.sh", "repository/sub/deep.sh"] {
            std::fs::write(base.join(file), "").unwrap();
        }
        let sub = root.join("sub");
        let word = |position, word: &str| resolved_word(position, word, &sub, &root);
        let absolute = |path: &str| base.join(path).to_string_lossy().into_owned();
        assert_eq!(word(0, "./deep.sh"), absolute("repository/sub/deep.sh"));
        std::os::unix::fs::symlink(base.join("agent.sh"), sub.join("claude")).unwrap();
        assert_eq!(word(0, "./claude"), absolute("repository/sub/claude"), "it keeps its name");
        assert_eq!(word(0, "deep.sh"), "deep.sh", "a bare name is looked up on PATH");
        assert_eq!(word(1, "../inside.sh"), "../inside.sh", "it exists in the workspace too");
        assert_eq!(word(1, "../../agent.sh"), absolute("agent.sh"));
        assert_eq!(word(1, "--flag"), "--flag");
        assert_eq!(word(1, "/bin/sh"), "/bin/sh");
    }
}
