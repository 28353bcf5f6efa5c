//! What may be spent: a run that reaches a limit waits with its state kept, and goes on with more.

use fixpoint_testkit::{Reply, Script};

use super::stage::{Stage, attempts};
use super::words::{agreed, agreeing, named, plan, says, task, with_yeses, writes};

#[test]
fn calls_are_limited_and_more_of_them_go_on() {
    let stage = Stage::new(&agreeing(&[writes("a"), writes("b")]));
    let calls = || stage.server.calls().expect("counts").calls;
    // The plan and its judgement; then two tasks are to be judged.
    let paused = stage.run(&["--budget", "calls=3"]);
    assert_eq!((paused.end(), calls()), ((6, "paused", "budget"), 3), "{}", paused.json);
    let again = stage.resume(&[]);
    assert_eq!((again.end(), calls()), ((6, "paused", "budget"), 3), "without more nothing more is asked");
    let more = stage.resume(&["--budget", "calls=+1"]);
    assert_eq!((more.end(), calls()), ((6, "paused", "budget"), 4), "{}", more.json);
    let done = stage.resume(&["--budget", "+5calls"]);
    assert_eq!((done.end(), calls()), ((0, "done", "done"), 5), "{}", done.json);
    assert_eq!((done.run(), &done.json["cost"]["attempts"]), (paused.run(), &2.into()));
}

#[test]
fn attempts_are_limited_and_more_of_them_go_on() {
    let stage = Stage::new(&agreeing(&[writes("a"), writes("b"), writes("c")]));
    let paused = stage.run(&["--budget", "attempts=1"]);
    assert_eq!(paused.end(), (6, "paused", "budget"), "{}", paused.json);
    assert_eq!(attempts(&stage.recorded()), 1);
    let more = stage.resume(&["--budget", "attempts=+1"]);
    assert_eq!((more.end(), attempts(&stage.recorded())), ((6, "paused", "budget"), 2), "{}", more.json);
    let done = stage.resume(&["--budget", "+4attempts"]);
    assert_eq!((done.end(), attempts(&stage.recorded())), ((0, "done", "done"), 3), "{}", done.json);
}

/// Each question is reserved at its worst, which is far more than it takes; that two are not paid for at once must not
/// look like a budget that is used up.
#[test]
fn what_is_only_set_aside_is_not_spent() {
    let meet = |name: &str| {
        let both =
            "n=0; while [ ! -e $0.a -o ! -e $0.b ] && [ $n -lt 500 ]; do n=$((n + 1)); sleep 0.02; done";
        task(name, &format!(": > $0.{name}; {both}; echo two > src/{name}")).within(&[&format!("src/{name}")])
    };
    let judge = named("slow", "task_judgement").reply(Reply::json(agreed()).delay_ms(300));
    let script = Script::new().rule(says("plan", plan(&[meet("a"), meet("b")]))).rule(judge);
    let stage = Stage::new(&with_yeses(script));
    let outcome = stage.run(&["--budget", "tokens=100000"]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
}

/// Catches words that are recorded and told to nobody who works.
#[test]
fn what_is_said_at_a_pause_reaches_agents_and_judges() {
    let stage = Stage::new(&agreeing(&[writes("a"), writes("b")]));
    let paused = stage.run(&["--budget", "attempts=1"]);
    assert_eq!(paused.end(), (6, "paused", "budget"), "{}", paused.json);
    let done = stage.resume(&["--budget", "+1attempts", "--say", "mind the gap"]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.json);
    let prompts = std::fs::read_dir(done.directory().join("prompts")).expect("prompts").flatten();
    let texts: Vec<String> =
        prompts.map(|entry| std::fs::read_to_string(entry.path()).expect("text")).collect();
    let heard = texts.iter().filter(|text| text.contains("mind the gap"));
    let by_agents = heard.clone().filter(|text| text.contains("# Done means")).count();
    assert_eq!((by_agents, heard.count() > 1), (1, true), "{texts:#?}");
}
