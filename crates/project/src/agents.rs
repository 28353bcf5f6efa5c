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
    /// The arguments. `{prompt}` stands for the task, `{prompt_file}` for a file with it.
    pub arguments: &'static [&'static str],
    pub prompt: PromptInput,
}

impl InstalledAgent {
    /// The command line, as it would be written after `--`.
    pub fn command_line(&self) -> String {
        let words = [self.name].into_iter().chain(self.arguments.iter().copied());
        words.collect::<Vec<&str>>().join(" ")
    }
}

/// How an agent gets its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptInput {
    /// On its standard input.
    Stdin,
    /// As the argument `{prompt}`. Its standard input should be empty: some agents read it too.
    Argument,
    /// In a file whose path is the argument `{prompt_file}`.
    File,
}

struct Known {
    name: &'static str,
    title: &'static str,
    arguments: &'static [&'static str],
    prompt: PromptInput,
}

/// In order of preference.
const KNOWN: [Known; 9] = [
    Known { name: "claude", title: "Claude Code", arguments: &[], prompt: PromptInput::Stdin },
    Known { name: "codex", title: "Codex", arguments: &[], prompt: PromptInput::Stdin },
    Known {
        name: "opencode",
        title: "OpenCode",
        arguments: &["run", "{prompt}"],
        prompt: PromptInput::Argument,
    },
    Known {
        name: "gemini",
        title: "Gemini CLI",
        // A private workspace is a directory it has never been told to trust.
        arguments: &["--skip-trust", "--approval-mode", "auto_edit", "-p", "{prompt}"],
        prompt: PromptInput::Argument,
    },
    Known {
        name: "cursor-agent",
        title: "Cursor CLI",
        // Without `--force` it only proposes changes.
        arguments: &["-p", "--force", "{prompt}"],
        prompt: PromptInput::Argument,
    },
    Known {
        name: "copilot",
        title: "GitHub Copilot CLI",
        arguments: &["--allow-all-tools", "-p", "{prompt}"],
        prompt: PromptInput::Argument,
    },
    Known {
        name: "qwen",
        title: "Qwen Code",
        arguments: &["--approval-mode", "auto-edit", "-p", "{prompt}"],
        prompt: PromptInput::Argument,
    },
    Known {
        name: "goose",
        title: "goose",
        arguments: &["run", "--no-session", "-i", "-"],
        prompt: PromptInput::Stdin,
    },
    Known {
        name: "aider",
        title: "Aider",
        // It would commit its edits and what was changed before them, add its own files to .gitignore, and leave its
        // history and its map of the repository among the results.
        arguments: &[
            "--yes-always",
            "--no-auto-commits",
            "--no-dirty-commits",
            "--no-gitignore",
            "--chat-history-file",
            "/dev/null",
            "--map-tokens",
            "0",
            "--message-file",
            "{prompt_file}",
        ],
        prompt: PromptInput::File,
    },
];

/// The supported agent of this name, installed as `program`.
pub fn known_agent(name: &str, program: PathBuf) -> Option<InstalledAgent> {
    installed_agents(&|known| (known == name).then(|| program.clone())).pop()
}

/// The supported agents that are installed, in order of preference. `find` looks a program up on the `PATH`.
pub fn installed_agents(find: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<InstalledAgent> {
    let found = KNOWN.iter().filter_map(|Known { name, title, arguments, prompt }| {
        let program = find(name)?;
        Some(InstalledAgent { name, title, program, arguments, prompt: *prompt })
    });
    found.collect()
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
            arguments: &[],
            prompt: PromptInput::Stdin,
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

    #[test]
    fn the_arguments_match_how_the_task_is_given() {
        for agent in installed_agents(&everything) {
            let has = |word| agent.arguments.contains(&word);
            let said = match agent.prompt {
                PromptInput::Stdin => !has("{prompt}") && !has("{prompt_file}"),
                PromptInput::Argument => has("{prompt}") && !has("{prompt_file}"),
                PromptInput::File => has("{prompt_file}") && !has("{prompt}"),
            };
            assert!(said, "{agent:?}");
        }
    }
}
