//! A run of several tasks in lines: what each change of it means to a person who watches.

use fixpoint_decide::noise;
use fixpoint_decide::refinement::Decision;
use fixpoint_decide::run::{
    BaseChecksChange, Change, FinalProofChange, FinalReviewChange, MergeChange, Owner, PlanRepair,
    PlanReviewChange, PlanningChange, ReflectionChange, ReviewedPlan, Run, RunChange, TaskChange, TaskSource,
};
use fixpoint_runs::{RunHistory, RunView, beginning, cause_name, implied_goal_lines, known_finding_lines};
use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::work::{Command, ProtectedChange};
use fixpoint_vocabulary::{Lang, TaskId, TaskState, counted};

use super::words::Words;
use crate::language::say;
use crate::terminal_text::harmless;

/// Characters of a model's text that are shown.
const LONGEST: usize = 160;

/// The lines to print when a change was made. `view` is the run after it.
pub(super) fn lines_of(change: &Change, view: RunView<'_>, words: Words) -> Vec<String> {
    match change {
        Change::Run(change) => run_lines(change, words),
        Change::BaseChecks(BaseChecksChange::Settled { .. }) => baseline_lines(view, words),
        Change::Planning(change) => planning_lines(change, words),
        Change::PlanReview(change) => plan_review_lines(change, view.run, words),
        Change::Task(change) => task_lines(change, view.history, words),
        Change::Merge(MergeChange::Merged { task, merged }) => vec![match merged.conflicts.len() {
            0 => words.say(format!("[{task}] merged without conflicts"), format!("[{task}] 競合なくマージ")),
            number => {
                let paths = short(&merged.conflicts.join(", "));
                words.say(
                    format!("[{task}] merge conflicts in {}: {paths}", counted(number, "file")),
                    format!("[{task}] {number}ファイルでマージ競合: {paths}"),
                )
            }
        }],
        Change::Merge(MergeChange::LeftOut { task }) => vec![words.say(
            format!("[{task}] left out of the result: it could not be merged with the others"),
            format!("[{task}] 他の結果とマージできないため、成果物に含めません"),
        )],
        Change::FinalProof(FinalProofChange::Compared { changes, .. }) => final_check_line(changes, words),
        Change::FinalReview(FinalReviewChange::Judged { is_complete, missing }) => {
            let is_partial = view.run.tasks().any(|node| node.state == TaskState::Blocked);
            let head = if *is_complete && is_partial {
                words.say(
                    "final review: the completed tasks are accepted",
                    "最終レビュー: 完了したタスクを承認",
                )
            } else if *is_complete {
                words.say("final review: the goal is reached", "最終レビュー: 目標を達成")
            } else {
                words.say("final review: the goal is not reached", "最終レビュー: 目標は未達成")
            };
            let missing = missing.iter().map(|missing| words.label("  missing", "  不足", short(missing)));
            std::iter::once(head).chain(missing).collect()
        }
        Change::Reflection(ReflectionChange::Revised { error, .. }) => {
            vec![words.label("remaining steps revised", "残りの手順を修正", short(error))]
        }
        Change::Reflection(
            ReflectionChange::Reflected { .. } | ReflectionChange::RevisionProposed { .. },
        )
        | Change::Delivery(_) => Vec::new(),
    }
}

/// That the whole is checked with the base's tests, and why.
fn final_check_line(changes: &[ProtectedChange], words: Words) -> Vec<String> {
    let files = short(&changes.iter().map(|change| change.path.path()).collect::<Vec<_>>().join(", "));
    match changes.len() {
        0 => Vec::new(),
        number => vec![words.say(
            format!(
                "final check: the tasks changed {} that decide what the checks show ({files}); \
                 running the checks with these as at the base",
                counted(number, "file")
            ),
            format!(
                "最終確認: チェックの結果を左右する{number}ファイルが変更されました（{files}）。ベースの内容に戻してチェックを実行します"
            ),
        )],
    }
}

