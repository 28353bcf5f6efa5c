//! What people will see: Claude Code and Codex themselves in a loop, with a model whose every word is in a script.

use fixpoint_testkit::{Fault, Reply, Rule, Script};

use super::studio::{self, Real, Started, Studio, ends_after, used};
use crate::scenarios::lab::{processes_with, wait_for};

/// Plays a story with each of them, in a studio of its own.
fn each(script: &Script, story: impl Fn(Real, &Studio) + Sync) {
    studio::each(|agent| {
        if let Some(studio) = Studio::new(agent, script) {
            story(agent, &studio);
        }
    });
}

#[test]
fn a_goal_is_reached_by_a_real_edit() {
    let work = Reply::shell("echo ok > goal && echo it-is-written").with_text("I write it.").usage(used(20));
    let script =
        Script::new().rule(ends_after("it-is-written", "All done.")).rule(Rule::new("work").reply(work));
    each(&script, |agent, studio| {
        let done = studio.looped();
        assert_eq!(done.end(), (0, "done", "done"), "{agent:?}: {}", studio.told(&done));
        assert_eq!(done.iterations().len(), 1);
        assert_eq!(done.iterations()[0]["last_words"], "All done.");
        let branch = done.json["branch"].as_str().expect("a branch");
        assert_eq!(studio.lab.git(&["show", &format!("{branch}:goal")]), "ok\n");
        let cost = &done.json["cost"];
        assert_eq!(cost["tokens"], 100 + 20 + 100 + 7, "{agent:?}: {cost}");
        match agent {
            Real::Claude => assert!(cost["usd"].as_f64().is_some_and(|usd| usd > 0.0), "{cost}"),
            Real::Codex => assert!(cost["usd"].is_null(), "it tells no cost: {cost}"),
        }
        let told = studio.lab.explained(&done);
        assert!(told.contains("Used: 227 tokens"), "{agent:?}:\n{told}");
    });
}

#[test]
fn the_same_useless_command_is_stopped_after_the_fourth_time() {
    let useless = Reply::shell("ls > /dev/null; echo looked-around");
    let script = Script::new()
        .rule(ends_after("looked-around", "I looked around."))
        .rule(Rule::new("loop").reply(useless));
    each(&script, |agent, studio| {
        let stopped = studio.looped();
        assert_eq!(stopped.end(), (3, "failed", "not_converging"), "{agent:?}: {}", studio.told(&stopped));
        assert_eq!(stopped.progress(), ["no_change"; 4], "{agent:?}");
        let calls = ["loop", "end"].map(|rule| studio.actor.played(rule));
        assert_eq!(calls, [4, 4], "{agent:?}: it ran its command each time");
    });
}

#[test]
fn a_claim_is_no_change_and_the_hint_says_where_to_look() {
    let claim = "I have fixed everything; all tests pass.";
    let script = Script::new().rule(Rule::new("claim").reply(Reply::text(claim)));
    each(&script, |agent, studio| {
        let stopped = studio.looped();
        assert_eq!(stopped.end(), (3, "failed", "not_converging"), "{agent:?}: {}", studio.told(&stopped));
        assert_eq!(stopped.progress(), ["no_change"; 4], "{agent:?}");
        let told = studio.lab.explained(&stopped).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("I have fixed everything"), "{agent:?}:\n{told}");
        assert!(told.contains("may lack permission to edit"), "{agent:?}:\n{told}");
    });
}

#[test]
fn an_interrupt_leaves_nothing_of_the_tree() {
    let command = "setsid sleep 600 > /dev/null 2>&1 & echo left-behind";
    let script = Script::new()
        .rule(Rule::new("hang").last_contains("left-behind").reply(Reply::fault(Fault::Hang)))
        .rule(Rule::new("work").reply(Reply::shell(command)));
    each(&script, |agent, studio| {
        let mut child = Started::new(studio.looping());
        wait_for("the agent waits for its model", || studio.actor.played("hang") > 0);
        // Its home is in the environment of everything that was started for it.
        let mark = studio.lab.beside("home").to_string_lossy().into_owned();
        let tree = processes_with(&mark);
        assert!(tree.len() >= 3, "{agent:?}: ourselves, the agent and what it left: {tree:?}");
        child.interrupt();
        assert_eq!((child.code(), processes_with(&mark)), (Some(130), Vec::new()), "{agent:?}");
        let shown = studio.lab.json(0, &["status", "--json"]);
        assert_eq!((&shown["status"], &shown["cause"]), (&"paused".into(), &"stopped".into()), "{shown}");
    });
}

#[test]
fn the_second_attempt_goes_on_with_the_session() {
    let write = |word: &str| format!("echo {word} > goal && echo written-$FIXPOINT_ATTEMPT");
    let script = Script::new()
        .rule(ends_after("written-1", "Almost done."))
        .rule(Rule::new("end-2").last_contains("written-2").reply(Reply::text("All done.").usage(used(7))))
        .rule(
            Rule::new("second")
                .last_contains("This is attempt 2")
                .reply(Reply::shell(write("ok")).usage(used(20))),
        )
        .rule(
            Rule::new("first")
                .reply(Reply::shell(write("almost")).with_text("I begin.").usage(used(20)))
                .then_fail(),
        );
    each(&script, |agent, studio| {
        let done = studio.looped();
        assert_eq!(done.end(), (0, "done", "done"), "{agent:?}: {}", studio.told(&done));
        assert_eq!(done.iterations().len(), 2, "{agent:?}");
        let second = studio.actor.asked("second").pop().expect("asked");
        assert_eq!(second.turn, 1, "{agent:?}: the first attempt's command is remembered");
        let body = second.body.to_string();
        assert!(body.contains("I begin.") && body.contains("Almost done."), "{agent:?}: {body}");
        assert_eq!(done.json["cost"]["tokens"], 4 * 100 + 2 * 20 + 2 * 7, "{agent:?}: each token once");
    });
}

#[test]
fn a_refused_key_pauses_the_run() {
    let script = Script::new().rule(Rule::new("no").reply(Reply::status(401)));
    each(&script, |agent, studio| {
        let paused = studio.looped();
        let expected = (7, "paused", "agent_unavailable");
        assert_eq!(paused.end(), expected, "{agent:?}: {}", studio.told(&paused));
        assert_eq!(paused.iterations().len(), 0, "{agent:?}");
    });
}
