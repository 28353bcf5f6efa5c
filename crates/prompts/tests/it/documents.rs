//! Every document is read as it was written: the documented examples, and random documents.

use fixpoint_prompts::read;
use fixpoint_vocabulary::ask::QuestionKind;
use fixpoint_vocabulary::documents::{
    Action, ActionPlan, Change, CompletionDocument, Complexity, Document, ExecutionDocument,
    GoalUnderstanding, JudgeAnswer, PartialPlan, PlanJudgement, PlanRevision, PlanningDocument,
    PlanningError, PlanningErrorKind, PlanningPhase, Reflection, ReflectionDocument, ReflectionPhase,
    ReflectionStatus, Subtask, TaskDecomposition, TypedChange, WholeJudgement,
};
use fixpoint_vocabulary::{Score, TaskId};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::material::questions;

fn question(name: &str) -> QuestionKind {
    questions().into_iter().find(|about| about.name() == name).unwrap()
}

/// Whether a value contains every field of another.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|other| is_part(value, other)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| is_part(part, whole))
        }
        (part, whole) => part == whole,
    }
}

fn inner(document: &Document) -> Value {
    let tagged = serde_json::to_value(document).unwrap();
    tagged.as_object().unwrap().values().next().unwrap().clone()
}

fn planning_example() -> Value {
    json!({
        "phase": "planning",
        "goal_understanding": {
            "main_objective": "メインの目標を明確に記述",
            "success_criteria": ["成功条件1", "成功条件2"],
            "constraints": ["制約条件1", "制約条件2"],
            "context": "タスクの背景情報"
        },
        "task_decomposition": {
            "reasoning": "タスク分解の理由と考え方（Chain-of-Thought）",
            "subtasks": [{
                "id": "task_1", "description": "サブタスクの説明", "dependencies": [],
                "estimated_complexity": "low", "required_tools": ["tool_1", "tool_2"]
            }]
        },
        "action_plan": {
            "execution_order": ["task_1", "task_2", "task_3"],
            "actions": [{
                "task_id": "task_1", "action_type": "tool_call", "tool": "github_get_file_contents",
                "purpose": "このアクションの目的", "expected_outcome": "期待される結果",
                "fallback_strategy": "失敗時の代替手段"
            }]
        },
        "comment": "プランニング完了。実行を開始します。"
    })
}

fn unclear_example() -> Value {
    json!({
        "phase": "planning",
        "error": {
            "type": "unclear_goal", "message": "タスクの目標が明確ではありません",
            "clarification_needed": ["具体的な実装範囲を教えてください", "期待される動作を明確にしてください"]
        },
        "comment": "タスクの内容について確認が必要です。"
    })
}

fn failed_example() -> Value {
    json!({
        "phase": "planning",
        "error": {
            "type": "decomposition_failed", "message": "タスクの完全な分解ができませんでした",
            "partial_plan": {
                "feasible_subtasks": [{"id": "task_1", "description": "できる部分"}],
                "infeasible_subtasks": ["できない部分"],
                "alternative_approaches": ["別の方法"]
            }
        },
        "comment": "一部のタスクは実現が困難です。代替案を提示します。"
    })
}

fn reflection_example() -> Value {
    json!({
        "phase": "reflection",
        "reflection": {
            "action_evaluated": "github_get_file_contents", "status": "failure", "error": "ファイルが見つかりません",
            "root_cause_analysis": "指定されたパスが正しくない可能性", "plan_revision_needed": true
        },
        "plan_revision": {
            "reason": "ファイルパスの確認が必要",
            "changes": [{
                "type": "add_action",
                "action": {"action_type": "tool_call", "tool": "github_list_files", "purpose": "正しいファイルパスを特定"}
            }]
        },
        "comment": "ファイルパスの確認を行います"
    })
}

#[test]
fn the_examples_of_the_format_round_trip() {
    let (planning, unclear) = (planning_example(), unclear_example());
    let (failed, reflection) = (failed_example(), reflection_example());
    for (name, example) in [
        ("plan", &planning),
        ("goal_understanding", &planning),
        ("task_decomposition", &planning),
        ("action_plan", &planning),
        ("refinement", &planning),
        ("replan", &planning),
        ("plan", &unclear),
        ("goal_understanding", &unclear),
        ("task_decomposition", &failed),
        ("reflection", &reflection),
    ] {
        let document =
            read(&question(name), &example.to_string()).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert!(is_part(example, &inner(&document)), "{name}: {}", inner(&document));
    }
}

/// docs/planning.md contains a plan, a judgement, a reflection and an error, in this order.
#[test]
fn the_documented_examples_round_trip() {
    let text = include_str!("../../../../docs/planning.md");
    let examples: Vec<&str> =
        text.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let names = ["plan", "plan_judgement", "reflection", "goal_understanding"];
    assert_eq!(examples.len(), names.len());
    for (name, example) in names.iter().zip(examples) {
        let document = read(&question(name), example).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let example: Value = serde_json::from_str(example).unwrap();
        assert!(is_part(&example, &inner(&document)), "{name}: {}", inner(&document));
    }
}

