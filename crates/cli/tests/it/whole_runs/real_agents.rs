//! Claude Code and Codex themselves in `fixpoint run`, with one task: what they say to their models, and what planner and
//! judge say, are two scripts on two servers.

use fixpoint_testkit::{Fault, Reply, Rule, Script};
use serde_json::json;

use super::stage::{GOAL, KEY, Stage};
use super::words::{
    agreed, agreeing, holds, named, on, plan, replan, says, task, wants_replan, with_yeses, writes,
};
use crate::agents::studio::{self, Actor, Real, Started, ends_after, used};
use crate::process;
use crate::scenarios::lab::{Outcome, processes_with, wait_for};

/// What a scripted model says it used where its script does not say.
const USED_BY_A_MODEL: u64 = 15;

/// A whole run with a real agent in it.
struct Cast {
    stage: Stage,
    actor: Actor,
}

impl Cast {
    fn arguments<'a>(&self, form: &[&'a str], arguments: &[&'a str]) -> Vec<&'a str> {
        let mut whole = vec!["run", GOAL];
        whole.extend(form.iter().chain(arguments));
        whole.push("--");
        whole.extend(self.actor.typed());
        whole
    }

    fn running(&self, arguments: &[&str]) -> std::process::Command {
        self.actor.beside(self.stage.command(&self.arguments(&["--json"], arguments)))
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.stage.watched(&mut self.running(arguments))
    }

    fn told(&self, outcome: &Outcome) -> String {
        studio::told(&self.stage.lab, &self.actor, outcome)
    }
}

/// Plays a story with each of the agents: `acting` is what its own model says, `advising` what planner and judge do.
fn each(acting: &Script, advising: &Script, story: impl Fn(Real, &Cast) + Sync) {
    studio::each(|agent| {
        let stage = Stage::new(advising);
        if let Some(actor) = Actor::new(agent, acting, &stage.lab) {
            story(agent, &Cast { stage, actor });
        }
    });
}

/// Its model has it write the file, and say so.
fn writing() -> Script {
    let work = Reply::shell("printenv LOOPBACK_WORDS; echo two > src/a && echo it-is-written");
    let work = work.with_text("I write it.").usage(used(20));
    Script::new().rule(ends_after("it-is-written", "All done.")).rule(Rule::new("work").reply(work))
}

/// What two requests of an agent use.
const USED_BY_WRITING: u64 = 100 + 20 + 100 + 7;

/// The judge thinks that attempts that get nowhere are worth going on with.
fn hopeful() -> Rule {
    let hope = json!({"success": false, "should_continue": true, "should_replan": false,
        "reason": "the next one may do it", "missing_requirements": ["A1"]});
    named("hope", "task_judgement").contains("make no progress").reply(Reply::json(hope))
}

/// The goal of one task, and nothing planned.
fn unplanned() -> [String; 3] {
    ["--no-plan".to_string(), "--until".to_string(), holds("a", "two")]
}

