//! What the agent has to do with the state of a task: refused by its provider, stopped by a limit, or nothing changed.
//!
//! Its last message is shown because it often says why; nothing is concluded from it.

use fixpoint_vocabulary::work::{AgentEnd, AttemptResult};

use super::conduct::changed_nothing;
use super::{TaskExplainer, short};
use crate::history::Iteration;

impl TaskExplainer<'_> {
    /// The current attempt, if the agent's provider refused it.
    fn refused(&self) -> Option<&AttemptResult> {
        let open = self.task.history.open_attempt().map(|made| &made.result);
        open.filter(|result| result.end == AgentEnd::Unavailable)
    }

    pub(super) fn unavailable(&self) -> String {
        match self.refused() {
            Some(_) => self.say(
                "Paused: the agent's provider refused the request (rate limit, sign-in or account). The attempt does \
                 not count.",
                "一時停止: エージェントの提供元がリクエストを拒否しました（利用制限、サインイン、アカウントなど）。この試行は\
                 数えません。",
            ),
            None => self.say("The agent could not be started.", "エージェントを起動できませんでした。"),
        }
    }

    pub(super) fn refusal(&self) -> Option<String> {
        self.refused().and_then(|result| self.last_words(result))
    }

    fn last_words(&self, result: &AttemptResult) -> Option<String> {
        let said = short(result.last_words.as_ref()?.as_str());
        Some(self.say(
            format!("Last message of the agent: {said}"),
            format!("エージェントの最後のメッセージ: {said}"),
        ))
    }

    /// How the agent ended, unless it exited with code 0.
    pub(super) fn agent_lines(&self, last: &Iteration) -> Vec<String> {
        let Some(result) = last.attempt.as_ref().map(|made| &made.result) else { return Vec::new() };
        let ended = match (result.end, result.exit_code) {
            (AgentEnd::TimedOut, _) => Some(self.say(
                "The agent was stopped by its time limit.",
                "エージェントは制限時間により停止されました。",
            )),
            (AgentEnd::Exited, Some(code)) if code != 0 => Some(self.say(
                format!("The agent exited with code {code}."),
                format!("エージェントは終了コード{code}で終了しました。"),
            )),
            (AgentEnd::Exited | AgentEnd::CouldNotStart | AgentEnd::Unavailable, _) => None,
        };
        let is_idle = changed_nothing(last);
        let words = self.last_words(result).filter(|_| is_idle);
        ended.into_iter().chain(words).collect()
    }

    /// What to look at where the agent reported success and changed nothing.
    pub(super) fn idle_hint(&self) -> Option<String> {
        let last = self.task.history.iterations.last()?;
        let code = last.attempt.as_ref().and_then(|made| made.result.exit_code);
        let changed = |iteration: &Iteration| {
            iteration.attempt.as_ref().is_some_and(|made| made.result.changed_files > 0)
        };
        let is_idle =
            changed_nothing(last) && code == Some(0) && !self.task.history.iterations.iter().any(changed);
        is_idle.then(|| {
            self.say(
                "The agent exited successfully without changing a file. It may lack permission to edit: see its last \
                 message and `fixpoint logs --agent`.",
                "エージェントは何も変更せずに正常終了しました。編集の権限がない可能性があります。最後のメッセージと \
                 `fixpoint logs --agent` を確認してください。",
            )
        })
    }

    pub(super) fn after_unavailable(&self) -> String {
        match self.refused() {
            Some(_) => self.say(
                "Check the agent's sign-in and account, or wait; then `fixpoint resume` repeats the attempt.",
                "サインインとアカウントを確認するか、しばらく待ってから `fixpoint resume` で試行をやり直してください。",
            ),
            None => self.say(
                "Check that the agent is installed and on the PATH: `fixpoint doctor`.",
                "エージェントがインストールされ、PATH にあるか確認してください: `fixpoint doctor`。",
            ),
        }
    }
}