/// Variants: a group as a number, an action by its id, objects instead of texts.
#[test]
fn variants_of_the_examples_are_read() {
    let parallel = json!({"action_plan": {"actions": [
        {"task_id": "task_1", "parallel_group": 1, "can_parallelize": true, "tool": "get", "purpose": "p"},
        {"task_id": "task_3", "parallel_group": 2, "dependencies": ["task_1", "task_2"], "tool": "put", "purpose": "p"}
    ]}});
    let Ok(Document::Planning(read_plan)) = read(&QuestionKind::Order, &parallel.to_string()) else {
        panic!("{parallel}")
    };
    let groups: Vec<_> =
        read_plan.action_plan.unwrap().actions.into_iter().map(|action| action.parallel_group).collect();
    assert_eq!(groups, [Some("1".to_string()), Some("2".to_string())]);
    let by_id = json!({"reflection": {
        "action_id": "task_1_action_1", "status": "partial", "evaluation": "結果の評価",
        "alignment_with_plan": "計画との整合性", "issues_identified": ["問題1"], "plan_revision_needed": false
    }});
    let Ok(Document::Reflection(read_back)) = read(&question("reflection"), &by_id.to_string()) else {
        panic!("{by_id}")
    };
    assert_eq!(read_back.reflection.action_evaluated, "task_1_action_1");
    let objects = json!({"error": {"type": "decomposition_failed", "message": "m", "partial_plan": {
        "infeasible_subtasks": [{"id": "x", "description": "cannot"}, "nor this"]
    }}});
    let Ok(Document::Planning(read_error)) = read(&QuestionKind::Decompose, &objects.to_string()) else {
        panic!("{objects}")
    };
    assert_eq!(read_error.error.unwrap().partial_plan.unwrap().infeasible_subtasks, ["cannot", "nor this"]);
}

/// Documents that are written, not asked for.
#[test]
fn execution_and_completion_round_trip() {
    let execution = json!({
        "phase": "execution", "current_task": "task_1",
        "function_call": {"name": "github_get_file_contents", "arguments": {"path": "README.md"}},
        "comment": "ファイル内容を取得しています"
    });
    let read: ExecutionDocument = serde_json::from_value(execution.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), execution);
    let completion = json!({
        "phase": "completion", "status": "requires_human_intervention",
        "summary": {
            "goal_achieved": false, "tasks_completed": 3, "tasks_failed": 2, "key_outcomes": [], "lessons_learned": [],
            "revision_attempts": 3, "reason": "計画修正の上限に達しました", "current_state": "...",
            "recommendations": ["手動でファイルパスを確認してください"]
        },
        "done": false, "comment": "人間の介入が必要です。"
    });
    let read: CompletionDocument = serde_json::from_value(completion.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), completion);
}

fn text() -> impl Strategy<Value = String> {
    "[a-z{}\\[\\]\"`\\\\\n\t日本:, ]{0,12}"
}

fn id() -> impl Strategy<Value = TaskId> {
    "[a-z{\"]{1,6}".prop_map(TaskId::from)
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..3)
}

fn subtask() -> impl Strategy<Value = Subtask> {
    let complexity = prop_oneof![Just(Complexity::Low), Just(Complexity::Medium), Just(Complexity::High)];
    let leaf = ((id(), text(), vec(id(), 0..3), complexity), (texts(), texts(), texts(), texts(), text()))
        .prop_map(|((id, description, dependencies, estimated_complexity), lists)| {
            let (required_tools, acceptance, scope_paths, goals, context) = lists;
            let subtasks = vec![];
            Subtask {
                id,
                description,
                dependencies,
                estimated_complexity,
                required_tools,
                acceptance,
                scope_paths,
                goals,
                context,
                subtasks,
            }
        });
    leaf.prop_recursive(3, 6, 2, |inner| {
        (inner.clone(), vec(inner, 0..3)).prop_map(|(task, subtasks)| Subtask { subtasks, ..task })
    })
}

fn action() -> impl Strategy<Value = Action> {
    ((id(), text(), text(), text(), text()), (text(), of(text()), of(any::<bool>()), texts())).prop_map(
        |((task_id, action_type, tool, purpose, expected_outcome), rest)| {
            let (fallback_strategy, parallel_group, can_parallelize, dependencies) = rest;
            Action {
                task_id,
                action_type,
                tool,
                purpose,
                expected_outcome,
                fallback_strategy,
                parallel_group,
                can_parallelize,
                dependencies,
            }
        },
    )
}

fn action_plan() -> impl Strategy<Value = ActionPlan> {
    (vec(id(), 0..3), vec(action(), 0..3))
        .prop_map(|(execution_order, actions)| ActionPlan { execution_order, actions })
}

fn error() -> impl Strategy<Value = PlanningError> {
    let kind = prop_oneof![
        Just(PlanningErrorKind::UnclearGoal),
        Just(PlanningErrorKind::DecompositionFailed),
        "[a-z]{3,8}".prop_map(PlanningErrorKind::Other),
    ];
    let partial = (vec(subtask(), 0..2), texts(), texts()).prop_map(
        |(feasible_subtasks, infeasible_subtasks, alternative_approaches)| PartialPlan {
            feasible_subtasks,
            infeasible_subtasks,
            alternative_approaches,
        },
    );
    (kind, "[a-z]{1,9}", texts(), of(partial)).prop_map(
        |(kind, message, clarification_needed, partial_plan)| PlanningError {
            kind,
            message,
            clarification_needed,
            partial_plan,
        },
    )
}

