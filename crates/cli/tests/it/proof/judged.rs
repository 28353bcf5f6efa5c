//! One scenario with the binary: what it said, held against what the table expects.

use serde_json::Value;

use super::scratch::{Scratch, binary};
use super::table::{Case, Expect, Subcommand};

/// How a scenario ended.
pub(crate) struct Judged {
    /// The cause, or for `fixpoint check` what its exit code means.
    pub(crate) cause: String,
    /// What is wrong, with the output.
    pub(crate) wrong: Option<String>,
}

pub(crate) fn judge(case: &Case) -> Judged {
    let scratch = Scratch::new(case);
    let before = scratch.script(
        &format!("set -eu\n{}\n{}", case.scenario.before, case.scenario.earlier),
        &[("FIXPOINT", &binary())],
    );
    if before.code != 0 {
        let wrong = format!("`before` fails: {}", super::tail(&(before.stdout + &before.stderr)));
        return Judged { cause: "before".to_string(), wrong: Some(wrong) };
    }
    match case.scenario.command {
        Subcommand::Loop => looped(case, &scratch),
        Subcommand::Check => compared(case, &scratch),
    }
}

fn looped(case: &Case, scratch: &Scratch<'_>) -> Judged {
    let attempts = case.scenario.attempts.to_string();
    let agent = scratch.agent();
    let (until, check) = (scratch.filled(&case.project.until), scratch.filled(&case.project.check));
    let mut arguments = vec!["loop", "--json", "--max-iterations", &attempts, "--until", &until];
    if !check.is_empty() {
        arguments.extend(["--check", &check]);
    }
    arguments.extend(case.scenario.args.iter().map(String::as_str));
    arguments.extend(["--", &agent]);
    let ended = scratch.fixpoint(&arguments);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    let cause = json["cause"].as_str().unwrap_or("no result").to_string();
    let explained = scratch.fixpoint(&["explain"]).stdout;
    let said = format!("{}\n{explained}\n{}", ended.stdout, ended.stderr);
    let agents = json["iterations"].as_array().into_iter().flatten();
    let broken = agents.filter(|attempt| attempt["exit_code"] != 0).count();
    let wrong = match (case.scenario.expect, ended.code, cause.as_str()) {
        (_, 0 | 3, _) if broken > 0 => Some(format!("the agent's script failed in {broken} attempts")),
        (Expect::Done, 0, "done") => None,
        (Expect::Done, _, _) => Some(format!("ends with {cause}")),
        // Nothing else shows that the attempt was judged: a run that cannot start proves nothing.
        (Expect::NotDone, 3, _) => unnamed(case, &format!("{}\n{explained}", ended.stdout)),
        (Expect::NotDone, _, _) => Some(format!("ends with {cause}")),
    };
    judged(cause, wrong, &said)
}

fn compared(case: &Case, scratch: &Scratch<'_>) -> Judged {
    let changed = scratch.script(&scratch.agent(), &[("FIXPOINT_ATTEMPT", "1")]);
    let check = scratch.filled(&case.project.check);
    let mut arguments = vec!["check", "--json", "--check", &check];
    arguments.extend(case.scenario.args.iter().map(String::as_str));
    let ended = scratch.fixpoint(&arguments);
    let said = format!("{}\n{}", ended.stdout, ended.stderr);
    let wrong = match (case.scenario.expect, ended.code) {
        (_, 0 | 3) if changed.code != 0 => Some("the change itself failed".to_string()),
        (Expect::Done, 0) => None,
        (Expect::NotDone, 3) => unnamed(case, &said),
        (Expect::Done | Expect::NotDone, _) => Some(format!("exits with {}", ended.code)),
    };
    judged(format!("check exits with {}", ended.code), wrong, &said)
}

/// The texts that the result should name and does not. Lines are joined, because explanations are wrapped.
fn unnamed(case: &Case, said: &str) -> Option<String> {
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let unnamed: Vec<&str> =
        case.scenario.names.all().into_iter().filter(|name| !said.contains(*name)).collect();
    (!unnamed.is_empty()).then(|| format!("does not name {}", unnamed.join(", ")))
}

fn judged(cause: String, wrong: Option<String>, said: &str) -> Judged {
    Judged { cause, wrong: wrong.map(|wrong| format!("{wrong}\n{}", super::tail(said))) }
}
