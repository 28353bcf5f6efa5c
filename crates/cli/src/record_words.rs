//! The records of a run in words: what happened, and what was decided. Shared by `history`, `replay` and `--verbose`.

use fixpoint_decide::run::{Decision, Owner};
use fixpoint_decide::task_run::{self, TaskActivity, TaskStatus};
use fixpoint_runs::{cause_name, progress_words};
use fixpoint_vocabulary::ask::ParsedAnswer;
use fixpoint_vocabulary::work::{Command, CommandEnd, CommandResult, Event};
use fixpoint_vocabulary::{Lang, counted};

use crate::language::say;

pub(crate) fn event_words(event: &Event, lang: Lang) -> String {
    match event {
        Event::Started => say(lang, "started", "開始"),
        Event::StopRequested => say(lang, "stop requested", "停止の要求"),
        Event::Resumed { .. } => say(lang, "resumed", "再開"),
        Event::Ended { command, end, took_ms } => {
            let took = format!("({}.{:01} s)", took_ms / 1000, took_ms % 1000 / 100);
            format!("{command} {} {took}", end_words(end, lang))
        }
    }
}

fn end_words(end: &CommandEnd, lang: Lang) -> String {
    match end {
        CommandEnd::Completed(result) => result_words(result, lang),
        CommandEnd::Failed { message } => say(lang, format!("failed: {message}"), format!("失敗: {message}")),
        CommandEnd::Cancelled => say(lang, "cancelled", "取り消し"),
        CommandEnd::Lost => say(lang, "lost in a crash", "クラッシュにより消失"),
    }
}

fn result_words(result: &CommandResult, lang: Lang) -> String {
    match result {
        CommandResult::Base(_) => say(lang, "snapshot taken", "スナップショット作成"),
        CommandResult::Checks { reports } => {
            let (checks, failing) =
                (reports.len(), reports.iter().map(|report| report.failures.len()).sum::<usize>());
            say(
                lang,
                format!("{} run, {}", counted(checks, "check"), counted(failing, "failure")),
                format!("チェック{checks}件を実行、失敗{failing}件"),
            )
        }
        CommandResult::Attempt(result) => {
            let files = result.changed_files;
            say(
                lang,
                format!("agent ended, {} changed", counted(files, "file")),
                format!("エージェント終了、変更{files}ファイル"),
            )
        }
        CommandResult::Restored { .. } => say(lang, "files restored", "ファイルを復元"),
        CommandResult::Protected { changes } => {
            let files = changes.len();
            say(
                lang,
                format!("{} of tests or check definitions changed since the base", counted(files, "file")),
                format!("ベースからテストまたはチェック定義{files}ファイルが変更"),
            )
        }
        CommandResult::Merged(merged) => {
            let conflicts = merged.conflicts.len();
            say(
                lang,
                format!("merged, {}", counted(conflicts, "conflict")),
                format!("マージ、競合{conflicts}件"),
            )
        }
        CommandResult::Answer(answer) => match &answer.reading {
            ParsedAnswer::Document(_) => {
                say(lang, format!("{} answered", answer.model), format!("{} が回答", answer.model))
            }
            ParsedAnswer::Unreadable { problem, .. } => say(
                lang,
                format!("unreadable answer of {}: {problem}", answer.model),
                format!("{} の回答を読み取れません: {problem}", answer.model),
            ),
            ParsedAnswer::Unanswered { why } => {
                say(lang, format!("no answer: {why}"), format!("回答なし: {why}"))
            }
        },
        CommandResult::Person(_) => say(lang, "asked a person", "人に質問"),
        CommandResult::CachedPlan(_) => say(lang, "looked for a cached plan", "キャッシュされた計画を検索"),
        CommandResult::PlanStored => say(lang, "plan cached", "計画をキャッシュ"),
        CommandResult::Delivered(_) => say(lang, "result delivered", "成果物を納品"),
    }
}

