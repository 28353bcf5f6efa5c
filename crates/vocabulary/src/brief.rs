//! What a run was asked to do, frozen when it began: everything an executor needs beside the commands.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ask::Draft;
use crate::settings::{Check, ScopeSettings, Settings};
use crate::work::{Command, TreeId};
use crate::{Redacted, TaskId};

/// Which state all attempts are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseOrder {
    /// The working tree as it is, uncommitted work included.
    WorkingTree,
    /// What a revision names.
    Revision(String),
}

/// How a result is handed over.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// As a branch of its own.
    #[default]
    Branch,
    /// By moving this branch forward.
    Into(String),
    /// As a patch in this file.
    Patch(String),
}

/// A check with the place it runs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedCheck {
    /// The check.
    pub check: Check,
    /// The directory below the root of the repository, empty for the root.
    #[serde(default)]
    pub directory: String,
}

/// One task of a plan, as whoever performs its commands needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskBrief {
    /// Its name.
    pub task: TaskId,
    /// What is to be done, with everything the agent must know.
    pub goal: Redacted,
    /// Which files it may change.
    pub scope: ScopeSettings,
    /// The numbers of the checks that must pass.
    pub goals: BTreeSet<u32>,
}

/// A command with what must be known to perform it.
#[derive(Debug, Clone, PartialEq)]
pub struct Errand {
    /// The task it is for; without one it is for the whole run, or for the only task there is.
    pub task: Option<TaskBrief>,
    /// The checks, by their number: those of the run, then those that the plan added.
    pub checks: Vec<PlacedCheck>,
    /// The command.
    pub command: Command,
    /// The tree of the run's base, once it is known.
    pub tree: Option<TreeId>,
    /// The tools a task may name.
    pub tools: Vec<String>,
    /// The plan that goes on, where it is to be kept.
    pub plan: Option<Draft>,
}

impl Errand {
    /// A command for which nothing else must be known.
    pub const fn new(command: Command) -> Self {
        Self { task: None, checks: Vec::new(), command, tree: None, tools: Vec::new(), plan: None }
    }
}

/// What a run was asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    /// The version of Fixpoint that began it.
    pub version: String,
    /// The root of the user's working tree.
    pub repository: String,
    /// The directory below the root that the agent works in, empty for the root.
    #[serde(default)]
    pub directory: String,
    /// What is to be done, in the user's words.
    pub goal: Redacted,
    /// The agent's command line.
    pub agent: Vec<String>,
    /// The checks, by their number.
    pub checks: Vec<PlacedCheck>,
    /// What all attempts are compared with.
    pub base: BaseOrder,
    /// Every setting in force.
    pub settings: Settings,
    /// How the result is handed over.
    #[serde(default)]
    pub delivery: Delivery,
}
