//! What the checks showed at the base, in words: which of them cannot be used, and which are the goal because every test
//! of theirs fails.

use std::collections::BTreeSet;

use fixpoint_decide::run::Run;
use fixpoint_decide::task_run::{BaselineState, CheckBaseline};
use fixpoint_vocabulary::work::{CheckEnd, CheckReport, FailureId};
use fixpoint_vocabulary::{EnvironmentProblem, Lang, Redacted, counted};

use crate::explanation::short;
use crate::words::say;

/// The command of a check.
pub(crate) fn command_of(run: &Run, number: u32) -> String {
    let placed = run.checks().get(number as usize);
    placed.map_or_else(|| number.to_string(), |placed| placed.check.command.clone())
}

/// What failed in every run, and what failed in some only.
pub(crate) fn known_in(baseline: &BaselineState) -> (BTreeSet<FailureId>, BTreeSet<FailureId>) {
    let (mut always, mut sometimes) = (BTreeSet::new(), BTreeSet::new());
    for check in baseline.checks.values() {
        for failing in check.failing.iter().flatten() {
            let is_constant = check.failing.iter().all(|run| run.contains(failing));
            if is_constant { &mut always } else { &mut sometimes }.insert(failing.clone());
        }
    }
    (always, sometimes)
}

/// The checks of a run that are its goal because every test of theirs fails at the base.
pub(crate) fn implied_goals(run: &Run) -> Vec<String> {
    run.base_checks().goals.iter().map(|goal| command_of(run, *goal)).collect()
}

/// The same in words, one line each.
pub fn implied_goal_lines(run: &Run, lang: Lang) -> Vec<String> {
    let line = |goal: &u32| {
        let command = command_of(run, *goal);
        let seen = run.base_checks().baseline.checks.get(goal);
        let tests = seen.map_or(0, |check| check.failing_tests().count());
        let all = counted(tests, "test");
        say(
            lang,
            format!(
                "no goal given, and every test of `{command}` fails at the base ({all}): they are the goal"
            ),
            format!(
                "目標の指定がなく、ベースで `{command}` のテストがすべて失敗するため（{tests}件）、その成功を目標とします"
            ),
        )
    };
    run.base_checks().goals.iter().map(line).collect()
}

/// The guards that fail at the base with single findings: what that means for the attempts, one line each.
pub fn known_finding_lines<'a>(
    run: &Run,
    guards: impl Iterator<Item = (u32, &'a CheckBaseline)>,
    lang: Lang,
) -> Vec<String> {
    let line = |(guard, check): (u32, &CheckBaseline)| {
        let (command, number) = (command_of(run, guard), check.known_findings());
        let findings = counted(number, "known finding");
        say(
            lang,
            format!("`{command}` fails at the base with {findings}; only new findings count"),
            format!("`{command}` はベースで失敗します（既知の指摘{number}件）。新しい指摘だけを数えます"),
        )
    };
    guards.map(line).collect()
}

/// The checks among these that make the baseline unusable, and why.
pub(crate) fn unusable_lines(
    run: &Run,
    reports: &[CheckReport],
    guards: &BTreeSet<u32>,
    baseline: &BaselineState,
    lang: Lang,
) -> Vec<String> {
    let is_useless = |report: &&CheckReport| match report.end {
        CheckEnd::NotFound | CheckEnd::CouldNotRun | CheckEnd::Environment => true,
        CheckEnd::Failed | CheckEnd::TimedOut | CheckEnd::Crashed => {
            let seen = baseline.checks.get(&report.check);
            guards.contains(&report.check) && seen.is_none_or(CheckBaseline::proves_nothing)
        }
        CheckEnd::Passed | CheckEnd::Waiting => false,
    };
    reports.iter().filter(is_useless).map(|report| unusable_line(run, report, lang)).collect()
}

/// What the environment of checks lacks, and what to do about it.
pub fn environment_lines<'a>(
    run: &Run,
    reports: impl Iterator<Item = &'a CheckReport>,
    lang: Lang,
) -> Vec<String> {
    let lacking = reports.filter(|report| report.environment.is_some());
    lacking.map(|report| unusable_line(run, report, lang)).collect()
}

fn unusable_line(run: &Run, report: &CheckReport, lang: Lang) -> String {
    let command = command_of(run, report.check);
    let said = report.failures.first().map(|failure| short(failure.message.as_str())).unwrap_or_default();
    match report.end {
        CheckEnd::NotFound => {
            let remedy = report.environment.as_ref().map(EnvironmentProblem::remedy);
            let remedy = remedy.map_or_else(String::new, |remedy| format!("; {}", remedy.in_lang(lang)));
            say(
                lang,
                format!("`{command}`: command not found: {said}{remedy}"),
                format!("`{command}`: コマンドが見つかりません: {said}{remedy}"),
            )
        }
        CheckEnd::Environment => {
            let sentence = report.environment.as_ref().map(EnvironmentProblem::sentence);
            let why = sentence.map_or(said, |sentence| sentence.in_lang(lang).to_string());
            format!("`{command}`: {why}")
        }
        CheckEnd::CouldNotRun => {
            let why = report.reasons.iter().map(Redacted::as_str).collect::<Vec<_>>().join("; ");
            say(
                lang,
                format!("`{command}` could not run: {why}"),
                format!("`{command}` を実行できません: {why}"),
            )
        }
        CheckEnd::TimedOut => say(
            lang,
            format!("`{command}` does not end: {said}"),
            format!("`{command}` が終了しません: {said}"),
        ),
        CheckEnd::Failed | CheckEnd::Crashed | CheckEnd::Passed | CheckEnd::Waiting => say(
            lang,
            format!("`{command}` fails and reports no passing test: {said}"),
            format!("`{command}` は失敗し、成功したテストがありません: {said}"),
        ),
    }
}

/// What to do where the checks cannot be used.
pub(crate) fn unusable_hints(lang: Lang) -> Vec<String> {
    vec![
        say(
            lang,
            "Run the command in a fresh clone. If packages are missing there, install them with `workspace.setup`; if \
             ignored files such as .env are missing, copy them with `workspace.copy`. `fixpoint init` suggests both.",
            "新しいクローンでコマンドを実行してみてください。パッケージが足りなければ `workspace.setup` でインストールし、\
             .env などの無視ファイルは `workspace.copy` でコピーします。どちらも `fixpoint init` が提案します。",
        ),
        say(
            lang,
            "A guard that fails before any change can be used if some of its tests pass, or if it lists single findings and \
             none of them hides others, as a compile error does. If the agent is to fix it, name it as the goal: --until CMD.",
            "変更前に失敗するガードを使えるのは、成功するテストがある場合、または個々の指摘が一覧で示され、コンパイルエラーの\
             ように他の失敗を隠すものがない場合です。エージェントに直させる場合は、目標として --until で指定してください。",
        ),
        say(
            lang,
            "`fixpoint logs` prints the output of the check.",
            "`fixpoint logs` でチェックの出力を表示します。",
        ),
    ]
}
