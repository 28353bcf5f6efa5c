//! Endpoints that fail: busy, broken, silent, talking nonsense. The run goes on, or waits with the right cause.

use fixpoint_testkit::{Fault, Options, Reply, Script};

use super::stage::{KEY, Stage, WAYS};
use super::words::{named, on, plan, says_in_turn, with_yeses, writes};

/// Plans after these replies; agrees to everything else.
fn planning_after(replies: Vec<Reply>) -> Script {
    let good = Reply::json(plan(&[writes("a")]));
    with_yeses(Script::new().rule(says_in_turn("plan", replies.into_iter().chain([good]))))
}

fn busy() -> Reply {
    Reply::fault(Fault::Status { status: 429, retry_after: Some(1), body: None })
}

#[test]
fn what_passes_is_asked_again() {
    let storms = [
        (WAYS[0], vec![busy(), Reply::status(500)]),
        (WAYS[3], vec![busy(), Reply::status(529)]),
        (WAYS[0], vec![Reply::fault(Fault::HalfStream), Reply::fault(Fault::Garbage)]),
        (WAYS[2], vec![Reply::fault(Fault::HalfStream), Reply::fault(Fault::Close)]),
        (WAYS[1], vec![Reply::fault(Fault::Garbage), Reply::fault(Fault::HalfStream)]),
    ];
    std::thread::scope(|scope| {
        for (way, replies) in storms {
            scope.spawn(move || {
                let stage = Stage::with(&planning_after(replies.clone()), Options::default(), way);
                let outcome = stage.run(&[]);
                assert_eq!(outcome.end(), (0, "done", "done"), "{way:?} {replies:?} {}", outcome.json);
                assert_eq!(stage.server.calls().expect("counts").by_rule["plan"], 3);
            });
        }
    });
}

#[test]
fn an_endpoint_that_stays_down_pauses_the_run_and_it_goes_on_later() {
    let stage = Stage::new(&planning_after(vec![Reply::status(500), Reply::status(503)]));
    let down = stage.run(&["--set", "models.max_requests=2"]);
    assert_eq!(down.end(), (7, "paused", "model_unavailable"), "{}", down.json);
    assert_eq!(stage.server.calls().expect("counts").calls, 2);
    let up = stage.resume(&[]);
    assert_eq!((up.end(), up.run()), ((0, "done", "done"), down.run()), "{}", up.json);
}

#[test]
fn an_endpoint_that_hangs_is_given_up_in_time() {
    let stage = Stage::new(&planning_after(vec![Reply::fault(Fault::Hang)]));
    let began = std::time::Instant::now();
    let hung = stage.run(&["--set", "models.timeout=1"]);
    assert_eq!(hung.end(), (7, "paused", "model_unavailable"), "{}", hung.json);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    let done = stage.resume(&[]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.json);
}

#[test]
fn a_key_that_is_refused_is_not_tried_again_and_not_repeated() {
    let body = Some(format!("{{\"error\":{{\"message\":\"wrong key {KEY}\"}}}}"));
    let refused = Reply::fault(Fault::Status { status: 401, retry_after: None, body });
    let stage = Stage::new(&planning_after(vec![refused]));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (7, "paused", "model_unavailable"), "{}", outcome.json);
    assert_eq!(stage.server.calls().expect("counts").calls, 1);
}

#[test]
fn a_judge_whose_endpoint_is_down_pauses_the_run_in_the_middle() {
    let judge = named("judge", "task_judgement").reply(Reply::status(500)).then_fail();
    let script = Script::new().rule(judge).rule(named("p", "plan").reply(Reply::json(plan(&[writes("a")]))));
    let stage = Stage::new(&with_yeses(script));
    let down = stage.run(&["--set", "models.max_requests=1"]);
    assert_eq!(down.end(), (7, "paused", "model_unavailable"), "{}", down.json);
    let done = stage.resume(&[]);
    assert_eq!(done.end(), (0, "done", "done"), "{}", done.json);
    assert_eq!(done.json["cost"]["attempts"], 1, "the attempt was not made again");
}

#[test]
fn a_planner_that_talks_nonsense_ends_the_run_without_a_plan() {
    let nonsense = on("plan").reply(Reply::text("I would rather not."));
    let stage = Stage::new(&with_yeses(Script::new().rule(nonsense)));
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (7, "failed", "model_unavailable"), "{}", outcome.json);
    // Once, and `models.max_format_retries` times again with what was wrong.
    let asked = stage.asked("plan");
    assert_eq!(asked.len(), 3);
    assert!(asked[2].contains("I would rather not."), "the answer to be mended is shown: {}", asked[2]);
}