fn run_lines(change: &RunChange, words: Words) -> Vec<String> {
    match change {
        RunChange::Defer { owner, cause, .. } => {
            let (whose, why) = (words.owner(owner), cause_name(*cause));
            vec![words.say(format!("{whose}: paused ({why})"), format!("{whose}: 一時停止（{why}）"))]
        }
        RunChange::RejectAnswer { owner, answer } => {
            let problem = short(answer.problem.as_str());
            let what =
                words.label("the model's answer cannot be used", "モデルの回答を利用できません", problem);
            vec![format!("{}: {what}", words.owner(owner))]
        }
        RunChange::Begin { .. }
        | RunChange::ReleaseDeferred
        | RunChange::Pause { .. }
        | RunChange::End { .. } => Vec::new(),
    }
}

/// What the checks showed on the base, and what follows from that for the goal.
fn baseline_lines(view: RunView<'_>, words: Words) -> Vec<String> {
    let checks = &view.run.base_checks().baseline.checks;
    if checks.is_empty() {
        return Vec::new();
    }
    let (known, flaky) = view.known_at_base();
    let passed = checks.values().map(|check| check.counted).sum();
    let goals = implied_goal_lines(view.run, words.0);
    let guards = view.run.guards_with_known_findings();
    let findings = known_finding_lines(view.run, guards, words.0);
    std::iter::once(words.baseline(known.len(), flaky.len(), passed))
        .chain(goals.iter().chain(&findings).map(|line| harmless(line).into_owned()))
        .collect()
}

fn planning_lines(change: &PlanningChange, words: Words) -> Vec<String> {
    match change {
        PlanningChange::Understood { understanding } => {
            let head = words.label("goal", "目標", short(&understanding.main_objective));
            let line = |text: &String| words.label("  assumption", "  仮定", short(text));
            let assumptions = understanding.assumptions.iter().map(line);
            std::iter::once(head).chain(assumptions).collect()
        }
        PlanningChange::CacheLookedUp { draft: Some(_) } => {
            vec![words.say("found a cached plan", "キャッシュされた計画が見つかりました")]
        }
        PlanningChange::CacheLookedUp { draft: None }
        | PlanningChange::BaseTaken { .. }
        | PlanningChange::Clarified { .. }
        | PlanningChange::Unavailable
        | PlanningChange::Remarked { .. }
        | PlanningChange::Decomposed { .. }
        | PlanningChange::Coarser { .. }
        | PlanningChange::PartialOffered(_) => Vec::new(),
    }
}

fn plan_review_lines(change: &PlanReviewChange, run: &Run, words: Words) -> Vec<String> {
    match change {
        PlanReviewChange::Planned { tasks, repair, .. } => {
            let repaired = match repair {
                PlanRepair::None => String::new(),
                PlanRepair::Merged => {
                    words.say(" (invalid; repaired with the previous plan)", "（不正なため前の計画で補修）")
                }
                PlanRepair::Previous => {
                    words.say(" (invalid; the previous plan is used)", "（不正なため前の計画を使用）")
                }
            };
            let (number, count) = (run.review().revisions.len(), tasks.len());
            let head = words.say(
                format!("plan {number}: {}{repaired}", counted(count, "task")),
                format!("計画{number}: タスク{count}件{repaired}"),
            );
            std::iter::once(head).chain(tasks.iter().map(|task| subtask_line(task, words))).collect()
        }
        PlanReviewChange::Scored { revision, judgement } => {
            let plan = run.review().revisions.get(*revision as usize);
            let score = match plan.and_then(|plan| score_words(plan, run)) {
                Some(score) => format!("{} {score}", words.say("score", "採点")),
                None => words.say("no score", "採点なし"),
            };
            let (en, ja) = if judgement.is_acceptable {
                ("acceptable", "合格")
            } else {
                ("not acceptable", "不合格")
            };
            let number = revision + 1;
            let head =
                words.say(format!("plan {number}: {score}, {en}"), format!("計画{number}: {score}、{ja}"));
            let issues = judgement.issues.iter().map(|issue| words.label("  issue", "  指摘", short(issue)));
            std::iter::once(head).chain(issues).collect()
        }
        PlanReviewChange::Decided { answer } => {
            let why = answer.reason.text.in_lang(words.0);
            vec![match answer.decision {
                Decision::Accept => words.label("plan accepted", "計画を承認", why),
                Decision::Replan => words.label("plan sent back to the planner", "計画を差し戻し", why),
                Decision::Reject => words.label("plan rejected", "計画を却下", why),
            }]
        }
        PlanReviewChange::Flagged { findings } => {
            findings.iter().map(|finding| words.label("plan", "計画", short(finding))).collect()
        }
        PlanReviewChange::Accepted { .. } => Vec::new(),
    }
}