fn borrowed(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[test]
fn a_goal_without_a_plan_is_reached_and_delivered() {
    each(&writing(), &with_yeses(Script::new()), |agent, cast| {
        let done = cast.run(&borrowed(&unplanned()));
        assert_eq!(done.end(), (0, "done", "done"), "{agent:?}: {}", cast.told(&done));
        assert_eq!(cast.stage.delivered(&done, "src/a"), "two\n", "{agent:?}");
        assert_eq!(done.iterations().len(), 1, "{agent:?}");
        assert_eq!(done.iterations()[0]["last_words"], "All done.");
        // The agent and the judge are added up; what the agent used is told for itself as well.
        let asked = cast.stage.server.calls().expect("calls").calls;
        assert_eq!((asked, cast.stage.asked("task_judgement").len()), (1, 1), "{agent:?}");
        let cost = &done.json["cost"];
        assert_eq!(cost["tokens"], USED_BY_WRITING + USED_BY_A_MODEL, "{agent:?}: {cost}");
        assert_eq!(done.iterations()[0]["tokens"], USED_BY_WRITING, "{agent:?}");
        let parts = (&cost["agents"]["tokens"], &cost["models"]["tokens"]);
        assert_eq!(parts, (&USED_BY_WRITING.into(), &USED_BY_A_MODEL.into()), "{agent:?}: {cost}");
        match agent {
            Real::Claude => assert!(cost["usd"].as_f64().is_some_and(|usd| usd > 0.0), "{cost}"),
            Real::Codex => assert!(cost["usd"].is_null(), "the agent tells no price: {cost}"),
        }
        let told = cast.stage.told(&["explain"]);
        assert!(told.contains("Used: 242 tokens"), "{agent:?}:\n{told}");
        // The key of the planner and the judge is not the agent's to see.
        let seen = cast.actor.server.log().expect("a log");
        assert!(seen.iter().all(|line| !line.body.to_string().contains(KEY)), "{agent:?}");
    });
}

#[test]
fn a_planned_task_is_done_and_told_to_people() {
    each(&writing(), &agreeing(&[writes("a")]), |agent, cast| {
        let whole = cast.arguments(&[], &[]);
        let ended = process::run(&mut cast.actor.beside(cast.stage.command(&whole)), b"");
        assert_eq!(ended.code, 0, "{agent:?}: {}{}", ended.stdout, ended.stderr);
        let shown: serde_json::Value =
            serde_json::from_str(&cast.stage.told(&["show", "--json"])).expect("JSON");
        let branch = shown["branch"].as_str().expect("a branch");
        assert_eq!(cast.stage.lab.git(&["show", &format!("{branch}:src/a")]), "two\n", "{agent:?}");
        let asked = cast.stage.server.calls().expect("calls").calls;
        let tokens = USED_BY_WRITING + asked * USED_BY_A_MODEL;
        assert_eq!((asked, &shown["cost"]["tokens"]), (3, &tokens.into()), "{agent:?}: plan, score, judge");
        let used = format!("{tokens} tokens");
        assert!(ended.stdout.contains(&used), "{agent:?}:\n{}", ended.stdout);
        assert!(ended.stdout.contains(branch), "{agent:?}:\n{}", ended.stdout);
        // The judge sees what the agent said, quoted, and nothing of the events it said it in.
        let judged = cast.stage.asked("task_judgement").pop().expect("asked");
        assert!(judged.contains("End of the agent's output (data only"), "{agent:?}:\n{judged}");
        assert!(judged.contains("I write it.\n\nAll done.\n"), "{agent:?}:\n{judged}");
        assert!(!judged.contains("\"type\":") && !judged.contains("it-is-written"), "{agent:?}:\n{judged}");
    });
}

/// An agent whose every attempt writes the same wrong thing.
fn stubborn() -> Script {
    let work = Reply::shell("echo three > src/a; echo tried-it").with_text("I try it.");
    Script::new().rule(ends_after("tried-it", "I tried.")).rule(Rule::new("work").reply(work))
}

#[test]
fn the_same_failure_again_and_again_is_stopped() {
    each(&stubborn(), &with_yeses(Script::new().rule(hopeful())), |agent, cast| {
        let mut arguments = unplanned().to_vec();
        arguments.extend(["--set".to_string(), "replanning.enabled=false".to_string()]);
        let stopped = cast.run(&borrowed(&arguments));
        assert_eq!(stopped.end(), (3, "failed", "not_converging"), "{agent:?}: {}", cast.told(&stopped));
        assert_eq!(stopped.stages(), [1, 1, 2, 2], "{agent:?}: {:?}", stopped.progress());
        let hopes = cast.stage.asked("task_judgement");
        assert_eq!(hopes.len(), 1, "{agent:?}: only where the stage rises");
        assert!(hopes[0].contains("I try it.\n\nI tried."), "{agent:?}: {}", hopes[0]);
        assert_eq!(stopped.json["branch"], serde_json::Value::Null);
    });
}

#[test]
fn a_task_that_gets_nowhere_is_planned_anew_and_that_is_bounded() {
    // Whatever takes its place gets nowhere either, and is given up at once.
    let wrong = |id: &str| task(id, "nothing").within(&["src/a"]).until(&holds("a", "two"));
    let script = Script::new()
        .rule(says("plan", plan(&[wrong("first")])))
        .rule(
            named("give up", "task_judgement")
                .contains("make no progress")
                .reply(Reply::json(wants_replan())),
        )
        .rule(
            on("replan")
                .reply(Reply::json(replan(&[wrong("second")])))
                .reply(Reply::json(replan(&[wrong("third")]))),
        );
    each(&stubborn(), &with_yeses(script), |agent, cast| {
        let stopped = cast.run(&["--set", "planning.reflection.enabled=false"]);
        assert_eq!(stopped.end(), (3, "failed", "max_replans"), "{agent:?}: {}", cast.told(&stopped));
        let replans = cast.stage.asked("replan");
        assert_eq!(replans.len(), 2, "{agent:?}: the third of the lineage is not made");
        assert!(replans[0].contains("I tried."), "{agent:?}: {}", replans[0]);
        let tasks = ["first", "second", "third"];
        let of_task = |name: &str| stopped.iterations().iter().filter(|line| line["task"] == name).count();
        assert!(tasks.iter().all(|name| of_task(name) >= 2), "{agent:?}: {}", stopped.json["iterations"]);
        // A new task is a new session, whatever the one before remembers.
        let begun = cast.actor.asked("work");
        assert!(begun.iter().any(|line| line.turn > 0), "{agent:?}: a task goes on with its session");
        assert_eq!(begun.iter().filter(|line| line.turn == 0).count(), 3, "{agent:?}: each begins its own");
    });
}

#[test]
fn a_claim_is_no_change_and_the_next_prompt_says_so() {
    let claim = "I have fixed everything; all tests pass.";
    let acting = Script::new().rule(Rule::new("claim").reply(Reply::text(claim)));
    each(&acting, &with_yeses(Script::new().rule(hopeful())), |agent, cast| {
        let mut arguments = unplanned().to_vec();
        arguments.extend(["--set".to_string(), "replanning.enabled=false".to_string()]);
        let stopped = cast.run(&borrowed(&arguments));
        assert_eq!(stopped.end(), (3, "failed", "not_converging"), "{agent:?}: {}", cast.told(&stopped));
        assert_eq!(stopped.progress(), ["no_change"; 4], "{agent:?}");
        let told: Vec<String> = cast.actor.asked("claim").iter().map(|line| line.body.to_string()).collect();
        let hints = told.iter().map(|body| body.contains("# Nothing was changed")).collect::<Vec<_>>();
        assert_eq!(hints, [false, true, true, true], "{agent:?}");
        assert!(told[3].contains("Each of the last 3 attempts ended without a change"), "{agent:?}");
        let hope = cast.stage.asked("task_judgement").pop().expect("asked");
        assert!(hope.contains(claim), "{agent:?}: {hope}");
        let explained = cast.stage.lab.explained(&stopped).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(explained.contains("may lack permission to edit"), "{agent:?}:\n{explained}");
    });
}

/// Without any check the judge decides, and may believe the agent: a yes to an unchanged tree does not make it done.
#[test]
fn a_judge_that_believes_a_claim_is_not_believed_either() {
    let acting = Script::new().rule(Rule::new("claim").reply(Reply::text("It is all there.")));
    let idle = task("idle", "nothing").within(&["src/a"]);
    let advising = Script::new()
        .rule(says("plan", plan(&[idle])))
        .rule(hopeful())
        .rule(says("task_judgement", agreed()));
    each(&acting, &with_yeses(advising), |agent, cast| {
        let stopped =
            cast.run(&["--set", "replanning.enabled=false", "--set", "planning.reflection.enabled=false"]);
        assert_eq!(stopped.end(), (3, "failed", "not_converging"), "{agent:?}: {}", cast.told(&stopped));
        let kinds = ["first", "no_change", "no_change", "no_change", "no_change"];
        assert_eq!(stopped.progress(), kinds, "{agent:?}: there is nothing to compare the first with");
        let told = cast.actor.asked("claim");
        let hints = told.iter().map(|line| line.body.to_string().contains("# Nothing was changed"));
        assert_eq!(hints.collect::<Vec<_>>(), [false, true, true, true, true], "{agent:?}");
    });
}

#[test]
fn a_run_that_is_cancelled_leaves_nothing_of_the_tree_and_goes_on() {
    let command = "setsid sleep 600 > /dev/null 2>&1 & echo left-behind";
    let acting = || {
        Script::new()
            .rule(Rule::new("hang").last_contains("left-behind").reply(Reply::fault(Fault::Hang)))
            .rule(Rule::new("leave").reply(Reply::shell(command)).then_fail())
            .rule(ends_after("it-is-written", "All done."))
            .rule(Rule::new("work").reply(Reply::shell("echo two > src/a && echo it-is-written")))
    };
    for way in ["interrupt", "stop"] {
        each(&acting(), &agreeing(&[writes("a")]), |agent, cast| {
            let mut child = Started::new(cast.running(&[]));
            wait_for("the agent waits for its model", || cast.actor.played("hang") > 0);
            // Its home is in the environment of everything that was started for it.
            let mark = cast.stage.lab.beside("home").to_string_lossy().into_owned();
            let tree = processes_with(&mark);
            assert!(tree.len() >= 3, "{agent:?}: ourselves, the agent and what it left: {tree:?}");
            match way {
                "interrupt" => child.interrupt(),
                _ => drop(cast.stage.told(&["stop"])),
            }
            assert_eq!((child.code(), processes_with(&mark)), (Some(130), Vec::new()), "{agent:?} {way}");
            let shown = cast.stage.lab.json(0, &["status", "--json"]);
            let (status, cause) = (&shown["status"], &shown["cause"]);
            assert_eq!((status, cause), (&"paused".into(), &"stopped".into()), "{agent:?} {way}: {shown}");
            let resuming = cast.stage.command(&["resume", "--json"]);
            let done = cast.stage.watched(&mut cast.actor.beside(resuming));
            assert_eq!(done.end(), (0, "done", "done"), "{agent:?} {way}: {}", cast.told(&done));
            assert_eq!(cast.stage.delivered(&done, "src/a"), "two\n", "{agent:?} {way}");
            assert!(processes_with(&mark).is_empty(), "{agent:?} {way}");
        });
    }
}

#[test]
fn a_refused_key_pauses_the_run_and_is_no_attempt() {
    let acting = Script::new().rule(Rule::new("no").reply(Reply::status(401)));
    each(&acting, &agreeing(&[writes("a")]), |agent, cast| {
        let paused = cast.run(&[]);
        let expected = (7, "paused", "agent_unavailable");
        assert_eq!(paused.end(), expected, "{agent:?}: {}", cast.told(&paused));
        assert_eq!(paused.iterations().len(), 0, "{agent:?}");
        let told = cast.stage.lab.explained(&paused).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("401") && told.contains("`fixpoint resume"), "{agent:?}:\n{told}");
    });
}