fn planning() -> impl Strategy<Value = PlanningDocument> {
    let understanding = ("[a-z]{1,9}", texts(), texts(), text(), texts()).prop_map(
        |(main_objective, success_criteria, constraints, context, assumptions)| GoalUnderstanding {
            main_objective,
            success_criteria,
            constraints,
            context,
            assumptions,
        },
    );
    let decomposition = (text(), vec(subtask(), 1..3))
        .prop_map(|(reasoning, subtasks)| TaskDecomposition { reasoning, subtasks });
    (understanding, decomposition, of(action_plan()), of(error()), text()).prop_map(
        |(understanding, decomposition, action_plan, error, comment)| PlanningDocument {
            phase: PlanningPhase::Planning,
            goal_understanding: Some(understanding),
            task_decomposition: Some(decomposition),
            action_plan,
            error,
            comment,
        },
    )
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        text().prop_map(Change::Text),
        (action(), of(text()))
            .prop_map(|(action, after)| Change::Typed(TypedChange::AddAction { action, after })),
        text().prop_map(|action_id| Change::Typed(TypedChange::RemoveAction { action_id })),
        (text(), action())
            .prop_map(|(action_id, action)| Change::Typed(TypedChange::ReplaceAction { action_id, action })),
        vec(id(), 0..3).prop_map(|execution_order| Change::Typed(TypedChange::Reorder { execution_order })),
    ]
}

fn reflection() -> impl Strategy<Value = ReflectionDocument> {
    let status = prop_oneof![
        Just(ReflectionStatus::Success),
        Just(ReflectionStatus::Failure),
        Just(ReflectionStatus::Partial)
    ];
    let step = ((text(), status, text(), text()), (texts(), any::<bool>(), of(text()), of(text()))).prop_map(
        |((action_evaluated, status, evaluation, alignment_with_plan), rest)| {
            let (issues_identified, plan_revision_needed, error, root_cause_analysis) = rest;
            Reflection {
                action_evaluated,
                status,
                evaluation,
                alignment_with_plan,
                issues_identified,
                plan_revision_needed,
                error,
                root_cause_analysis,
            }
        },
    );
    let revision = (text(), vec(change(), 0..4), action_plan()).prop_map(|(reason, changes, plan)| {
        PlanRevision { reason, changes, updated_action_plan: Some(plan) }
    });
    (step, of(any::<bool>()), revision, text()).prop_map(|(reflection, needed, revision, comment)| {
        ReflectionDocument {
            phase: ReflectionPhase::Reflection,
            reflection,
            plan_revision_needed: needed,
            plan_revision: Some(revision),
            comment,
        }
    })
}

fn score() -> impl Strategy<Value = Option<Score>> {
    of(0.0..=100.0).prop_map(|score| score.map(|score| Score::try_from(score).unwrap()))
}

/// With prose and fences around it, as models write.
fn with_prose(document: &Document) -> String {
    format!("Let me think about {{it}}.\n```json\n{}\n```\nDone.", inner(document))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Catches a field that reading renames, drops or converts, and a text that ends its own object.
    #[test]
    fn plans_round_trip(planning in planning()) {
        let document = Document::Planning(planning);
        for name in ["plan", "goal_understanding", "task_decomposition", "refinement", "replan"] {
            prop_assert_eq!(read(&question(name), &with_prose(&document)), Ok(document.clone()));
        }
    }

    /// Catches the same in reflections, above all in the kinds of changes.
    #[test]
    fn reflections_round_trip(reflection in reflection()) {
        let document = Document::Reflection(reflection);
        prop_assert_eq!(read(&question("reflection"), &with_prose(&document)), Ok(document));
    }

    /// Catches the same in judgements, and a score that changes.
    #[test]
    fn judgements_round_trip(
        (yes, go_on, anew, held) in any::<(bool, bool, bool, bool)>(),
        reason in text(),
        (some, others) in (texts(), texts()),
        tasks in vec(subtask(), 0..2),
        score in score(),
    ) {
        let plan = PlanJudgement { is_acceptable: yes, issues: some.clone(), suggestions: others, overall_score: score };
        let task = JudgeAnswer {
            success: yes, should_continue: go_on, should_replan: anew, already_satisfied: held, reason,
            missing_requirements: some.clone(),
        };
        let whole = WholeJudgement {
            is_complete: yes, missing_aspects: some, additional_tasks: tasks, completion_score: score,
        };
        for (name, document) in [
            ("plan_judgement", Document::PlanJudgement(plan)),
            ("task_judgement", Document::TaskJudgement(task)),
            ("whole_judgement", Document::WholeJudgement(whole)),
        ] {
            prop_assert_eq!(read(&question(name), &with_prose(&document)), Ok(document));
        }
    }
}
