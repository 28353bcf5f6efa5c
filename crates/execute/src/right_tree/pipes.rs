//! The shell for a command: one that fails when any part of a pipe fails, where the command has a pipe.

use std::path::Path;

use fixpoint_ports::{Cancel, Program};

use super::programs::find_program;
use super::shell_words::ShellWords;
use super::variables::Variables;
use crate::ExecutionContext;
use crate::error::ExecuteError;

impl ExecutionContext {
    pub(crate) fn shell_for(
        &self,
        command: String,
        words: &ShellWords,
        environment: &Variables,
        cancel: &Cancel,
    ) -> Result<Program, ExecuteError> {
        if !words.has_pipe {
            return Ok(Program::Shell(command));
        }
        for shell in ["bash", "sh"] {
            let is_found = find_program(shell, environment, Path::new("/")).is_some();
            if is_found && self.known_answer(&[shell, "-o", "pipefail", "-c", ":"], cancel)?.is_some() {
                let arguments = ["-o", "pipefail", "-c", &command].map(Into::into).to_vec();
                return Ok(Program::Direct { program: shell.into(), arguments });
            }
        }
        self.notice_once(
            "a check has a pipe and no shell here knows `pipefail`: only the last command of the pipe decides; install bash",
            "チェックにパイプがありますが、`pipefail` に対応するシェルがないため、パイプの最後のコマンドだけで判定します。bash をインストールしてください",
        );
        Ok(Program::Shell(command))
    }
}
