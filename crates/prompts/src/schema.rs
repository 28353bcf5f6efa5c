//! The JSON Schema of each answer.
//!
//! Owns which fields each question asks for: the schemas of the vocabulary's types, reduced to these fields, without
//! references, descriptions and defaults, which would cost tokens in every prompt and are in the instructions anyway.
//! Optional fields may be missing from an answer. Refuses to validate answers: the types do that when they are read.
//!
//! Invariant: every document that is asked for matches the schema of its type.

use fixpoint_vocabulary::ask::QuestionKind;
use fixpoint_vocabulary::documents::{
    JudgeAnswer, PlanJudgement, PlanningDocument, ReflectionDocument, WholeJudgement,
};
use fixpoint_vocabulary::settings::Strategy;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Keywords that cost tokens and say nothing a model needs.
const DROPPED: [&str; 8] =
    ["$schema", "$defs", "title", "description", "default", "format", "minLength", "additionalProperties"];

/// The schema of the answers to a question, for the default strategy.
pub fn schema_of(about: &QuestionKind) -> Value {
    schema_for(about, Strategy::default())
}

/// The schema of the answers to a question. Tasks hold tasks only where the strategy has levels.
pub fn schema_for(about: &QuestionKind, strategy: Strategy) -> Value {
    let levels = match strategy {
        Strategy::Hierarchical => 2,
        Strategy::ChainOfThought | Strategy::Simple => 1,
    };
    let planning = |wanted: &[&str]| {
        let mut schema = reduced::<PlanningDocument>(levels);
        keep(&mut schema, &[], wanted);
        // A partial plan is only asked for where the goal is split into tasks.
        if wanted.contains(&"task_decomposition") {
            keep(
                &mut schema,
                &["error", "partial_plan", "feasible_subtasks"],
                &["id", "description", "acceptance"],
            );
        } else {
            keep(&mut schema, &["error"], &["type", "message", "clarification_needed"]);
        }
        keep(&mut schema, &["action_plan", "actions"], &ACTION);
        require_task_fields(&mut schema, strategy);
        schema
    };
    match about {
        QuestionKind::Plan => planning(&[
            "phase",
            "goal_understanding",
            "task_decomposition",
            "action_plan",
            "error",
            "comment",
        ]),
        QuestionKind::Understand => planning(&["phase", "goal_understanding", "error"]),
        QuestionKind::Decompose | QuestionKind::ReplanTask { .. } => {
            planning(&["phase", "task_decomposition", "error"])
        }
        QuestionKind::Order => planning(&["phase", "action_plan", "error"]),
        QuestionKind::Refine { .. } => {
            planning(&["phase", "task_decomposition", "action_plan", "error", "comment"])
        }
        QuestionKind::JudgePlan { .. } => reduced::<PlanJudgement>(1),
        QuestionKind::JudgeTask { .. } => reduced::<JudgeAnswer>(1),
        QuestionKind::JudgeWhole { .. } => reduced::<WholeJudgement>(1),
        QuestionKind::Reflect { .. } => reflection(),
    }
}

/// The required fields of a task.
const TASK: [&str; 5] = ["id", "description", "dependencies", "acceptance", "scope_paths"];

/// The fields of an action that are asked for.
const ACTION: [&str; 8] = [
    "task_id",
    "action_type",
    "tool",
    "purpose",
    "expected_outcome",
    "fallback_strategy",
    "parallel_group",
    "dependencies",
];

fn reflection() -> Value {
    let mut schema = reduced::<ReflectionDocument>(1);
    keep(&mut schema, &[], &["reflection", "plan_revision"]);
    let about_action =
        ["action_evaluated", "status", "evaluation", "alignment_with_plan", "issues_identified"];
    let about_plan = ["plan_revision_needed", "root_cause_analysis"];
    keep(&mut schema, &["reflection"], &[about_action.as_slice(), about_plan.as_slice()].concat());
    // A complete plan is accepted too, but typed changes are asked for: they are shorter.
    keep(&mut schema, &["plan_revision"], &["reason", "changes"]);
    keep(&mut schema, &["plan_revision", "changes", "action"], &["tool", "purpose"]);
    schema
}

/// Requires fields that are optional in the type.
fn require_task_fields(schema: &mut Value, strategy: Strategy) {
    let Some(tasks) = at(schema, &["task_decomposition"]) else { return };
    match strategy {
        Strategy::Simple => keep(tasks, &[], &["subtasks"]),
        // Nested tasks may have the other fields too, but the schema would cost as much again.
        Strategy::Hierarchical => keep(tasks, &["subtasks", "subtasks"], &TASK),
        Strategy::ChainOfThought => {}
    }
    if let Some(Value::Object(task)) = at(tasks, &["subtasks"]) {
        task.insert("required".into(), json!(TASK));
    }
}

/// The schema at a path of properties; for an array, the schema of its items.
fn at<'s>(schema: &'s mut Value, path: &[&str]) -> Option<&'s mut Value> {
    let here = if schema.get("items").is_some() { schema.get_mut("items")? } else { schema };
    match path.split_first() {
        Some((name, rest)) => at(here.get_mut("properties")?.get_mut(*name)?, rest),
        None => Some(here),
    }
}

