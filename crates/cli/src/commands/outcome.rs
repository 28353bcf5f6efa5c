//! The result of a run, when it has ended: on one screen, or as one JSON object.

use fixpoint_decide::run::{Run, RunExtent, TaskSource};
use fixpoint_engine::EngineExit;
use fixpoint_runs::{Cost, Explanation, RunDirectory, RunView, Summary, cause_name, explain};
use fixpoint_vocabulary::run_spec::Delivery;
use fixpoint_vocabulary::work::{BranchUpdate, DeliveredBranch};
use fixpoint_vocabulary::{Cause, Lang};

use super::plan_text;
use crate::app_context::AppContext;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::session::{RunOutcome, SessionContext};
use crate::text_layout::wrap;

/// Prints how the run ended and what was delivered, and returns the exit code.
pub(crate) fn tell(
    run: &RunDirectory,
    outcome: &RunOutcome,
    session: &SessionContext<'_>,
    form: Form,
    output: &mut Output,
) -> Result<u8, Failure> {
    let view = outcome.folded.view();
    let lang = session.app.lang;
    match form {
        Form::Json => output.json(&Summary::of(run, view, None, lang))?,
        Form::Text => {
            output.lines(screen(&run.id.0, view, explain(view, lang), session.app))?;
            if is_plan_only(view.run) {
                output.lines(plan_text::lines(view.run, lang))?;
            }
            output.lines(delivery_lines(view.run, lang))?;
            if let EngineExit::Paused(_) = outcome.ending {
                output.line(&format!("{}: fixpoint resume {}", say(lang, "Resume", "再開"), run.id))?;
            }
        }
    }
    Ok(exit_code(outcome.ending.cause()))
}

fn is_plan_only(run: &Run) -> bool {
    match &run.options().tasks {
        TaskSource::Planned(options) => options.extent == RunExtent::PlanOnly,
        TaskSource::Given(_) => false,
    }
}

pub(crate) fn exit_code(cause: Cause) -> u8 {
    cause.exit_code().unwrap_or(1)
}

/// What is said about the delivery of a run's result.
fn delivery_lines(run: &Run, lang: Lang) -> Vec<String> {
    let (Some(delivered), Some(spec)) = (run.delivered(), run.spec()) else { return Vec::new() };
    let say = |en: String, ja: String| say(lang, en, ja);
    let mut lines = Vec::new();
    if let Some(DeliveredBranch { name, update }) = &delivered.branch {
        lines.push(say(format!("Branch: {name}"), format!("ブランチ: {name}")));
        lines.extend(not_updated(name, *update, name, lang));
    }
    match (&delivered.into, &spec.delivery) {
        (Some(DeliveredBranch { name, update: BranchUpdate::Updated }), _) => {
            lines.push(say(
                format!("{name} was fast-forwarded to the result"),
                format!("{name} を成果物まで早送り（fast-forward）しました"),
            ));
        }
        (Some(DeliveredBranch { name, update }), _) => {
            let result = delivered.branch.as_ref().map_or("", |branch| branch.name.as_str());
            lines.extend(not_updated(name, *update, result, lang));
        }
        (None, Delivery::Into(name)) => lines.push(say(
            format!("{name} was not moved: not everything is done"),
            format!("すべては完了していないため、{name} は移動していません"),
        )),
        (None, Delivery::Branch | Delivery::Patch(_) | Delivery::Nothing) => {}
    }
    lines.extend(delivered.patch.iter().map(|path| say(format!("Patch: {path}"), format!("パッチ: {path}"))));
    lines
}

/// Why a branch was not moved to the result, which is in another branch, and what to do.
fn not_updated(branch: &str, update: BranchUpdate, result: &str, lang: Lang) -> Option<String> {
    let (en, ja) = match update {
        BranchUpdate::Updated => return None,
        BranchUpdate::Diverged => (
            format!("{branch} was not moved: it has other commits; merge the result into it"),
            format!("{branch} には他のコミットがあるため移動していません。成果物をマージしてください"),
        ),
        BranchUpdate::CheckedOut => (
            format!("{branch} was not moved: it is checked out; run `git merge --ff-only {result}` there"),
            format!(
                "{branch} はチェックアウト中のため移動していません。そこで `git merge --ff-only {result}` を実行してください"
            ),
        ),
        BranchUpdate::Missing => (
            format!("there is no branch {branch}; the result is in the branch above"),
            format!("ブランチ {branch} はありません。成果物は上のブランチにあります"),
        ),
    };
    Some(say(lang, en, ja))
}

/// The state of a run on one screen: cause, evidence, next steps.
pub(crate) fn screen(
    run: &str,
    view: RunView<'_>,
    explanation: Explanation,
    app: &AppContext,
) -> Vec<String> {
    let (lang, width) = (app.lang, app.width());
    let Explanation { what, evidence, next } = explanation;
    let cause = view.cause().map(|cause| format!(" [{}]", cause_name(cause))).unwrap_or_default();
    let mut lines = wrap(&format!("{run}{cause}: {what}"), width, "", "  ");
    let evidence =
        evidence.into_iter().chain(Cost::of(view).used(lang)).chain(view.history.times.words(lang));
    lines.extend(evidence.flat_map(|line| wrap(&line, width, "  · ", "    ")));
    lines.extend(next.iter().flat_map(|line| wrap(line, width, "→ ", "  ")));
    bounded(lines)
}

/// Lines of one screen.
const HEIGHT: usize = 22;

/// At most one screen: lines are removed from the middle, so that the cause and the next steps stay.
fn bounded(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > HEIGHT {
        let is_tail = |line: &&String| line.starts_with("→ ") || line.starts_with("  ");
        let tail = lines.iter().rev().take_while(is_tail).count().min(6);
        let end = lines.split_off(lines.len() - tail);
        lines.truncate(HEIGHT - tail - 1);
        lines.push("  …".to_string());
        lines.extend(end);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_keeps_the_cause_and_the_next_action() {
        let mut lines = vec!["cause".to_string()];
        lines.extend((0..100).map(|n| format!("  · evidence {n}")));
        lines.push("→ do this".to_string());
        let lines = bounded(lines);
        assert_eq!(lines.len(), HEIGHT);
        assert_eq!((lines.first().unwrap().as_str(), lines.last().unwrap().as_str()), ("cause", "→ do this"));
    }
}
