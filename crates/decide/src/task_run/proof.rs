//! What shows that a finished task is done.

use super::TaskRun;
use crate::goals::{NamedTests, Proof, proof};
use crate::prelude::*;
impl TaskRun {
    /// What shows that the result of this task is done.
    pub fn proof(&self) -> Proof {
        let of = |checks: &BTreeSet<u32>| match checks {
            none if none.is_empty() => None,
            some if some.is_disjoint(&self.checks_with_names) => Some(NamedTests::No),
            _ => Some(NamedTests::Yes),
        };
        proof(of(&self.goals()), of(&self.options.guards))
    }
}
