//! What a finished task rests on.

use serde::{Deserialize, Serialize};

use super::TaskRun;

/// What a result rests on, from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Goals that failed before were seen passing.
    Goals,
    /// There was no goal: something changed, and the guards show nothing new.
    GuardsOnly,
    /// No check named what it ran.
    ExitCodeOnly,
}

impl TaskRun {
    /// What a result of this task rests on.
    pub fn proof(&self) -> Proof {
        if !self.names_tests {
            Proof::ExitCodeOnly
        } else if self.order.goals.is_empty() {
            Proof::GuardsOnly
        } else {
            Proof::Goals
        }
    }
}
