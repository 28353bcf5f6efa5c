//! The same run over every protocol, streamed and whole, with forms and without; and models found by themselves.

use fixpoint_testkit::{Options, Protocol, Reply, ResponseFormat, Rule, Script};
use serde_json::json;

use super::stage::{GOAL, KEY, KEY_VARIABLE, Stage, WAYS, Way};
use super::words::{agreed, agreeing, complete, named, on, plan, scored, writes};

fn in_parallel<T: Sync>(cases: &[T], one: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            let one = &one;
            scope.spawn(move || one(case));
        }
    });
}

fn protocol(way: Way) -> Protocol {
    if way.protocol == "openai" { Protocol::Chat } else { Protocol::Messages }
}

#[test]
fn every_way_of_asking_leads_to_the_same_end() {
    in_parallel(&WAYS, |way| {
        let stage = Stage::with(&agreeing(&[writes("a"), writes("b")]), Options::default(), *way);
        let outcome = stage.run(&[]);
        assert_eq!(outcome.end(), (0, "done", "done"), "{way:?} {}", outcome.json);
        assert_eq!((stage.delivered(&outcome, "src/a"), stage.delivered(&outcome, "src/b")), pair("two\n"));
        let log = stage.server.log().expect("a log");
        let seen: Vec<_> =
            log.iter().map(|line| (line.protocol, line.streaming, has_form(&line.body))).collect();
        // The plan, its judgement, two tasks and the whole, each with the form of its answer.
        assert_eq!(seen, vec![(Some(protocol(*way)), way.stream, true); 5], "{way:?}");
    });
}

/// Whether the answer is held to a form, in the words of either protocol.
fn has_form(body: &serde_json::Value) -> bool {
    let form = body.pointer("/response_format/json_schema").or_else(|| body.pointer("/output_config/format"));
    form.is_some_and(|form| form["schema"].is_object())
}

fn pair(text: &str) -> (String, String) {
    (text.to_string(), text.to_string())
}

/// Without forms a question is known by its words alone.
fn without_forms() -> Script {
    let by_words = [
        ("plan_judgement", scored(true, 90)),
        ("task_judgement", agreed()),
        ("whole_judgement", complete()),
        ("plan", plan(&[writes("a"), writes("b")])),
    ];
    by_words.into_iter().fold(Script::new(), |script, (form, document)| {
        // Around the document stands what models like to put around it.
        let words = format!("Here it is:\n```json\n{document}\n```\nI hope this helps.");
        script.rule(Rule::new(form).contains(format!("document named {form} and")).reply(Reply::text(words)))
    })
}

#[test]
fn an_endpoint_without_forms_is_asked_in_words() {
    let options = Options { response_format: ResponseFormat::Rejected, ..Options::default() };
    in_parallel(&[WAYS[0], WAYS[3]], |way| {
        let stage = Stage::with(&without_forms(), options.clone(), *way);
        let outcome = stage.run(&[]);
        assert_eq!(outcome.end(), (0, "done", "done"), "{way:?} {}", outcome.json);
        let log = stage.server.log().expect("a log");
        let refused = log.iter().filter(|line| line.status == Some(400)).count();
        // What was learned by the first question is not learned again by the others.
        assert_eq!((refused, log.len()), (2, 7), "{way:?}");
    });
}

#[test]
fn models_are_found_by_the_keys_in_the_environment() {
    let table = [
        ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", Protocol::Chat),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", Protocol::Messages),
    ];
    in_parallel(&table, |(key, address, path, protocol)| {
        let stage = Stage::new(&agreeing(&[writes("a")]));
        stage.user_configuration("{}\n");
        let whole = stage.running(&[]);
        let mut command = stage.command(&whole.iter().map(String::as_str).collect::<Vec<_>>());
        command.env_remove(KEY_VARIABLE).env(key, KEY).env(address, format!("{}{path}", stage.server.url()));
        let outcome = stage.watched(&mut command);
        assert_eq!(outcome.end(), (0, "done", "done"), "{key} {}", outcome.json);
        let log = stage.server.log().expect("a log");
        assert!(log.iter().all(|line| line.protocol == Some(*protocol)), "{key}");
        let settings = stage.recorded().header.spec.expect("a spec").settings;
        assert_ne!(settings.models.planner, "auto", "the name that was found is frozen");
    });
}

#[test]
fn a_key_that_a_model_repeats_is_taken_out() {
    let mut said = plan(&[writes("a")]);
    said["comment"] = json!(format!("the key is {KEY}"));
    said["task_decomposition"]["subtasks"][0]["context"] = json!(format!("use {KEY}"));
    let mut judged = agreed();
    judged["reason"] = json!(format!("{KEY} is fine"));
    let script = Script::new()
        .rule(on("plan").reply(Reply::text(format!("no JSON, but {KEY}"))).reply(Reply::json(said)))
        .rule(named("judge", "task_judgement").reply(Reply::json(judged)))
        .rule(named("score", "plan_judgement").reply(Reply::json(scored(true, 80))));
    let stage = Stage::new(&script);
    let outcome = stage.run(&[]);
    assert_eq!(outcome.end(), (0, "done", "done"), "{}", outcome.json);
}

#[test]
fn bounds_are_told_without_asking_anybody() {
    let stage = Stage::new(&agreeing(&[writes("a")]));
    let ended = stage.lab.run(&mut stage.command(&["plan", "--bounds", "--json", "--tasks", "3", GOAL]), b"");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let bounds: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let sum: u64 =
        bounds["terms"].as_array().expect("terms").iter().filter_map(|t| t["model_calls"].as_u64()).sum();
    assert_eq!(bounds["model_calls"].as_u64(), Some(sum));
    assert_eq!(stage.server.calls().expect("counts").calls, 0);
}
