//! Steps changed as asked; what is done stays done.

use super::*;
fn action(task: &str, purpose: &str) -> Action {
    Action {
        task_id: task.into(),
        action_type: String::new(),
        tool: String::new(),
        purpose: purpose.to_string(),
        expected_outcome: String::new(),
        fallback_strategy: String::new(),
        parallel_group: None,
        can_parallelize: None,
        dependencies: vec![],
    }
}

fn plan() -> ActionPlan {
    ActionPlan {
        execution_order: vec!["a".into(), "b".into()],
        actions: vec![action("a", "a1"), action("b", "b1"), action("b", "b2")],
    }
}

fn purposes(plan: &ActionPlan) -> Vec<&str> {
    plan.actions.iter().map(|action| action.purpose.as_str()).collect()
}

fn revise(changes: Vec<Change>, updated: Option<ActionPlan>) -> Result<ActionPlan, String> {
    let revision = PlanRevision { reason: String::new(), changes, updated_action_plan: updated };
    let is_done = |id: &TaskId| id.as_str() == "a";
    revised(&plan(), &revision, &["a".into(), "b".into()], &is_done)
}

#[test]
fn each_change_is_applied_as_it_stands() {
    let add = |after: Option<&str>, task: &str| {
        Change::Typed(TypedChange::AddAction {
            action: action(task, "new"),
            after: after.map(ToString::to_string),
        })
    };
    let remove = |id: &str| Change::Typed(TypedChange::RemoveAction { action_id: id.to_string() });
    let replace = |id: &str| {
        Change::Typed(TypedChange::ReplaceAction { action_id: id.to_string(), action: action("", "other") })
    };
    let table = [
        (vec![add(None, "b")], vec!["a1", "new", "b1", "b2"]),
        (vec![add(Some("b_action_1"), "")], vec!["a1", "b1", "new", "b2"]),
        (vec![remove("b_action_2")], vec!["a1", "b1"]),
        (vec![remove("a_action_1")], vec!["a1", "b1", "b2"]),
        (vec![replace("b_action_1")], vec!["a1", "other", "b2"]),
        (vec![replace("a_action_1")], vec!["a1", "b1", "b2"]),
    ];
    for (changes, expected) in table {
        let revised = revise(changes.clone(), None).unwrap();
        assert_eq!(purposes(&revised), expected, "{changes:?}");
        assert!(revised.actions.iter().all(|action| !action.task_id.as_str().is_empty()));
    }
    let reorder = TypedChange::Reorder { execution_order: vec!["b".into(), "a".into()] };
    let reordered = revise(vec![Change::Typed(reorder)], None).unwrap();
    assert_eq!(reordered.execution_order, vec![TaskId::from("b"), "a".into()]);
}

#[test]
fn a_whole_new_plan_keeps_what_is_done() {
    let updated =
        ActionPlan { execution_order: vec![], actions: vec![action("a", "again"), action("b", "b9")] };
    let revised = revise(vec![Change::Text("see the plan".to_string())], Some(updated)).unwrap();
    assert_eq!(purposes(&revised), ["a1", "b9"]);
    assert_eq!(revised.execution_order, plan().execution_order);
}

#[test]
fn what_cannot_be_applied_is_named() {
    assert!(
        revise(vec![Change::Text("do better".to_string())], None)
            .unwrap_err()
            .contains("updated_action_plan")
    );
    let missing = Change::Typed(TypedChange::RemoveAction { action_id: "b_action_7".to_string() });
    assert!(revise(vec![missing], None).unwrap_err().contains("`b_action_7`"));
    let unknown = ActionPlan { execution_order: vec!["zz".into()], actions: vec![] };
    assert!(revise(vec![], Some(unknown)).unwrap_err().contains("`zz`"));
}
