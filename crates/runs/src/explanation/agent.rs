//! What the agent had to do with how a task stands: refused, ended by a limit, or all words and no change.
//!
//! Its last words are shown because they often say why; they are quoted, and nothing is concluded from them.

use fixpoint_decide::progress::ProgressKind;
use fixpoint_vocabulary::work::{AgentEnd, AttemptResult};

use super::{TaskExplainer, short};
use crate::history::Iteration;

impl TaskExplainer<'_> {
    /// Whether the attempt that would be made now was refused by the agent's provider.
    fn refused(&self) -> Option<&AttemptResult> {
        let open = self.task.history.open_attempt().map(|made| &made.result);
        open.filter(|result| result.end == AgentEnd::Unavailable)
    }

    /// What an agent that is unavailable comes to.
    pub(super) fn unavailable(&self) -> String {
        match self.refused() {
            Some(_) => self.say(
                "Paused: the agent's provider refuses it, for now or until its account is seen to. The attempt does \
                 not count.",
                "一時停止: エージェントの提供元が拒否しています(一時的、またはアカウントの問題)。この試行は数えません。",
            ),
            None => self.say("The agent could not be started.", "エージェントを起動できませんでした。"),
        }
    }

    /// What a refused agent said.
    pub(super) fn refusal(&self) -> Option<String> {
        self.refused().and_then(|result| self.last_words(result))
    }

    fn last_words(&self, result: &AttemptResult) -> Option<String> {
        let said = short(result.last_words.as_ref()?.as_str());
        Some(self.say(format!("The agent's last words: {said}"), format!("エージェントの最後の言葉: {said}")))
    }

    /// How the agent's last attempt ended, where that is worth knowing.
    pub(super) fn agent_lines(&self, last: &Iteration) -> Vec<String> {
        let Some(result) = last.attempt.as_ref().map(|made| &made.result) else { return Vec::new() };
        let ended = match (result.end, result.exit_code) {
            (AgentEnd::TimedOut, _) => Some(self.say(
                "The agent was ended by its time limit.",
                "エージェントは制限時間で終了させられました。",
            )),
            (AgentEnd::Exited, Some(code)) if code != 0 => Some(self.say(
                format!("The agent ended with code {code}."),
                format!("エージェントは終了コード{code}で終わりました。"),
            )),
            (AgentEnd::Exited | AgentEnd::CouldNotStart | AgentEnd::Unavailable, _) => None,
        };
        let is_idle = last.judged.verdict.progress == ProgressKind::NoChange;
        let words = self.last_words(result).filter(|_| is_idle);
        ended.into_iter().chain(words).collect()
    }

    /// What to look at where the last attempt ended as if all were well and had changed nothing.
    pub(super) fn idle_hint(&self) -> Option<String> {
        let last = self.task.history.iterations.last()?;
        let code = last.attempt.as_ref().and_then(|made| made.result.exit_code);
        let is_idle = last.judged.verdict.progress == ProgressKind::NoChange && code == Some(0);
        is_idle.then(|| {
            self.say(
                "The agent changed nothing and ended as if all were well. It may not have been permitted to act: see its \
                 last words, and `fixpoint logs --agent`.",
                "エージェントは何も変更せず正常に終了しました。操作が許可されていない可能性があります: 最後の言葉と \
                 `fixpoint logs --agent` を見てください。",
            )
        })
    }

    /// What can be done about an agent that is unavailable.
    pub(super) fn after_unavailable(&self) -> String {
        match self.refused() {
            Some(_) => self.say(
                "See to its sign-in or its account, or wait; then `fixpoint resume` makes the attempt again.",
                "サインインやアカウントを確認するか待ってから、`fixpoint resume` で試行をやり直します。",
            ),
            None => self.say(
                "Check that the agent is installed and on the PATH: `fixpoint doctor`.",
                "エージェントがPATHにあるか確認してください: `fixpoint doctor`。",
            ),
        }
    }
}
