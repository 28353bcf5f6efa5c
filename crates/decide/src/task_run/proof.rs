//! What shows that a finished task is done.

use alloc::collections::BTreeSet;

use super::TaskRun;
use crate::goals::{Evidence, NamedTests, Proof, proof};

impl TaskRun {
    /// What shows that the result of this task is done.
    pub fn proof(&self) -> Proof {
        let of = |checks: &BTreeSet<u32>| match checks {
            none if none.is_empty() => None,
            some if some.is_disjoint(&self.checks_with_names) => Some(NamedTests::No),
            _ => Some(NamedTests::Yes),
        };
        proof(Evidence { goals: of(&self.goals()), guards: of(&self.options.guards) })
    }
}
