//! What models say in these tests: plans, judgements, looks back; and rules that say so.

use fixpoint_testkit::{Reply, Rule, Script};
use serde_json::{Value, json};

/// A task of a plan. What the agent is to do stands in its description.
#[derive(Debug, Clone)]
pub(super) struct Task(Value);

/// A task that is done by a command line.
pub(super) fn task(id: &str, does: &str) -> Task {
    Task(json!({
        "id": id, "description": format!("Task {id}. DO<<{does}>>"), "dependencies": [],
        "estimated_complexity": "low", "required_tools": ["edit"], "acceptance": [format!("{id} is done")],
        "scope_paths": [], "goals": [], "context": "",
    }))
}

/// A task that writes `two` into a file of its own.
pub(super) fn writes(id: &str) -> Task {
    task(id, &format!("echo two > src/{id}")).within(&[&format!("src/{id}")]).until(&holds(id, "two"))
}

/// The check that a file holds a word.
pub(super) fn holds(id: &str, word: &str) -> String {
    format!("grep -qx {word} src/{id}")
}

impl Task {
    pub(super) fn after(mut self, others: &[&str]) -> Self {
        self.0["dependencies"] = json!(others);
        self
    }

    pub(super) fn within(mut self, scope: &[&str]) -> Self {
        self.0["scope_paths"] = json!(scope);
        self
    }

    pub(super) fn until(mut self, goal: &str) -> Self {
        self.0["goals"] = json!([goal]);
        self
    }

    pub(super) fn with_tool(mut self, tool: &str) -> Self {
        self.0["required_tools"] = json!([tool]);
        self
    }

    pub(super) fn json(&self) -> Value {
        self.0.clone()
    }
}

fn all(tasks: &[Task]) -> Vec<Value> {
    tasks.iter().map(Task::json).collect()
}

/// A plan of these tasks, in this order.
pub(super) fn plan(tasks: &[Task]) -> Value {
    let names: Vec<&Value> = tasks.iter().map(|task| &task.0["id"]).collect();
    let actions: Vec<Value> = names
        .iter()
        .map(|name| {
            json!({"task_id": name, "action_type": "edit", "tool": "edit", "purpose": format!("write {name}"),
                "expected_outcome": "it is written", "fallback_strategy": "none"})
        })
        .collect();
    json!({
        "phase": "planning",
        "goal_understanding": {"main_objective": "the files say two", "success_criteria": ["they do"],
            "constraints": [], "context": ""},
        "task_decomposition": {"reasoning": "one task for each file", "subtasks": all(tasks)},
        "action_plan": {"execution_order": names, "actions": actions},
        "comment": "",
    })
}

/// Tasks in the place of another.
pub(super) fn replan(tasks: &[Task]) -> Value {
    json!({"phase": "planning", "task_decomposition": {"reasoning": "smaller", "subtasks": all(tasks)}, "comment": ""})
}

/// The goal is unclear.
pub(super) fn unclear() -> Value {
    json!({"phase": "planning", "error": {"type": "unclear_goal", "message": "which files?",
        "clarification_needed": ["Which files?"]}, "comment": ""})
}

/// The goal cannot be cut; of these tasks it can.
pub(super) fn undecomposed(feasible: &[Task]) -> Value {
    json!({"phase": "planning", "error": {"type": "decomposition_failed", "message": "too much",
        "partial_plan": {"feasible_subtasks": all(feasible), "infeasible_subtasks": ["the moon"],
            "alternative_approaches": ["a picture of it"]}}, "comment": ""})
}

/// The judge of a plan.
pub(super) fn scored(is_acceptable: bool, score: u32) -> Value {
    json!({"is_acceptable": is_acceptable, "issues": [], "suggestions": [], "overall_score": score})
}

/// The judge of a task agrees.
pub(super) fn agreed() -> Value {
    json!({"success": true, "should_continue": false, "should_replan": false, "reason": "it is there",
        "missing_requirements": []})
}

/// The judge of a task wants it planned anew.
pub(super) fn wants_replan() -> Value {
    json!({"success": false, "should_continue": false, "should_replan": true, "reason": "too large for one attempt",
        "missing_requirements": ["A1"]})
}

/// The judge of the whole agrees.
pub(super) fn complete() -> Value {
    json!({"is_complete": true, "missing_aspects": [], "additional_tasks": [], "completion_score": 95})
}

/// All went well.
pub(super) fn nothing_to_change() -> Value {
    json!({"phase": "reflection", "reflection": {"action_evaluated": "task", "status": "success",
        "evaluation": "well", "alignment_with_plan": "good", "issues_identified": [],
        "plan_revision_needed": false}, "comment": ""})
}

/// Words that only questions of a form have. Not every protocol tells the name of the form.
pub(super) fn words_of(form: &str) -> &'static str {
    match form {
        "plan" => "Plan this goal in one answer",
        "goal_understanding" => "Describe the goal, as `goal_understanding`",
        "task_decomposition" => "Split the goal into tasks, as `task_decomposition`",
        "action_plan" => "Order the tasks, as `action_plan`",
        "plan_judgement" => "Is this plan good enough to execute?",
        "refinement" => "Improve the plan: answer with the complete",
        "task_judgement" => "If not successful, set either `should_continue`",
        "replan" => "This task cannot succeed as designed.",
        "whole_judgement" => "All tasks have ended and their results are merged.",
        "reflection" => "Review how the task went, and whether",
        other => panic!("no question is called {other}"),
    }
}

/// A rule for questions of a form.
pub(super) fn on(form: &str) -> Rule {
    Rule::new(form).contains(words_of(form))
}

/// The same under a name of its own, beside others for the same questions.
pub(super) fn named(name: impl Into<String>, form: &str) -> Rule {
    Rule { name: name.into(), ..on(form) }
}

/// A rule that always says the same to questions of a form.
pub(super) fn says(form: &str, document: Value) -> Rule {
    on(form).reply(Reply::json(document))
}

/// A rule of several replies to questions of a form.
pub(super) fn says_in_turn(form: &str, replies: impl IntoIterator<Item = Reply>) -> Rule {
    replies.into_iter().fold(on(form), Rule::reply)
}

/// A script that plans like this, and agrees to everything that no earlier rule was made for.
pub(super) fn agreeing(tasks: &[Task]) -> Script {
    with_yeses(Script::new().rule(says("plan", plan(tasks))))
}

/// A script that agrees to everything that its rules are not made for.
pub(super) fn with_yeses(script: Script) -> Script {
    let yeses = [
        ("plan_judgement", scored(true, 84)),
        ("task_judgement", agreed()),
        ("whole_judgement", complete()),
        ("reflection", nothing_to_change()),
    ];
    yeses.into_iter().fold(script, |script, (form, document)| {
        script.rule(named(format!("usual {form}"), form).reply(Reply::json(document)))
    })
}
