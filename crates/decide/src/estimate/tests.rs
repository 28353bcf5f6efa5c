//! Tables of estimates, and that more tasks never cost less.

use proptest::prelude::*;

use super::*;

fn asked(part: Part, calls: PlanningCalls) -> Question {
    Question {
        part,
        calls,
        judging: Judging::ByModel,
        past: Vec::new(),
        planner: None,
        judge: None,
        per_attempt: None,
    }
}

fn used(calls: u64, tokens: u64) -> Usage {
    Usage { calls, input_tokens: tokens, ..Usage::default() }
}

fn past(tasks: u64, attempts: u64, planning: u64, execution: u64) -> PastRun {
    let (planning, execution) = (used(planning, planning * 1000), used(execution, execution * 1000));
    PastRun { tasks, attempts, planning, execution, agents: Usage::default() }
}

#[test]
fn without_earlier_runs_the_model_answers() {
    let checks_alone =
        Question { judging: Judging::ByChecksAlone, ..asked(Part::Whole, PlanningCalls::None) };
    let table = [
        // 1 plan, 4 calls of review; 4 tasks in 6 attempts, each judged; the final review.
        ("planned at once", asked(Part::Whole, PlanningCalls::AtOnce), (4, 12, 6)),
        ("planned per phase", asked(Part::Whole, PlanningCalls::PerPhase), (4, 14, 6)),
        ("one task", asked(Part::Whole, PlanningCalls::None), (1, 3, 2)),
        ("planning only", asked(Part::Planning, PlanningCalls::PerPhase), (4, 7, 0)),
        ("after a plan", asked(Part::Execution { tasks: 2 }, PlanningCalls::PerPhase), (2, 4, 3)),
        ("a loop", asked(Part::Loop, PlanningCalls::None), (1, 0, 3)),
        ("no model at all", checks_alone, (1, 0, 2)),
    ];
    for (name, question, expected) in table {
        let answer = decide(&question);
        let told = (answer.tasks, answer.model_calls, answer.agent_attempts);
        assert_eq!((told, answer.source), (expected, Source::Model), "{name}");
        assert_eq!(answer.tokens, answer.model_calls * 7200, "{name}");
    }
}

#[test]
fn earlier_runs_answer_with_their_medians() {
    let runs = vec![past(2, 2, 3, 4), past(4, 8, 5, 12), past(100, 900, 90, 990)];
    let whole = Question { past: runs.clone(), ..asked(Part::Whole, PlanningCalls::AtOnce) };
    // 4 tasks; 2 attempts and 3 calls for each of them; 5 calls for the plan.
    let answer = decide(&whole);
    assert_eq!((answer.tasks, answer.agent_attempts, answer.model_calls), (4, 8, 5 + 12));
    assert_eq!((answer.tokens, answer.source), (17_000, Source::EarlierRuns(3)));
    let planned = Question { part: Part::Execution { tasks: 1 }, ..whole };
    let answer = decide(&planned);
    assert_eq!((answer.tasks, answer.agent_attempts, answer.model_calls), (1, 2, 3));
    let one = Question { past: runs[..1].to_vec(), ..asked(Part::Loop, PlanningCalls::None) };
    assert_eq!(decide(&one).agent_attempts, 1);
}

/// Catches a price that nobody knows and that counts as zero.
#[test]
fn an_unknown_price_stays_unknown() {
    let price = Price { input_per_million: 1.0, output_per_million: 10.0, ..Price::default() };
    let known = |planner: bool, judge: bool, per_attempt: Option<f64>| {
        let of = |is_known: bool| is_known.then(|| price.clone());
        let question = asked(Part::Whole, PlanningCalls::AtOnce);
        let answer = decide(&Question { planner: of(planner), judge: of(judge), per_attempt, ..question });
        (answer.models_cost.map(|cost| cost.0), answer.agents_cost.map(|cost| cost.0))
    };
    // A call costs 0.006 + 0.012 dollars; there are 12.
    assert_eq!(known(true, true, Some(0.5)), (Some(216_000), Some(3_000_000)));
    assert_eq!(known(true, false, None), (None, None));
    assert_eq!(known(false, true, None), (None, None));
    let only_planning = Question { planner: Some(price), ..asked(Part::Planning, PlanningCalls::AtOnce) };
    let answer = decide(&only_planning);
    assert_eq!((answer.models_cost, answer.agents_cost), (Some(MicroUsd(90_000)), Some(MicroUsd(0))));
}

#[test]
fn reported_costs_are_used_where_there_is_no_price() {
    let costing = |mut run: PastRun, micro: u64| {
        run.planning.cost = Some(MicroUsd(micro));
        run.execution.cost = Some(MicroUsd(2 * micro));
        run.agents.cost = Some(MicroUsd(10 * micro));
        run
    };
    let runs = vec![costing(past(2, 5, 1, 1), 1000), costing(past(2, 5, 1, 1), 1000)];
    let question = Question { past: runs, ..asked(Part::Whole, PlanningCalls::AtOnce) };
    let answer = decide(&question);
    assert_eq!((answer.models_cost, answer.agents_cost), (Some(MicroUsd(3000)), Some(MicroUsd(10_000))));
    let mut unknown = question;
    unknown.past.push(past(2, 5, 1, 1));
    assert_eq!(decide(&unknown).models_cost, None, "one run does not know");
    assert_eq!(decide(&unknown).agents_cost, Some(MicroUsd(10_000)));
}

proptest! {
    /// Catches a share that divides by the wrong number of tasks.
    #[test]
    fn more_tasks_never_lower_the_estimate(
        tasks in 1u64..50, more in 0u64..50, runs in proptest::collection::vec((0u64..9, 0u64..99, 0u64..99), 0..6)
    ) {
        let past: Vec<PastRun> =
            runs.into_iter().map(|(tasks, attempts, calls)| past(tasks, attempts, calls, calls)).collect();
        let of = |tasks| {
            let question = asked(Part::Execution { tasks }, PlanningCalls::AtOnce);
            decide(&Question { past: past.clone(), per_attempt: Some(0.1), ..question })
        };
        let (less, with_more) = (of(tasks), of(tasks + more));
        prop_assert!(less.model_calls <= with_more.model_calls);
        prop_assert!(less.tokens <= with_more.tokens);
        prop_assert!(less.agent_attempts <= with_more.agent_attempts);
        prop_assert!(less.agents_cost <= with_more.agents_cost);
    }
}
