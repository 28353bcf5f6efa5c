//! How a whole run stands, in words: of one task its own, of a plan what became of its tasks.

use fixpoint_decide::run::{Node, NodeKind, Standing, TaskSource};
use fixpoint_vocabulary::{Cause, Lang, TaskState, Text};

use crate::diagnosis::cause_name;
use crate::explanation::{Explanation, counted, explain_task, idle_hint};
use crate::view::{RunView, TaskView};

/// Tasks that are named.
const MOST_TASKS: usize = 12;
/// Beside no more tasks than these there is room to say what one of them came to.
const FEW_TASKS: usize = 4;
const MOST_OF_ONE: usize = 4;

/// Explains how a run stands.
pub fn explain(view: RunView<'_>, lang: Lang) -> Explanation {
    match (&view.run.order().tasks, view.first()) {
        (TaskSource::Given(_), Some(task)) => explain_task(view.run, task, lang),
        (TaskSource::Given(_) | TaskSource::Planned(_), _) => RunExplainer { view, lang }.explain(),
    }
}

struct RunExplainer<'a> {
    view: RunView<'a>,
    lang: Lang,
}

impl<'a> RunExplainer<'a> {
    fn say(&self, en: impl Into<String>, ja: impl Into<String>) -> String {
        Text::new(en.into(), ja.into()).in_lang(self.lang).to_string()
    }

    fn explain(&self) -> Explanation {
        let what = match self.view.cause() {
            Some(cause) => self.what(cause),
            None => self.working(),
        };
        Explanation { what, evidence: self.evidence(), next: self.next() }
    }

    fn count(&self, state: TaskState) -> usize {
        self.worked().filter(|node| node.state == state).count()
    }

    /// The tasks that stand for something, without those that were replaced and those that only bring together.
    fn worked(&self) -> impl Iterator<Item = &Node> {
        let stands = |node: &&Node| !node.is_merge() && node.state != TaskState::ReplacedByReplan;
        self.view.run.tasks().filter(stands)
    }

    fn what(&self, cause: Cause) -> String {
        let (done, all) = (self.count(TaskState::Done), self.worked().count());
        match cause {
            Cause::Done if all == 0 => self.say("The plan is accepted.", "計画は承認されました。"),
            Cause::Done => self.say(
                format!("Done: {done} of {all} tasks, each with its evidence, brought together and checked."),
                format!("完了: {all}件中{done}件のタスクが証拠付きで完了し、統合されました。"),
            ),
            Cause::AlreadySatisfied => self
                .say("Everything asked for was there already.", "求められたことはすでに満たされています。"),
            Cause::Partial => self.say(
                format!("Partly done: {done} of {all} tasks; what is done is delivered, the rest is not."),
                format!("一部完了: {all}件中{done}件。完了分のみ成果物に含まれます。"),
            ),
            Cause::PlanRejected => self
                .say("No plan was good enough to be carried out.", "実行に値する計画が得られませんでした。"),
            Cause::PlanRefused => self.say(
                "The plan holds something that must not be run.",
                "計画に実行してはならないものが含まれています。",
            ),
            Cause::NeedsClarification => self.say(
                "The goal is unclear, and nobody answered the questions.",
                "目標が不明確で、質問への回答がありませんでした。",
            ),
            Cause::ModelUnavailable => self.say(
                "No model gave an answer that could be used.",
                "使える回答を返すモデルがありませんでした。",
            ),
            Cause::JudgeUnavailable => self.say(
                "The judge gave no answer that could be read, so nothing counts as agreed.",
                "判定者の回答が読めず、合意とはみなしません。",
            ),
            Cause::Budget => self.say(
                "Paused: the budget does not allow the next step.",
                "一時停止: 予算が次の一歩を許しません。",
            ),
            Cause::Stopped => {
                self.say("Stopped by a person. The state is kept.", "人が停止しました。状態は残っています。")
            }
            cause @ (Cause::NotConverging
            | Cause::MaxIterations
            | Cause::MaxReplans
            | Cause::JudgeGaveUp
            | Cause::ReplanningDisabled
            | Cause::ScopeViolation
            | Cause::RequiresHumanIntervention
            | Cause::ApprovalRefused
            | Cause::ApprovalTimeout
            | Cause::Waiting
            | Cause::Conflict
            | Cause::AgentUnavailable
            | Cause::Infrastructure
            | Cause::BaselineUnusable
            | Cause::Dependency) => {
                let name = cause_name(cause);
                self.say(
                    format!("Ended as {name}: {done} of {all} tasks are done."),
                    format!("{name} で終了: {all}件中{done}件完了。"),
                )
            }
        }
    }

