//! The supported coding agents, and which of them are installed.
//!
//! Owns for each the command line that works on one task without asking anybody; Claude Code and Codex have none here,
//! since their arguments differ between attempts. Each agent may edit files. None is told to switch off a sandbox of its
//! own: that is for a person to decide.
//!
//! Starts nothing; the caller looks programs up.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledAgent {
    /// The name of its program.
    pub name: &'static str,
    /// What its makers call it.
    pub title: &'static str,
    /// Where the program is.
    pub program: PathBuf,
    /// The arguments. `{prompt}` stands for the task, `{prompt_file}` for a file with it; without either, the agent reads
    /// the task from its standard input.
    pub arguments: Vec<&'static str>,
}

impl InstalledAgent {
    /// The command line, as it would be written after `--`.
    pub fn command_line(&self) -> String {
        let words = [self.name].into_iter().chain(self.arguments.iter().copied());
        words.collect::<Vec<&str>>().join(" ")
    }
}

/// Program, title and arguments of each supported agent, in order of preference.
const KNOWN: [(&str, &str, &str); 9] = [
    ("claude", "Claude Code", ""),
    ("codex", "Codex", ""),
    ("opencode", "OpenCode", "run {prompt}"),
    // A private workspace is a directory it has never been told to trust.
    ("gemini", "Gemini CLI", "--skip-trust --approval-mode auto_edit -p {prompt}"),
    // Without `--force` it only proposes changes.
    ("cursor-agent", "Cursor CLI", "-p --force {prompt}"),
    ("copilot", "GitHub Copilot CLI", "--allow-all-tools -p {prompt}"),
    ("qwen", "Qwen Code", "--approval-mode auto-edit -p {prompt}"),
    ("goose", "goose", "run --no-session -i -"),
    // It would commit its edits and what was changed before them, add its own files to .gitignore, and leave its
    // history and its map of the repository among the results.
    (
        "aider",
        "Aider",
        "--yes-always --no-auto-commits --no-dirty-commits --no-gitignore --chat-history-file /dev/null --map-tokens 0 \
         --message-file {prompt_file}",
    ),
];

/// The supported agent of this name, installed as `program`.
pub fn known_agent(name: &str, program: PathBuf) -> Option<InstalledAgent> {
    installed_agents(&|known| (known == name).then(|| program.clone())).pop()
}

/// The supported agents that are installed, in order of preference. `find` looks a program up on the `PATH`.
pub fn installed_agents(find: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<InstalledAgent> {
    let installed = |(name, title, arguments): (&'static str, &'static str, &'static str)| {
        let arguments = arguments.split_whitespace().collect();
        Some(InstalledAgent { name, title, program: find(name)?, arguments })
    };
    KNOWN.into_iter().filter_map(installed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything(name: &str) -> Option<PathBuf> {
        Some(PathBuf::from("/bin").join(name))
    }

    #[test]
    fn only_installed_agents_are_found() {
        let installed = |name: &str| (name == "codex").then(|| PathBuf::from("/opt/codex"));
        let expected = InstalledAgent {
            name: "codex",
            title: "Codex",
            program: PathBuf::from("/opt/codex"),
            arguments: vec![],
        };
        assert_eq!(known_agent("codex", PathBuf::from("/opt/codex")).as_ref(), Some(&expected));
        assert_eq!(known_agent("nobody", PathBuf::from("/opt/codex")), None);
        assert_eq!(installed_agents(&installed), [expected]);
        assert_eq!(installed_agents(&|_| None), []);
    }

    #[test]
    fn command_lines_are_as_their_makers_document_them() {
        let lines: Vec<String> =
            installed_agents(&everything).iter().map(InstalledAgent::command_line).collect();
        let expected = [
            "claude",
            "codex",
            "opencode run {prompt}",
            "gemini --skip-trust --approval-mode auto_edit -p {prompt}",
            "cursor-agent -p --force {prompt}",
            "copilot --allow-all-tools -p {prompt}",
            "qwen --approval-mode auto-edit -p {prompt}",
            "goose run --no-session -i -",
            "aider --yes-always --no-auto-commits --no-dirty-commits --no-gitignore --chat-history-file /dev/null \
             --map-tokens 0 --message-file {prompt_file}",
        ];
        assert_eq!(lines, expected);
    }

    /// Without a placeholder the task is written to standard input, so there may be one at most.
    #[test]
    fn the_task_is_given_in_one_way() {
        for agent in installed_agents(&everything) {
            let placeholders =
                agent.arguments.iter().filter(|word| ["{prompt}", "{prompt_file}"].contains(word));
            let reads_stdin = ["claude", "codex", "goose"].contains(&agent.name);
            assert_eq!(placeholders.count(), usize::from(!reads_stdin), "{agent:?}");
        }
    }
}
