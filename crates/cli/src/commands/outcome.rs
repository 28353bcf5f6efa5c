//! What is said when a run has ended: on one screen, or as one object.

use fixpoint_decide::run::{Decision, Extent, TaskSource};
use fixpoint_decide::task_run::{Step, Work};
use fixpoint_engine::{Ending, Recorded};
use fixpoint_ports::{DiffStyle, Workspaces};
use fixpoint_runs::{Cost, Explanation, RunDirectory, Story, Summary, cause_name, explain};
use fixpoint_vocabulary::brief::Delivery;
use fixpoint_vocabulary::{Cause, Lang};
use fixpoint_workspaces::{BranchOutcome, FastForwardOutcome};

use super::plan_text;
use crate::failure::Failure;
use crate::output::{Form, Output, letter_width};
use crate::session::{Around, Driven};

/// Delivers what is done, says how the run ended, and answers the exit code.
pub(crate) fn tell(
    run: &RunDirectory,
    driven: &Driven,
    around: &Around<'_>,
    form: Form,
    output: &mut Output,
) -> Result<u8, Failure> {
    let story = Story::of(&driven.recorded);
    let delivered = deliver(run, &story, &driven.recorded, around)?;
    let branch = delivered.branch.clone();
    let lang = around.surroundings.lang;
    match form {
        Form::Json => output.json(&Summary { branch, ..summary(run, &driven.recorded, None, lang) })?,
        Form::Text => {
            for line in screen(&run.id.0, &driven.recorded, &story, lang) {
                output.line(&line)?;
            }
            if is_plan_only(&driven.recorded) {
                plan_text::lines(&story.run).iter().try_for_each(|line| output.line(line))?;
            }
            if let Some(branch) = branch {
                output.line(&format!("Branch: {branch}"))?;
            }
            for line in &delivered.lines {
                output.line(line)?;
            }
            if let Ending::Paused(_) = driven.ending {
                output.line(&format!("Resume: fixpoint resume {}", run.id))?;
            }
        }
    }
    Ok(exit_code(driven.ending.cause()))
}

/// Whether nothing but a plan was asked for.
fn is_plan_only(recorded: &Recorded) -> bool {
    match &recorded.opening.order.tasks {
        TaskSource::Planned(order) => order.extent == Extent::PlanOnly,
        TaskSource::Given(_) => false,
    }
}

/// The exit code of a cause.
pub(crate) fn exit_code(cause: Cause) -> u8 {
    cause.exit_code().unwrap_or(1)
}

/// Where a task stands, in words.
pub(crate) fn step_words(step: Step) -> String {
    let doing = |work: Work| match work {
        Work::TakingBase => "take the base",
        Work::Baseline => "check the base",
        Work::Attempting => "let the agent work",
        Work::Reverting => "take back what lies outside the scope",
        Work::Goals => "run the goals",
        Work::RestoringTests => "put the tests back as they were",
        Work::GoalsWithBaseTests => "run the goals with the tests as they were",
        Work::Guards => "run the guards",
        Work::SuspectsAtBase => "run at the base what it had hidden",
        Work::FlakyAtBase => "run at the base what fails sometimes",
        Work::Confirming => "run again what looks new",
        Work::Judging => "ask the judge",
    };
    match step {
        Step::New => "nothing yet".to_string(),
        Step::Working { work } => doing(work).to_string(),
        Step::Paused { cause, .. } => format!("paused: {}", cause_name(cause)),
        Step::Ended { cause } => format!("ended: {}", cause_name(cause)),
    }
}

/// What was decided, in words.
pub(crate) fn decision_words(decision: &Decision, lang: Lang) -> String {
    let of_task = |decision: &fixpoint_decide::task_run::Decision| match &decision.judged {
        Some(judged) => format!(
            "{}; stage {}; {}; then {}",
            judged.verdict.progress.name(),
            judged.counts.stage,
            judged.verdict.reason.text.in_lang(lang),
            step_words(decision.step)
        ),
        None => step_words(decision.step),
    };
    let words: Vec<String> = decision.of_tasks().map(|(_, decision)| of_task(decision)).collect();
    if words.is_empty() { format!("{} steps", decision.moves.len()) } else { words.join("; ") }
}

/// Everything about a run, for programs.
pub(crate) fn summary(run: &RunDirectory, recorded: &Recorded, holder: Option<u32>, lang: Lang) -> Summary {
    Summary::of(&run.id, recorded, holder, &run.path.to_string_lossy(), lang)
}

/// What was handed over.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    /// The branch that holds the result.
    pub(crate) branch: Option<String>,
    /// What else is to be said about it.
    lines: Vec<String>,
}