pub(crate) fn decision_words(decision: &Decision, lang: Lang) -> String {
    let of_task = |decision: &task_run::Decision| match &decision.judged {
        Some(judged) => {
            let (progress, stage) = (progress_words(judged.verdict.progress, lang), judged.counts.stage);
            let (reason, next) =
                (judged.verdict.reason.text.in_lang(lang), task_status_words(decision.status, lang));
            say(
                lang,
                format!("{progress}, stage {stage}: {reason}; next: {next}"),
                format!("{progress}、ステージ{stage}: {reason}。次: {next}"),
            )
        }
        None => task_status_words(decision.status, lang),
    };
    let tasks = decision.task_decisions().map(|(_, decision)| of_task(decision));
    let commands =
        decision.commands(0).filter_map(|(_, owner, command)| command_words(&owner, command, lang));
    let words: Vec<String> = tasks.chain(commands).collect();
    if words.is_empty() {
        say(lang, "nothing to start", "開始するものなし")
    } else {
        words.join("; ")
    }
}

/// A command of the run itself; those of tasks are part of the task's decision.
fn command_words(owner: &Owner, command: &Command, lang: Lang) -> Option<String> {
    if let Owner::Task(_) = owner {
        return None;
    }
    if *owner == Owner::BaseChecks {
        return Some(activity_words(TaskActivity::Baseline, lang));
    }
    Some(match command {
        Command::TakeBase => say(lang, "take a snapshot", "スナップショットを作成"),
        Command::RunChecks(_) => say(lang, "run the checks", "チェックを実行"),
        Command::RunAttempt(_) => say(lang, "start the agent", "エージェントを起動"),
        Command::RestorePaths(_) => say(lang, "restore files", "ファイルを復元"),
        Command::FindProtected(_) => say(lang, "compare the tests with the base", "テストをベースと比較"),
        Command::Merge(_) => say(lang, "merge two results", "2つの結果をマージ"),
        Command::Ask(ask) => {
            let role = ask.about.role().name();
            say(lang, format!("ask the {role}"), format!("{role} に問い合わせ"))
        }
        Command::AskPerson(_) => say(lang, "ask a person", "人に質問"),
        Command::Deliver(_) => say(lang, "deliver the result", "成果物を納品"),
        Command::FindCachedPlan => say(lang, "look for a cached plan", "キャッシュされた計画を検索"),
        Command::StorePlan => say(lang, "cache the plan", "計画をキャッシュ"),
    })
}

fn task_status_words(status: TaskStatus, lang: Lang) -> String {
    match status {
        TaskStatus::New => say(lang, "not started", "未開始"),
        TaskStatus::Working { activity } => activity_words(activity, lang),
        TaskStatus::Paused { cause, .. } => {
            let cause = cause_name(cause);
            say(lang, format!("paused ({cause})"), format!("一時停止（{cause}）"))
        }
        TaskStatus::Ended { cause } => {
            let cause = cause_name(cause);
            say(lang, format!("ended ({cause})"), format!("終了（{cause}）"))
        }
    }
}

fn activity_words(activity: TaskActivity, lang: Lang) -> String {
    let (en, ja) = match activity {
        TaskActivity::TakingBase => ("take a snapshot of the base", "ベースのスナップショットを作成"),
        TaskActivity::Baseline => ("run the checks on the base", "ベースでチェックを実行"),
        TaskActivity::Attempting => ("start the agent", "エージェントを起動"),
        TaskActivity::Reverting => ("revert the changes out of scope", "範囲外の変更を取り消し"),
        TaskActivity::Goals => ("run the goals", "目標を実行"),
        TaskActivity::BuildingProofTree => {
            ("restore the original tests and check definitions", "元のテストとチェックの定義を復元")
        }
        TaskActivity::ProofGoals => {
            ("run the goals in a pristine workspace", "初期状態の作業領域で目標を実行")
        }
        TaskActivity::Guards => ("run the guards", "ガードを実行"),
        TaskActivity::ProofGuards => {
            ("run the guards in a pristine workspace", "初期状態の作業領域でガードを実行")
        }
        TaskActivity::SuspectsAtBase => {
            ("run on the base the tests that did not run there", "ベースで未実行だったテストを実行")
        }
        TaskActivity::FlakyAtBase => {
            ("run the flaky tests on the base again", "ベースで不安定なテストを再実行")
        }
        TaskActivity::Confirming => ("run the new failures again", "新しい失敗を再実行して確認"),
        TaskActivity::Judging => ("ask the judge", "判定者に問い合わせ"),
    };
    say(lang, en, ja)
}