#[test]
fn a_session_goes_on_at_stage_one_and_begins_anew_at_stage_two() {
    let write = |word: &str| Reply::shell(format!("echo {word} > src/a; echo written-$FIXPOINT_ATTEMPT"));
    let attempt = |number: u32, word: &str| {
        let work = Rule::new(format!("attempt {number}")).last_contains(format!("This is attempt {number}."));
        let end = Rule::new(format!("end {number}")).last_contains(format!("written-{number}"));
        let said = format!("Words of attempt {number}.");
        [work.reply(write(word).usage(used(20))), end.reply(Reply::text(said).usage(used(7)))]
    };
    let rules = [attempt(2, "three"), attempt(3, "two")].into_iter().flatten();
    let acting = rules
        .fold(Script::new(), Script::rule)
        .rule(ends_after("written-1", "Words of attempt 1."))
        .rule(Rule::new("first").reply(write("three").with_text("I begin.").usage(used(20))));
    each(&acting, &with_yeses(Script::new().rule(hopeful())), |agent, cast| {
        let done = cast.run(&borrowed(&unplanned()));
        assert_eq!(done.end(), (0, "done", "done"), "{agent:?}: {}", cast.told(&done));
        assert_eq!(done.stages(), [1, 1, 2], "{agent:?}: {:?}", done.progress());
        let asked = |rule: &str| cast.actor.asked(rule).pop().expect("asked");
        let (second, third) = (asked("attempt 2"), asked("attempt 3"));
        let remembers = |body: &serde_json::Value| body.to_string().contains("Words of attempt 1.");
        assert_eq!((second.turn, remembers(&second.body)), (1, true), "{agent:?}: it goes on");
        assert_eq!((third.turn, remembers(&third.body)), (0, false), "{agent:?}: it begins anew");
        assert!(third.body.to_string().contains("# Minimal fix"), "{agent:?}");
        let models = cast.stage.server.calls().expect("calls").calls;
        let tokens = 3 * USED_BY_WRITING + models * USED_BY_A_MODEL;
        assert_eq!(done.json["cost"]["tokens"], tokens, "{agent:?}: each token once");
    });
}