/// Hands over what is done, in part or as a whole. What is there already was handed over before a crash.
pub(crate) fn deliver(
    run: &RunDirectory,
    story: &Story,
    recorded: &Recorded,
    around: &Around<'_>,
) -> Result<Delivered, Failure> {
    let has_result = matches!(story.cause(), Some(Cause::Done | Cause::Partial | Cause::JudgeUnavailable))
        && story.run.is_over();
    let (Some(result), Some(base), true) = (story.result(), story.base(), has_result) else {
        return Ok(Delivered::default());
    };
    if result == base.commit {
        return Ok(Delivered::default());
    }
    let workspaces = &around.repository.workspaces;
    let delivery = recorded.opening.brief.as_ref().map(|brief| brief.delivery.clone()).unwrap_or_default();
    if let Delivery::Patch(path) = &delivery {
        let patch = workspaces.diff(&base.commit, &result, DiffStyle::Patch)?;
        std::fs::write(path, patch).map_err(|source| Failure::Unwritable { path: path.into(), source })?;
        run.note_delivery()?;
        return Ok(Delivered { branch: None, lines: vec![format!("Patch: {path}")] });
    }
    let branch = match workspaces.create_branch(&run.id.0, &result)? {
        BranchOutcome::Created(branch) => branch,
        BranchOutcome::Exists(branch, at) if at == result => branch,
        // A part of the result was handed over before, and the rest was done since.
        BranchOutcome::Exists(branch, _) => {
            let told = match workspaces.fast_forward(&branch, &result)? {
                FastForwardOutcome::Moved => None,
                FastForwardOutcome::Diverged | FastForwardOutcome::NoSuchBranch => Some("was moved"),
                FastForwardOutcome::CheckedOut => Some("is checked out"),
            };
            if let Some(why) = told {
                let notice = format!("the branch {branch} {why} and is left alone; the result is {result}");
                around.surroundings.notices.say(&notice);
            }
            branch
        }
    };
    run.note_delivery()?;
    let lines = match &delivery {
        // What is not all done is not moved into somebody's branch.
        Delivery::Into(into) if story.cause() == Some(Cause::Done) => {
            vec![forwarded(into, &branch, workspaces.fast_forward(into, &result)?)]
        }
        Delivery::Into(into) => vec![format!("{into} is left where it is: not everything is done")],
        Delivery::Branch | Delivery::Patch(_) => Vec::new(),
    };
    Ok(Delivered { branch: Some(branch), lines })
}

fn forwarded(into: &str, branch: &str, outcome: FastForwardOutcome) -> String {
    match outcome {
        FastForwardOutcome::Moved => format!("{into} was moved forward to the result"),
        FastForwardOutcome::Diverged => {
            format!("{into} has other commits meanwhile and is left alone; merge {branch} into it")
        }
        FastForwardOutcome::CheckedOut => {
            format!("{into} is checked out and is left alone; `git merge --ff-only {branch}` brings it there")
        }
        FastForwardOutcome::NoSuchBranch => format!("there is no branch {into}; the result is in {branch}"),
    }
}

/// How a run stands, on one screen.
pub(crate) fn screen(run: &str, recorded: &Recorded, story: &Story, lang: Lang) -> Vec<String> {
    let Explanation { what, evidence, next } = explain(recorded, story, lang);
    let cause = story.cause().map(|cause| format!(" [{}]", cause_name(cause))).unwrap_or_default();
    let mut lines = wrapped(&format!("{run}{cause}: {what}"), "", "  ");
    for line in evidence.into_iter().chain(Cost::of(story).used(lang)).chain(story.times.words(lang)) {
        lines.extend(wrapped(&line, "  · ", "    "));
    }
    for line in next {
        lines.extend(wrapped(&line, "→ ", "  "));
    }
    bounded(lines)
}

const WIDTH: usize = 79;
const HEIGHT: usize = 22;

/// Text in lines that fit, the first with one indentation, the others with another. A letter of Japanese takes two
/// places, and may be the last of its line.
fn wrapped(text: &str, first: &str, others: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_string();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let mut word = word.to_string();
        if !is_empty && width(&line) + 1 + width(&word) > WIDTH {
            lines.push(std::mem::replace(&mut line, others.to_string()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        // A word that is longer than a line is cut wherever the line ends.
        while width(&line) + width(&word) > WIDTH {
            let mut used = width(&line);
            let fits: String = word
                .chars()
                .take_while(|letter| {
                    used += letter_width(*letter);
                    used <= WIDTH
                })
                .collect();
            if fits.is_empty() {
                break;
            }
            word = word.chars().skip(fits.chars().count()).collect();
            line.push_str(&fits);
            lines.push(std::mem::replace(&mut line, others.to_string()));
        }
        line.push_str(&word);
        is_empty = word.is_empty();
    }
    lines.push(line);
    lines
}

fn width(text: &str) -> usize {
    text.chars().map(letter_width).sum()
}

/// At most one screen: what is too much is taken out of the middle, so that cause and next action stay.
fn bounded(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > HEIGHT {
        let tail =
            lines.iter().rev().take_while(|line| line.starts_with("→ ") || line.starts_with("  ")).count();
        let tail = tail.min(6);
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
    fn lines_fit_whatever_is_in_them() {
        let long = format!("short {} 日本語の長い文がここに続きます{}", "x".repeat(300), "あ".repeat(100));
        let lines = wrapped(&long, "  · ", "    ");
        assert!(lines.iter().all(|line| width(line) <= WIDTH), "{lines:#?}");
        let joined: String = lines.iter().map(|line| line.trim_start_matches([' ', '·'])).collect();
        assert_eq!(joined.replace(' ', ""), long.replace(' ', ""));
    }

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