    fn working(&self) -> String {
        let (running, done) = (self.count(TaskState::Running), self.count(TaskState::Done));
        match self.worked().count() {
            0 => self.say("It is being planned.", "計画中です。"),
            all => self.say(
                format!("{done} of {all} tasks are done, {running} under way."),
                format!("{all}件中{done}件完了、{running}件実行中。"),
            ),
        }
    }

    fn evidence(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.view.history.last_error.iter().cloned().collect();
        lines.extend(self.view.history.unusable_answer.iter().map(|problem| {
            self.say(
                format!("the last answer could not be used: {problem}"),
                format!("最後の回答は使えませんでした: {problem}"),
            )
        }));
        lines.extend(self.goal_lines());
        lines.extend(self.plan_line());
        lines.extend(self.view.run.review().findings.iter().cloned());
        let in_vain = self.view.run.waiting_in_vain();
        for node in self.view.run.tasks().take(MOST_TASKS) {
            let is_in_vain = in_vain.contains(node.id());
            lines.push(self.task_line(node, is_in_vain));
        }
        if let Some(task) = self.stuck() {
            let told = explain_task(self.view.run, task, self.lang).evidence.into_iter().take(MOST_OF_ONE);
            lines.extend(told);
        }
        lines.extend(
            self.view
                .run
                .missing_aspects()
                .iter()
                .map(|missing| self.say(format!("missing: {missing}"), format!("不足: {missing}"))),
        );
        lines
    }

    /// What is not certain about the goal: what was asked, what was assumed, and what cannot be done of it.
    fn goal_lines(&self) -> Vec<String> {
        let planning = self.view.run.planning();
        let line =
            |en: &str, ja: &str, item: &String| self.say(format!("{en}: {item}"), format!("{ja}: {item}"));
        let mut lines: Vec<String> =
            self.view.history.questions.iter().map(|item| line("asked", "質問", item)).collect();
        let understanding =
            planning.understanding.iter().flat_map(|understanding| &understanding.assumptions);
        lines.extend(understanding.map(|item| line("assumed", "仮定", item)));
        if let Some(partial) = &planning.partial {
            lines.extend(partial.infeasible.iter().map(|item| line("not possible", "実行不可", item)));
            lines.extend(partial.alternatives.iter().map(|item| line("instead", "代替案", item)));
        }
        lines
    }

    fn plan_line(&self) -> Option<String> {
        let review = self.view.run.review();
        let plan = review.plan()?;
        let last = review.decisions.last()?;
        let score = plan
            .score()
            .map_or_else(String::new, |score| format!(", {:.0} (n={})", score.get(), plan.scores().len()));
        let reason = last.reason.text.in_lang(self.lang);
        Some(self.say(
            format!(
                "plan: {}{score}, {}: {reason}",
                counted(plan.tasks.len(), "task"),
                counted(review.revisions.len(), "revision")
            ),
            format!("計画: {}タスク{score}、{}版: {reason}", plan.tasks.len(), review.revisions.len()),
        ))
    }

    fn task_line(&self, node: &Node, is_in_vain: bool) -> String {
        let attempts = node.run.as_ref().map_or(0, |run| run.attempts());
        let state = match (node.state, node.cause, is_in_vain) {
            (_, _, true) => "blocked (dependency)".to_string(),
            (TaskState::Blocked, Some(cause), false) => format!("blocked ({})", cause_name(cause)),
            (TaskState::ReplacedByReplan, ..) => {
                let names: Vec<&str> = node.replaced_by.iter().map(|id| id.as_str()).collect();
                format!("replaced by {}", names.join(", "))
            }
            (TaskState::Done, ..) if self.view.run.left_out().any(|id| id == node.id()) => {
                "done, left out of the result".to_string()
            }
            (state, ..) => state_name(state).to_string(),
        };
        let kind = match node.kind {
            NodeKind::Merge { .. } => " (merge)",
            NodeKind::Given | NodeKind::Planned | NodeKind::Replanned | NodeKind::Added => "",
        };
        self.say(
            format!("{}{kind}: {state}, {}", node.id(), counted(attempts as usize, "attempt")),
            format!("{}{kind}: {state}、試行{attempts}回", node.id()),
        )
    }

