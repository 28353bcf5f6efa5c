//! Holds this workspace to the house rules. A failure names the place and what to do.

use fixpoint_tidy::{Workspace, impurities, source_violations, undocumented_dependencies, unnamed_edges};

#[track_caller]
fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

fn workspace() -> Workspace {
    let workspace = Workspace::read().expect("the workspace can be read");
    assert!(workspace.crates.len() > 4 && workspace.sources.len() > 40, "the rules look at nothing");
    workspace
}

#[test]
fn dependencies_point_the_way_the_architecture_says() {
    assert_none(&unnamed_edges(&workspace()));
}

#[test]
fn every_outside_crate_has_its_reason() {
    assert_none(&undocumented_dependencies(&workspace()));
}

#[test]
fn files_and_functions_are_short_introduced_and_named() {
    assert_none(&source_violations(&workspace()));
}

#[test]
fn decisions_cannot_reach_the_world() {
    assert_none(&impurities(&workspace()));
}
