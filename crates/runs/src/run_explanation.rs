//! The state of a run in words: that of its only task, or that of its plan and the tasks of it.

use fixpoint_decide::run::{RunStatus, TaskKind, TaskNode, TaskSource};
use fixpoint_vocabulary::{Cause, Lang, TaskState, counted};

use crate::base_report::{implied_goal_lines, unusable_hints, unusable_lines};
use crate::explanation::{Explanation, explain_task, idle_hint};
use crate::reached_limits::reached_limits;
use crate::view::{RunView, TaskView};
use crate::words::{cause_name, say, state_words};

/// Tasks that are listed.
const MOST_TASKS: usize = 12;
/// With so few tasks there is room for the evidence of the blocked one.
const FEW_TASKS: usize = 4;
const MOST_OF_ONE: usize = 4;

/// The state of a run, in words.
pub fn explain(view: RunView<'_>, lang: Lang) -> Explanation {
    match (&view.run.options().tasks, view.first()) {
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
        say(self.lang, en, ja)
    }

    fn label(&self, en: &str, ja: &str, text: &str) -> String {
        format!("{}: {text}", self.say(en, ja))
    }

    fn explain(&self) -> Explanation {
        let what = self.view.cause().map_or_else(|| self.working(), |cause| self.what(cause));
        Explanation { what, evidence: self.evidence(), next: self.next() }
    }

    fn count(&self, state: TaskState) -> usize {
        self.worked().filter(|node| node.state == state).count()
    }

    /// The tasks that count: without replaced ones and merges.
    fn worked(&self) -> impl Iterator<Item = &TaskNode> {
        let counts = |node: &&TaskNode| !node.is_merge() && node.state != TaskState::ReplacedByReplan;
        self.view.run.tasks().filter(counts)
    }

    fn what(&self, cause: Cause) -> String {
        let (done, all) = (self.count(TaskState::Done), self.worked().count());
        match cause {
            Cause::Done if all == 0 => self.say("The plan is accepted.", "計画は承認されました。"),
            Cause::Done => self.say(
                format!(
                    "Done: {done} of {}, each verified, merged, and verified again.",
                    counted(all, "task")
                ),
                format!("完了: タスク{all}件中{done}件。それぞれ検証し、マージ後に再び検証しました。"),
            ),
            Cause::AlreadySatisfied => {
                self.say("Nothing to do: the goal is reached already.", "目標はすでに達成されています。")
            }
            Cause::Partial => self.say(
                format!("Partly done: {done} of {}. The result contains only these.", counted(all, "task")),
                format!("一部完了: タスク{all}件中{done}件。成果物に含まれるのは完了分だけです。"),
            ),
            Cause::PlanRejected => {
                self.say("No plan was good enough to execute.", "実行できる水準の計画が得られませんでした。")
            }
            Cause::PlanRefused => self.say(
                "The plan contains something that must not be run.",
                "計画に、実行してはならない内容が含まれています。",
            ),
            Cause::NeedsClarification => self.say(
                "The goal is unclear, and the questions were not answered.",
                "目標が不明確で、質問への回答がありませんでした。",
            ),
            Cause::ModelUnavailable => {
                self.say("No model gave a usable answer.", "利用できる回答を返すモデルがありませんでした。")
            }
            Cause::JudgeUnavailable => self.say(
                "The judge gave no readable answer, so nothing counts as approved.",
                "判定者の回答を読み取れないため、承認とはみなしません。",
            ),
            Cause::Budget => {
                let limits = reached_limits(self.view.run, self.lang).limits;
                self.say(
                    format!("Paused: the budget ({limits}) does not allow the next step."),
                    format!("一時停止: 予算（{limits}）が足りず、次に進めません。"),
                )
            }
            Cause::BaselineUnusable if all == 0 => self.unusable_base(),
            Cause::Stopped => {
                self.say("Stopped by the user. It can be resumed.", "ユーザーが停止しました。再開できます。")
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
                    format!("Ended ({name}): {done} of {} done.", counted(all, "task")),
                    format!("終了（{name}）: タスク{all}件中{done}件が完了。"),
                )
            }
        }
    }

    fn unusable_base(&self) -> String {
        self.say(
            "Cannot start: a check does not work on the base. No model was asked.",
            "開始できません: ベースでチェックが正しく動きません。モデルには問い合わせていません。",
        )
    }

    fn working(&self) -> String {
        let (running, done) = (self.count(TaskState::Running), self.count(TaskState::Done));
        match self.worked().count() {
            0 if !self.view.run.base_checks().is_settled => {
                self.say("Running the checks on the base.", "ベースでチェックを実行中です。")
            }
            0 => self.say("Planning.", "計画中です。"),
            all => self.say(
                format!("{done} of {} done, {running} running.", counted(all, "task")),
                format!("タスク{all}件中{done}件が完了、{running}件を実行中です。"),
            ),
        }
    }

    fn evidence(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.view.history.last_error.iter().cloned().collect();
        let (en, ja) =
            ("the model's last answer could not be used", "モデルの最後の回答を利用できませんでした");
        lines.extend(self.view.history.unusable_answer.iter().map(|problem| self.label(en, ja, problem)));
        lines.extend(self.unusable_checks());
        lines.extend(implied_goal_lines(self.view.run, self.lang));
        lines.extend(self.goal_lines());
        lines.extend(self.plan_line());
        lines.extend(self.view.run.review().findings.iter().cloned());
        let in_vain = self.view.run.unreachable_tasks();
        let tasks = self.view.run.tasks().take(MOST_TASKS);
        lines.extend(tasks.map(|node| self.task_line(node, in_vain.contains(node.id()))));
        if let Some(task) = self.stuck() {
            lines.extend(explain_task(self.view.run, task, self.lang).evidence.into_iter().take(MOST_OF_ONE));
        }
        let missing = self.view.run.missing_aspects().iter();
        lines.extend(missing.map(|item| self.label("missing", "不足", item)));
        lines
    }

    /// The checks that cannot be used at the base, where that ended the run.
    fn unusable_checks(&self) -> Vec<String> {
        let options = match &self.view.run.options().tasks {
            TaskSource::Planned(options) if self.ended_at_base() => options,
            TaskSource::Planned(_) | TaskSource::Given(_) => return Vec::new(),
        };
        let first = self.view.history.base_checks.first();
        let reports = first.map(|made| made.reports.as_slice()).unwrap_or_default();
        let baseline = &self.view.run.base_checks().baseline;
        unusable_lines(self.view.run, reports, &options.guards, baseline, self.lang)
    }

    fn ended_at_base(&self) -> bool {
        self.view.cause() == Some(Cause::BaselineUnusable) && self.view.first().is_none()
    }

    /// Open questions about the goal, assumptions, and what is not possible.
    fn goal_lines(&self) -> Vec<String> {
        let planning = self.view.run.planning();
        let questions = self.view.history.questions.iter();
        let mut lines: Vec<String> = questions.map(|item| self.label("asked", "質問", item)).collect();
        let assumptions = planning.understanding.iter().flat_map(|understanding| &understanding.assumptions);
        lines.extend(assumptions.map(|item| self.label("assumption", "仮定", item)));
        if let Some(partial) = &planning.partial {
            lines.extend(partial.infeasible.iter().map(|item| self.label("not possible", "実行不可", item)));
            lines.extend(partial.alternatives.iter().map(|item| self.label("alternative", "代替案", item)));
        }
        lines
    }

    fn plan_line(&self) -> Option<String> {
        let review = self.view.run.review();
        let plan = review.plan()?;
        let last = review.decisions.last()?;
        let score = plan.score().map_or_else(String::new, |score| {
            let (score, times) = (score.get(), plan.scores().len());
            self.say(format!(", score {score:.0} (n={times})"), format!("、{score:.0}点 (n={times})"))
        });
        let (reason, tasks) = (last.reason.text.in_lang(self.lang), plan.tasks.len());
        let revised = match review.revisions.len().saturating_sub(1) {
            0 => String::new(),
            times => self.say(format!(", {}", counted(times, "revision")), format!("、{times}回修正")),
        };
        Some(self.say(
            format!("plan: {}{score}{revised}: {reason}", counted(tasks, "task")),
            format!("計画: タスク{tasks}件{score}{revised}: {reason}"),
        ))
    }

    fn task_line(&self, node: &TaskNode, is_in_vain: bool) -> String {
        let attempts = node.run.as_ref().map_or(0, |run| run.attempts());
        let cause = if is_in_vain { Some(Cause::Dependency) } else { node.cause };
        let state = match (if is_in_vain { TaskState::Blocked } else { node.state }, cause) {
            (TaskState::Blocked, Some(cause)) => {
                format!("{} ({})", state_words(TaskState::Blocked, self.lang), cause_name(cause))
            }
            (TaskState::ReplacedByReplan, _) => {
                let names: Vec<&str> = node.replaced_by.iter().map(|id| id.as_str()).collect();
                let names = names.join(", ");
                self.say(format!("replaced by {names}"), format!("{names} に分割"))
            }
            (TaskState::Done, _) if self.view.run.left_out().any(|id| id == node.id()) => {
                self.say("done, left out of the result", "完了（成果物には含まれません）")
            }
            (state, _) => state_words(state, self.lang).to_string(),
        };
        let kind = match node.kind {
            TaskKind::Merge { .. } => self.say(" (merge)", "（マージ）"),
            TaskKind::FinalProof => self.say(" (final check)", "（最終確認）"),
            TaskKind::Given | TaskKind::Planned | TaskKind::Replanned | TaskKind::Added => String::new(),
        };
        self.say(
            format!("{}{kind}: {state}, {}", node.id(), counted(attempts as usize, "attempt")),
            format!("{}{kind}: {state}、試行{attempts}回", node.id()),
        )
    }

    /// The one blocked task of a small run.
    fn stuck(&self) -> Option<TaskView<'a>> {
        let mut blocked = self.view.run.tasks().filter(|node| node.state == TaskState::Blocked);
        let (node, others) = (blocked.next()?, blocked.next());
        let is_told = others.is_none() && self.view.run.tasks().count() <= FEW_TASKS;
        self.view.task(node.id()).filter(|_| is_told)
    }

    fn look(&self) -> String {
        self.say(
            "`fixpoint diff` shows the result, `fixpoint apply` applies it to the working tree",
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
            (Cause::BaselineUnusable, None) if self.ended_at_base() => {
                let until = self.say(
                    "If nothing can pass before the work is done, name the command as the goal: --until CMD.",
                    "作業が終わるまで何も成功しない場合は、そのコマンドを目標として --until で指定してください。",
                );
                unusable_hints(self.lang).into_iter().chain([until]).collect()
            }
            (Cause::Done, _) if self.worked().count() == 0 => {
                vec![self.say("`fixpoint run` executes the plan", "`fixpoint run` で計画を実行します")]
            }
            (Cause::Done, _) | (Cause::Partial, None) => vec![self.look()],
            (Cause::Budget, _) => {
                let more = reached_limits(self.view.run, self.lang).more;
                vec![self.say(
                    format!("to continue with a larger budget: `fixpoint resume --budget {more}`"),
                    format!("予算を増やして続行するには `fixpoint resume --budget {more}`"),
                )]
            }
            (Cause::NeedsClarification, _) => vec![self.say(
                "answer the questions in the goal, or run it in a terminal without --non-interactive",
                "質問の答えを目標に書き加えるか、端末で --non-interactive を付けずに実行してください",
            )],
            (Cause::ModelUnavailable | Cause::JudgeUnavailable, _) => match self.view.run.status() {
                RunStatus::Ended { .. } => vec![self.say(
                    "set another model in `models.planner` or `models.judge`, raise `models.max_output_tokens`, or use \
                     `--no-plan`; then start a new run",
                    "`models.planner` や `models.judge` に別のモデルを指定する、`models.max_output_tokens` を増やす、\
                     または `--no-plan` を使うなどして、新しく実行してください",
                )],
                RunStatus::New | RunStatus::Working | RunStatus::Paused { .. } => vec![self.say(
                    "`fixpoint doctor` lists the available models; then `fixpoint resume` continues the run",
                    "`fixpoint doctor` で利用できるモデルを確認し、`fixpoint resume` で再開してください",
                )],
            },
            (_, Some(node)) => {
                let path = format!("context/{}/diagnosis.md", node.id());
                let again = [
                    self.say(
                        format!("`fixpoint show` prints the diagnosis ({path})"),
                        format!("`fixpoint show` で診断（{path}）を表示します"),
                    ),
                    self.say(
                        format!("`fixpoint resume --task {}` retries the task", node.id()),
                        format!("`fixpoint resume --task {}` でタスクを再試行します", node.id()),
                    ),
                ];
                let look = (cause == Cause::Partial).then(|| self.look());
                let hint = self.stuck().and_then(|task| idle_hint(self.view.run, task, self.lang));
                look.into_iter().chain(hint).chain(again).collect()
            }
            (_, None) => vec![self.say("`fixpoint resume` continues the run", "`fixpoint resume` で再開します")],
        }
    }
}
