//! Tasks for the tests of everything that works on the graph.

use fixpoint_vocabulary::{TaskId, TaskState};
use serde_json::Map;

use super::GraphTask;
use crate::prelude::*;

pub(crate) fn ids(names: &[&str]) -> Vec<TaskId> {
    names.iter().map(|name| (*name).into()).collect()
}

pub(crate) fn task(id: &str, dependencies: &[&str], state: TaskState) -> GraphTask {
    GraphTask {
        id: id.into(),
        dependencies: ids(dependencies),
        state,
        scope_paths: None,
        replaced_by: None,
        replanning_info: None,
        other: Map::new(),
    }
}
