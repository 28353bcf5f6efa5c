//! A failure of an attempt on one line: what fails, and what it says.

use fixpoint_decide::run::Run;
use fixpoint_vocabulary::work::{CheckProblem, FailureId, GoalProblem, ReportedFailure};
use fixpoint_vocabulary::{Lang, counted};

use crate::explanation::short;
use crate::history::Iteration;
use crate::words::say;

/// What fails, and the first line of its message, which may be empty.
pub struct FailureWords {
    pub subject: String,
    pub said: String,
}

impl FailureWords {
    pub fn of(failure: &ReportedFailure, run: &Run, lang: Lang) -> Self {
        let first = failure.message.as_str().lines().next().unwrap_or_default();
        let said = said(first.trim(), lang);
        let (subject, said) = match failure.id() {
            FailureId::Output { check, .. } => {
                let check = named(check, run);
                (say(lang, format!("`{check}` failed"), format!("`{check}` が失敗")), said)
            }
            FailureId::Check { check, problem: CheckProblem::Timeout } => {
                let placed = run.checks().iter().find(|placed| placed.check.name == *check);
                let limit = placed.map(|placed| placed.check.timeout);
                let check = named(check, run);
                let (en, ja) = limit.map_or_else(
                    || ("in time".to_string(), "時間内".to_string()),
                    |limit| (format!("within {limit} s"), format!("{limit}秒以内")),
                );
                let subject =
                    say(lang, format!("`{check}` did not end {en}"), format!("`{check}` が{ja}に終了せず"));
                (subject, String::new())
            }
            FailureId::Vanished(test) => {
                // Of a goal, those are missed that failed at the base.
                let (en, ja) = if first == "was not seen passing" {
                    ("failed before and is no longer run", "は以前は失敗し、現在は実行されていません")
                } else {
                    ("passed before and is no longer run", "は以前は成功し、現在は実行されていません")
                };
                (say(lang, format!("test {test} {en}"), format!("テスト {test} {ja}")), String::new())
            }
            FailureId::Check { check, problem: CheckProblem::NoTestsRan } => {
                (ran_no_test(&named(check, run), lang), String::new())
            }
            FailureId::Goal { goal, problem } => goal_words(&placed(*goal, run), *problem, said, lang),
            FailureId::Weakened(failure) => (weakened_words(failure, first, run, lang), String::new()),
            FailureId::Test(_)
            | FailureId::Diagnostic(_)
            | FailureId::Declared(_)
            | FailureId::Check { .. }
            | FailureId::Missing(_)
            | FailureId::Conflict(_)
            | FailureId::LostChange { .. }
            | FailureId::OutOfScope(_) => (failure.id().to_string(), said),
        };
        Self { subject, said }
    }

    /// Both parts; no colon without a message.
    pub fn line(self) -> String {
        if self.said.is_empty() { self.subject } else { format!("{}: {}", self.subject, self.said) }
    }
}

fn ran_no_test(check: &str, lang: Lang) -> String {
    say(lang, format!("`{check}` ran no test"), format!("`{check}` はテストを実行していません"))
}

/// The command of a check, by its number.
fn placed(check: u32, run: &Run) -> String {
    let found = usize::try_from(check).ok().and_then(|check| run.checks().get(check));
    found.map_or_else(|| check.to_string(), |placed| short(&placed.check.command))
}

fn goal_words(check: &str, problem: GoalProblem, said: String, lang: Lang) -> (String, String) {
    let check = match problem {
        GoalProblem::NoTestsRan => return (ran_no_test(check, lang), String::new()),
        GoalProblem::Unreadable => format!("`{check}`"),
        GoalProblem::FewerTests => {
            let (en, ja) =
                (format!("`{check}` runs fewer tests"), format!("`{check}` のテストが減っています"));
            return (say(lang, en, ja), said);
        }
    };
    (check, said)
}

/// What passes only with the changes of an attempt, and the files with these.
fn weakened_words(failure: &FailureId, message: &str, run: &Run, lang: Lang) -> String {
    let subject = match failure {
        FailureId::Test(test) | FailureId::Vanished(test) => {
            say(lang, format!("test {test}"), format!("テスト {test}"))
        }
        FailureId::Output { check, .. } | FailureId::Check { check, .. } => {
            format!("`{}`", named(check, run))
        }
        FailureId::Goal { goal, .. } => format!("`{}`", placed(*goal, run)),
        FailureId::Diagnostic(_) => say(lang, "a complaint of a check", "チェックの指摘"),
        FailureId::Declared(name)
        | FailureId::Missing(name)
        | FailureId::Conflict(name)
        | FailureId::OutOfScope(name) => name.clone(),
        FailureId::LostChange { path, .. } => path.clone(),
        FailureId::Weakened(inner) => inner.to_string(),
    };
    match message.strip_prefix("passes only with the changes in ") {
        Some(files) => say(
            lang,
            format!("{subject} passes only with the changes in {files}"),
            format!("{subject} は次の変更がある場合だけ成功します: {files}"),
        ),
        // Recorded by earlier versions, or product code that changes a check.
        None => format!("{subject} {message}"),
    }
}

/// A check as people know it. One that a task brought has only a number for a name, so its command is given.
fn named(check: &str, run: &Run) -> String {
    let given = run.spec().map_or(0, |spec| spec.checks.len());
    let brought = run.checks().iter().skip(given).find(|placed| placed.check.name == check);
    brought.map_or_else(|| check.to_string(), |placed| short(&placed.check.command))
}

/// What Fixpoint itself says about a check without output, in the language of the user.
fn said(message: &str, lang: Lang) -> String {
    let code = message.strip_prefix("exit code ").and_then(|rest| rest.strip_suffix(", no output"));
    match (code, lang) {
        (Some(code), Lang::Ja) => format!("終了コード{code}、出力なし"),
        (Some(_), Lang::En) | (None, Lang::En | Lang::Ja) => message.to_string(),
    }
}

/// A path that was changed out of scope, or a limit that was exceeded, with the numbers if they are known.
pub fn scope_words(entry: &str, iteration: &Iteration, run: &Run, lang: Lang) -> String {
    let scope = run.spec().map(|spec| &spec.settings.scope);
    let made = iteration.attempt.as_ref().map(|made| &made.result);
    let (en, ja, changed, limit) = match entry {
        "max_changed_lines" => (
            "line",
            "行",
            made.map(|made| made.changed_lines),
            scope.and_then(|scope| scope.max_changed_lines),
        ),
        "max_changed_files" => {
            let limit = scope.and_then(|scope| scope.max_changed_files);
            ("file", "ファイル", made.map(|made| made.changed_files), limit)
        }
        path => return path.to_string(),
    };
    match changed.zip(limit).filter(|(changed, limit)| changed > limit) {
        Some((changed, limit)) => say(
            lang,
            format!("{} changed; scope.{entry} allows {limit}", counted(changed, en)),
            format!("{changed}{ja}を変更。scope.{entry} の上限は{limit}"),
        ),
        None => say(
            lang,
            format!("more {en}s changed than scope.{entry} allows"),
            format!("変更した{ja}が scope.{entry} の上限を超えています"),
        ),
    }
}