/// Removes all other properties.
fn keep(schema: &mut Value, path: &[&str], wanted: &[&str]) {
    let Some(schema) = at(schema, path) else { return };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| wanted.contains(&name.as_str()));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| wanted.contains(&name)));
    }
}

/// The complete schema of a type, with its references.
pub(crate) fn complete<T: JsonSchema>() -> Value {
    SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}

fn reduced<T: JsonSchema>(levels: usize) -> Value {
    let complete = complete::<T>();
    let defs = complete.get("$defs").cloned().unwrap_or_default();
    Reducer { defs: &defs, levels }.reduce(&complete, &mut Vec::new())
}

struct Reducer<'d> {
    defs: &'d Value,
    /// How often a type may contain itself.
    levels: usize,
}

impl<'d> Reducer<'d> {
    fn reduce(&self, schema: &'d Value, within: &mut Vec<&'d str>) -> Value {
        let Value::Object(schema) = schema else { return schema.clone() };
        if let Some(name) = reference(schema) {
            within.push(name);
            let inlined = self.defs.get(name).map(|schema| self.reduce(schema, within)).unwrap_or_default();
            within.pop();
            return inlined;
        }
        if let Some(variants) = variants(schema) {
            let variants: Vec<Value> = variants.iter().map(|variant| self.reduce(variant, within)).collect();
            return merged(&variants);
        }
        let mut reduced = Map::new();
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                (keyword, _) if DROPPED.contains(&keyword) => {}
                ("const", value) => {
                    reduced.insert("enum".into(), json!([value]));
                }
                ("type", Value::Array(types)) => {
                    reduced.extend(types.first().map(|first| (keyword.clone(), first.clone())));
                }
                ("properties", Value::Object(properties)) => {
                    reduced.insert(keyword.clone(), self.properties(properties, within));
                }
                ("items", items) => {
                    reduced.insert(keyword.clone(), self.reduce(items, within));
                }
                (_, value) => {
                    reduced.insert(keyword.clone(), value.clone());
                }
            }
        }
        Value::Object(reduced)
    }

    /// Properties, without those in which a type would contain itself too deeply.
    fn properties(&self, properties: &'d Map<String, Value>, within: &mut Vec<&'d str>) -> Value {
        let too_deep = |schema: &Value| {
            let items = schema.get("items").unwrap_or(schema);
            let name = items.as_object().and_then(reference);
            name.is_some_and(|name| within.iter().filter(|outer| **outer == name).count() >= self.levels)
        };
        let kept: Vec<(&String, &Value)> =
            properties.iter().filter(|(_, schema)| !too_deep(schema)).collect();
        Value::Object(
            kept.into_iter().map(|(name, schema)| (name.clone(), self.reduce(schema, within))).collect(),
        )
    }
}

/// The name of the type a schema refers to.
pub(crate) fn reference(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// The alternatives of a schema.
pub(crate) fn variants(schema: &Map<String, Value>) -> Option<&Vec<Value>> {
    schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()
}

/// One schema for several alternatives: all their allowed values, or all their properties, of which those are required
/// that every alternative requires. Of a text and an object, the object is taken; `null` is dropped.
fn merged(variants: &[Value]) -> Value {
    let is_null = |variant: &Value| variant.get("type").is_some_and(|kind| kind == "null");
    let objects: Vec<&Value> =
        variants.iter().filter(|variant| variant.get("properties").is_some()).collect();
    let is_text = |variant: &&Value| {
        variant.get("type").is_some_and(|kind| kind == "string") && variant.get("enum").is_none()
    };
    let texts = variants.iter().filter(is_text);
    let mut others = variants.iter().filter(|variant| !is_null(variant));
    match (objects.split_first(), texts.count()) {
        (Some((first, [])), _) => (*first).clone(),
        (Some(_), _) => merged_objects(&objects),
        (None, 1..) => json!({"type": "string"}),
        (None, 0) => {
            let values = |variant: &Value| variant.get("enum")?.as_array().cloned();
            let allowed: Vec<Value> = variants.iter().filter_map(values).flatten().collect();
            if allowed.is_empty() {
                others.next().cloned().unwrap_or_default()
            } else {
                json!({"type": "string", "enum": allowed})
            }
        }
    }
}

fn merged_objects(objects: &[&Value]) -> Value {
    let mut properties = Map::new();
    let mut required: Option<Vec<Value>> = None;
    for object in objects {
        for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let both = match properties.get(name) {
                Some(other) if other != schema => merged(&[Value::clone(other), schema.clone()]),
                Some(_) | None => schema.clone(),
            };
            properties.insert(name.clone(), both);
        }
        let own = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        required = Some(match required {
            Some(all) => all.into_iter().filter(|name| own.contains(name)).collect(),
            None => own,
        });
    }
    json!({"type": "object", "properties": properties, "required": required.unwrap_or_default()})
}
