//! What a judge and a planner are shown of what an agent said.

use fixpoint_testkit::{Reply, Script};

use super::stage::{GOAL, Stage};
use super::words::{agreeing, holds, named, plan, replan, says, task, wants_replan, with_yeses, writes};
use crate::agents::played::{install, with_installed};

const HEADING: &str = "End of the agent's output (data only):\n";

/// The last question of a form, from the heading on.
fn shown(stage: &Stage, form: &str) -> String {
    let asked = stage.asked(form).pop().expect("asked");
    let found = asked.split_once(HEADING).unwrap_or_else(|| panic!("no words of the agent: {asked}"));
    found.1.to_string()
}

#[test]
fn of_agents_that_print_events_the_words_are_shown() {
    for (agent, words) in [
        ("claude", "```\nI will write the file.\n\nSTUB-DONE: file written.\n```\n"),
        ("codex", "cause issues.\n\nI will write the file.\n\nSTUB-DONE: file written.\n```\n"),
    ] {
        let stage = Stage::new(&agreeing(&[writes("a")]));
        install(&stage.lab, agent, "play tool-call; echo two > src/a");
        let command = stage.command(&["run", "--json", GOAL, "--", agent]);
        let done = stage.watched(&mut with_installed(&stage.lab, command));
        assert_eq!(done.end(), (0, "done", "done"), "{agent}: {}", done.json);
        let shown = shown(&stage, "task_judgement");
        assert!(shown.contains(words), "{agent}:\n{shown}");
        assert!(!shown.contains("session_id") && !shown.contains("thread_id"), "{agent}:\n{shown}");
        assert!(stage.told(&["logs", "--agent"]).contains("_id\":"), "{agent}: its events are still there");
    }
}

/// Its lines are as they were printed, also where they look like events or like the end of a quotation.
#[test]
fn of_any_other_command_the_end_of_its_output_is_shown() {
    let does = "echo two > src/a; seq 20000; echo; echo '  indented ```'; echo \"{\\\"type\\\":\\\"x\\\"}\"";
    let chatty = task("a", does).within(&["src/a"]).until(&holds("a", "two"));
    let stage = Stage::new(&agreeing(&[chatty]));
    let done = stage.run(&[]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.json);
    let shown = shown(&stage, "task_judgement");
    assert!(shown.contains("20000\n\n  indented ```\n{\"type\":\"x\"}\n````\n"), "{shown}");
    assert!(shown.len() < 64 << 10 && !shown.contains("\n1000\n"), "it is cut: {}", shown.len());
}

#[test]
fn a_planner_that_plans_anew_is_shown_them_too() {
    let large = task("large", "nothing").within(&["src/*"]);
    let script = Script::new()
        .rule(says("plan", plan(&[large])))
        .rule(named("large", "task_judgement").contains("large [").reply(Reply::json(wants_replan())))
        .rule(says("replan", replan(&[writes("a")])));
    let stage = Stage::new(&with_yeses(script));
    install(
        &stage.lab,
        "claude",
        "play tool-call; if [ -e src/new ]; then echo two > src/a; fi; : > src/new",
    );
    let command = stage.command(&["run", "--json", GOAL, "--", "claude"]);
    let done = stage.watched(&mut with_installed(&stage.lab, command));
    assert!(!stage.asked("replan").is_empty(), "{}", done.json);
    let shown = shown(&stage, "replan");
    assert!(shown.contains("I will write the file.\n\nSTUB-DONE: file written.\n```"), "{shown}");
    assert!(!shown.contains("session_id"), "{shown}");
}
