//! Results and slots that are no longer needed are deleted.

use std::time::Duration;

use fixpoint_ports::{SlotPurpose, Workspaces};

use crate::fixture::{AcquireSlot, Fixture};

#[test]
fn results_are_listed_and_deleted() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = workspaces.resolve("HEAD", "run-1/base").unwrap().commit;
    workspaces.resolve("HEAD", "run-2/base").unwrap();
    let stored = workspaces.stored_refs().unwrap();
    let names: Vec<_> = stored.iter().map(|stored| stored.reference.as_str()).collect();
    assert_eq!(names, ["run-1/base", "run-2/base"]);
    assert!(stored.iter().all(|stored| stored.commit == base && stored.age < Duration::from_secs(600)));
    workspaces.delete_refs(&stored[..1]).unwrap();
    assert_eq!(workspaces.stored_refs().unwrap()[0].reference, "run-2/base");
    // One that was moved in the meantime is not deleted.
    fixture.write("x", "x");
    fixture.commit("next");
    workspaces.resolve("HEAD", "run-2/base").unwrap();
    assert!(workspaces.delete_refs(&stored[1..]).is_err());
    assert_eq!(workspaces.stored_refs().unwrap().len(), 1);
}

#[test]
fn unused_slots_are_deleted_but_not_those_in_use() {
    let fixture = Fixture::new();
    let workspaces = fixture.open();
    let base = fixture.base(&workspaces);
    let held = workspaces.slot(SlotPurpose::Agent, &base).unwrap();
    drop(workspaces.slot(SlotPurpose::Check, &base).unwrap());
    assert_eq!(workspaces.prune_slots(Duration::from_secs(3600)).unwrap(), Vec::<String>::new());
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["check-0"]);
    assert!(held.directory().is_dir());
    drop(held);
    assert_eq!(workspaces.prune_slots(Duration::ZERO).unwrap(), ["agent-0"]);
    workspaces.slot(SlotPurpose::Agent, &base).unwrap();
}