    /// The task that stands in the way of a small run.
    fn stuck(&self) -> Option<TaskView<'a>> {
        let mut blocked = self.view.run.tasks().filter(|node| node.state == TaskState::Blocked);
        let (node, others) = (blocked.next()?, blocked.next());
        let is_told = others.is_none() && self.view.run.tasks().count() <= FEW_TASKS;
        self.view.task(node.id()).filter(|_| is_told)
    }

    fn look(&self) -> String {
        self.say(
            "`fixpoint diff` shows the result, `fixpoint apply` brings it into the working tree",
            "`fixpoint diff` で結果を表示、`fixpoint apply` で作業ツリーに反映します",
        )
    }

    fn next(&self) -> Vec<String> {
        let Some(cause) = self.view.cause() else { return Vec::new() };
        let blocked = self.view.run.tasks().find(|node| node.state == TaskState::Blocked);
        match (cause, blocked) {
            (Cause::AlreadySatisfied, _) => {
                vec![self.say("There is nothing left to do.", "これ以上することはありません。")]
            }
            (Cause::Done, _) if self.worked().count() == 0 => {
                vec![self.say("`fixpoint run` carries the plan out", "`fixpoint run` で計画を実行します")]
            }
            (Cause::Done, _) => vec![self.look()],
            (Cause::Partial, None) => vec![self.look()],
            (Cause::Budget, _) => vec![self.say(
                "`fixpoint resume RUN --budget +2usd` goes on with more",
                "`fixpoint resume RUN --budget +2usd` で予算を足して続行",
            )],
            (Cause::NeedsClarification, _) => vec![self.say(
                "say it in the goal, or run it where questions can be answered",
                "目標に書き加えるか、質問に答えられる環境で実行してください",
            )],
            (Cause::ModelUnavailable | Cause::JudgeUnavailable, _) => match self.view.run.standing() {
                Standing::Ended { .. } => vec![self.say(
                    "name another model in `models.planner` or `models.judge`, give answers more room with \
                     `models.max_output_tokens`, or take the goal as one task with `--no-plan`; then begin a new run",
                    "`models.planner` や `models.judge` に別のモデルを指定する、`models.max_output_tokens` を増やす、\
                     または `--no-plan` で目標を一つのタスクとして、新しく実行してください",
                )],
                Standing::New | Standing::Working | Standing::Paused { .. } => vec![self.say(
                    "`fixpoint doctor` says which models were found; then `fixpoint resume RUN`",
                    "`fixpoint doctor` でモデルを確認し、`fixpoint resume RUN` で続行",
                )],
            },
            (_, Some(node)) => {
                let path = format!("context/{}/diagnosis.md", node.id());
                let again = self.say(
                    format!(
                        "read {path} in the run's directory; `fixpoint resume RUN --task {}` tries again",
                        node.id()
                    ),
                    format!("{path} を読み、`fixpoint resume RUN --task {}` で再試行", node.id()),
                );
                let look = (cause == Cause::Partial).then(|| self.look());
                let hint = self.stuck().and_then(|task| idle_hint(self.view.run, task, self.lang));
                look.into_iter().chain(hint).chain([again]).collect()
            }
            (_, None) => vec![self.say("`fixpoint resume RUN` goes on", "`fixpoint resume RUN` で続行")],
        }
    }
}

/// The word for a state, as people are shown it.
pub fn state_name(state: TaskState) -> &'static str {
    match state {
        TaskState::Ready => "ready",
        TaskState::Running => "running",
        TaskState::NeedsContinuation => "needs continuation",
        TaskState::Done => "done",
        TaskState::Blocked => "blocked",
        TaskState::Cancelled => "cancelled",
        TaskState::ReplacedByReplan => "replaced",
    }
}
