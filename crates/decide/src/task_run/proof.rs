//! What a finished task rests on.

use alloc::collections::BTreeSet;

use super::TaskRun;
use crate::goals::{Evidence, NamedTests, Proof, proof};

impl TaskRun {
    /// What a result of this task rests on.
    pub fn proof(&self) -> Proof {
        let of = |checks: &BTreeSet<u32>| match checks {
            none if none.is_empty() => None,
            some if some.is_disjoint(&self.naming) => Some(NamedTests::No),
            _ => Some(NamedTests::Yes),
        };
        proof(Evidence { goals: of(&self.goals()), guards: of(&self.order.guards) })
    }
}
