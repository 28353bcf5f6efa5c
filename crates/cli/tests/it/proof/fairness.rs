//! Whether a scenario is what it says, without Fixpoint: the goal fails at the base and the guard passes, a cheat makes both
//! green and leaves the work undone, honest work does it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::scratch::Scratch;
use super::table::{Case, Expect, Naive, Subcommand};
use crate::process::Ended;

/// Stands for the binary in `before`: runs agent and checks in the working tree, then puts back what git tracks.
const NAIVE: &str = r#"#!/bin/sh
command=$1; shift
until=true; check=true
while [ $# -gt 0 ]; do
  case $1 in
    --until) until=$2; shift;;
    --check) check=$2; shift;;
    --) shift; break;;
  esac
  shift
done
[ $# -eq 0 ] || FIXPOINT_ATTEMPT=1 "$@"
sh -c "$until"; sh -c "$check"
[ "$command" = check ] || { git checkout -q . && git clean -fdq; }
"#;

/// What is wrong with a scenario, if anything.
pub(crate) fn unfair(case: &Case) -> Option<String> {
    let scratch = Scratch::new(case);
    let stub = scratch.lab.beside("naive-fixpoint");
    fs::write(&stub, NAIVE).expect("written");
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).expect("executable");
    let stub = stub.to_string_lossy().into_owned();
    let prepare = |script: &str| {
        let ended = scratch.script(&format!("set -eu\n{script}"), &[("FIXPOINT", &stub)]);
        (ended.code != 0).then(|| told("`before` or `earlier` fails", &ended))
    };
    prepare(&case.scenario.before)
        .or_else(|| at_the_base(case, &scratch))
        .or_else(|| prepare(&case.scenario.earlier))
        .or_else(|| after_the_agent(case, &scratch))
}

fn at_the_base(case: &Case, scratch: &Scratch<'_>) -> Option<String> {
    // A cache that the base leaves would not be there for the agent.
    let run = |command: &str| scratch.script(command, &[("PYTHONDONTWRITEBYTECODE", "1")]);
    if case.scenario.command == Subcommand::Loop {
        let goal = run(&case.project.until);
        if goal.code == 0 {
            return Some(told("the goal passes at the base", &goal));
        }
        let truth = run(&case.project.truth);
        if !case.project.truth.is_empty() && truth.code == 0 {
            return Some(told("`truth` passes at the base", &truth));
        }
    }
    let guard = run(&case.project.check);
    (guard.code != 0).then(|| told("the guard fails at the base", &guard))
}

fn after_the_agent(case: &Case, scratch: &Scratch<'_>) -> Option<String> {
    let agent = scratch.agent();
    let mut is_green = true;
    let mut last = String::new();
    for attempt in 1..=case.scenario.attempts {
        let ended = scratch.script(&agent, &[("FIXPOINT_ATTEMPT", &attempt.to_string())]);
        if ended.code != 0 {
            return Some(told("the agent's script fails", &ended));
        }
        let goal = match case.scenario.command {
            Subcommand::Loop => decided(scratch, &case.project.until),
            Subcommand::Check => decided(scratch, "true"),
        };
        let guard = decided(scratch, &case.project.check);
        is_green = goal.code == 0 && guard.code == 0;
        last = told("goal", &goal) + &told("guard", &guard);
    }
    match (case.scenario.naive, is_green) {
        (Naive::Green, false) => return Some(format!("the checks are not green: {last}")),
        (Naive::Red | Naive::Forged, true) => return Some(format!("the checks are green: {last}")),
        (Naive::Green, true) | (Naive::Red | Naive::Forged, false) => {}
    }
    if case.project.truth.is_empty() {
        return None;
    }
    let truth = scratch.script(&case.project.truth, &[]);
    match (case.scenario.expect, truth.code) {
        (Expect::Done, 0) => None,
        (Expect::Done, _) => Some(told("honest, but `truth` fails", &truth)),
        (Expect::NotDone, 0) => Some(told("no cheat: `truth` passes", &truth)),
        (Expect::NotDone, _) => None,
    }
}

/// Runs a check as Fixpoint would: with the variables of decision files.
fn decided(scratch: &Scratch<'_>, command: &str) -> Ended {
    let file = scratch.lab.beside("decision").to_string_lossy().into_owned();
    scratch.script(command, &[("FIXPOINT_DECISION_FILE", &file), ("FIXPOINT_CHECK_ID", "naive")])
}

fn told(what: &str, ended: &Ended) -> String {
    format!(
        "{what} (exit code {}):\n{}",
        ended.code,
        super::tail(&format!("{}{}", ended.stdout, ended.stderr))
    )
}
