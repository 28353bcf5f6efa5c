//! The coding agents that are known, and which of them are installed.
//!
//! Owns, for each, the command line that works through one task without asking anybody; those that are completed for
//! each attempt have none here. Each may edit the files it works on; none is told to skip its own confinement where it
//! has one, since it is up to a person to say so.
//!
//! Refuses to start anything: where a program lies, the caller looks up.

use std::path::PathBuf;

/// An agent that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundAgent {
    /// The name of its program.
    pub name: &'static str,
    /// What its makers call it.
    pub title: &'static str,
    /// Where the program lies.
    pub program: PathBuf,
    /// The arguments after the program, one each. `{prompt}` stands for the task, `{prompt_file}` for a file with it.
    pub arguments: &'static [&'static str],
    /// How it is told the task.
    pub prompt: PromptBy,
}

impl FoundAgent {
    /// The command line, as it would be written after `--`.
    pub fn command_line(&self) -> String {
        let words = [self.name].into_iter().chain(self.arguments.iter().copied());
        words.collect::<Vec<&str>>().join(" ")
    }
}

/// How an agent is told its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptBy {
    /// On its standard input.
    Stdin,
    /// As the argument `{prompt}`. Its standard input should be empty: some read it as well.
    Argument,
    /// In a file whose path is the argument `{prompt_file}`.
    File,
}

struct Known {
    name: &'static str,
    title: &'static str,
    arguments: &'static [&'static str],
    prompt: PromptBy,
}

/// In the order in which they are offered.
const KNOWN: [Known; 9] = [
    Known { name: "claude", title: "Claude Code", arguments: &[], prompt: PromptBy::Stdin },
    Known { name: "codex", title: "Codex", arguments: &[], prompt: PromptBy::Stdin },
    Known {
        name: "opencode",
        title: "OpenCode",
        arguments: &["run", "{prompt}"],
        prompt: PromptBy::Argument,
    },
    Known {
        name: "gemini",
        title: "Gemini CLI",
        // A private workspace is a directory it has never been told to trust.
        arguments: &["--skip-trust", "--approval-mode", "auto_edit", "-p", "{prompt}"],
        prompt: PromptBy::Argument,
    },
    Known {
        name: "cursor-agent",
        title: "Cursor CLI",
        // Without `--force` it only proposes changes.
        arguments: &["-p", "--force", "{prompt}"],
        prompt: PromptBy::Argument,
    },
    Known {
        name: "copilot",
        title: "GitHub Copilot CLI",
        arguments: &["--allow-all-tools", "-p", "{prompt}"],
        prompt: PromptBy::Argument,
    },
    Known {
        name: "qwen",
        title: "Qwen Code",
        arguments: &["--approval-mode", "auto-edit", "-p", "{prompt}"],
        prompt: PromptBy::Argument,
    },
    Known {
        name: "goose",
        title: "goose",
        arguments: &["run", "--no-session", "-i", "-"],
        prompt: PromptBy::Stdin,
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
        prompt: PromptBy::File,
    },
];

/// An agent that is known by its name, as a program that lies wherever it lies.
pub fn agent(name: &str, program: PathBuf) -> Option<FoundAgent> {
    agents(&|known| (known == name).then(|| program.clone())).pop()
}

/// The known agents that are installed, in the order in which they are offered. `find` looks a program up, as in
/// the directories of `PATH`.
pub fn agents(find: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<FoundAgent> {
    let found = KNOWN.iter().filter_map(|Known { name, title, arguments, prompt }| {
        let program = find(name)?;
        Some(FoundAgent { name, title, program, arguments, prompt: *prompt })
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
    fn only_what_is_installed_is_found() {
        let installed = |name: &str| (name == "codex").then(|| PathBuf::from("/opt/codex"));
        let expected = FoundAgent {
            name: "codex",
            title: "Codex",
            program: PathBuf::from("/opt/codex"),
            arguments: &[],
            prompt: PromptBy::Stdin,
        };
        assert_eq!(agent("codex", PathBuf::from("/opt/codex")).as_ref(), Some(&expected));
        assert_eq!(agent("nobody", PathBuf::from("/opt/codex")), None);
        assert_eq!(agents(&installed), [expected]);
        assert_eq!(agents(&|_| None), []);
    }

    #[test]
    fn command_lines_are_as_their_makers_document_them() {
        let lines: Vec<String> = agents(&everything).iter().map(FoundAgent::command_line).collect();
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
    fn the_task_is_given_exactly_the_way_that_is_said() {
        for agent in agents(&everything) {
            let has = |word| agent.arguments.contains(&word);
            let said = match agent.prompt {
                PromptBy::Stdin => !has("{prompt}") && !has("{prompt_file}"),
                PromptBy::Argument => has("{prompt}") && !has("{prompt_file}"),
                PromptBy::File => has("{prompt_file}") && !has("{prompt}"),
            };
            assert!(said, "{agent:?}");
        }
    }
}