fn task_lines(change: &TaskChange, history: &RunHistory, words: Words) -> Vec<String> {
    match change {
        TaskChange::Started { options } => {
            vec![format!("[{}] {}", options.task, words.say("started", "開始"))]
        }
        TaskChange::StateChanged { state: TaskState::Running, .. } => Vec::new(),
        TaskChange::StateChanged { task, state, cause } => {
            let mut lines = vec![format!("[{task}] {}", words.state(*state, *cause))];
            // Why a blocked task is not replaced by smaller ones.
            let refusal = history.task(task).and_then(|task| task.replan_refusal.as_ref());
            let refusal = refusal.filter(|_| *state == TaskState::Blocked);
            lines.extend(refusal.map(|said| words.label("  planner", "  計画者", short(said))));
            lines
        }
        TaskChange::Replaced { task, children, reason } => {
            let names: Vec<&str> = children.iter().map(|child| child.task.id.as_str()).collect();
            let what = words.label("replaced by smaller tasks", "小さなタスクに分割", names.join(", "));
            let mut lines = vec![format!("[{task}] {what}")];
            if !reason.as_str().trim().is_empty() {
                lines.push(words.label("  reason", "  理由", short(reason.as_str())));
            }
            lines.extend(children.iter().map(|child| subtask_line(&child.task, words)));
            lines
        }
        TaskChange::Added { .. } | TaskChange::Decided { .. } | TaskChange::Rewired { .. } => Vec::new(),
    }
}

fn subtask_line(task: &Subtask, words: Words) -> String {
    format!("  {}{}: {}", task.id, dependency_words(task, words.0), short(&task.description))
}

/// ` (after a, b)`, or nothing.
pub(crate) fn dependency_words(task: &Subtask, lang: Lang) -> String {
    if task.dependencies.is_empty() {
        return String::new();
    }
    let names = task.dependencies.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ");
    say(lang, format!(" (after {names})"), format!("（{names} の後）"))
}

/// A score with its uncertainty and the number of times the plan was scored: `78 ± 3 (n=4)`.
pub(crate) fn score_words(plan: &ReviewedPlan, run: &Run) -> Option<String> {
    let scores = plan.scores();
    let score = plan.score()?;
    let sigma = match &run.options().tasks {
        TaskSource::Planned(options) => noise::effective_sigma(options.sigma),
        TaskSource::Given(_) => noise::PRIOR_SIGMA,
    };
    #[expect(clippy::cast_precision_loss, reason = "a handful of scores")]
    let error = sigma / (scores.len().max(1) as f64).sqrt();
    Some(format!("{:.0} ± {:.0} (n={})", score.get(), error, scores.len()))
}

/// What is being done, for the line that is redrawn.
pub(super) fn doing(owner: &Owner, command: &Command, words: Words) -> Option<String> {
    let what = match command {
        Command::TakeBase => words.taking_snapshot(),
        Command::RunChecks(_) if *owner == Owner::BaseChecks => return Some(words.checking_base()),
        Command::FindProtected(_) => words.say("comparing the tests with the base", "テストをベースと比較中"),
        Command::Merge(_) => words.say("merging results", "結果をマージ中"),
        Command::Ask(ask) => words.asking(ask.about.role()),
        Command::AskPerson(_) => words.say("waiting for your answer", "あなたの回答を待っています"),
        Command::FindCachedPlan => words.say("looking for a cached plan", "キャッシュされた計画を検索中"),
        Command::Deliver(_) => words.say("creating the branch", "ブランチを作成中"),
        Command::StorePlan | Command::RunChecks(_) | Command::RunAttempt(_) | Command::RestorePaths(_) => {
            return None;
        }
    };
    Some(format!("{}: {what}", words.owner(owner)))
}

/// The beginning of a text, on one line.
fn short(text: &str) -> String {
    harmless(&beginning(text, LONGEST)).into_owned()
}
