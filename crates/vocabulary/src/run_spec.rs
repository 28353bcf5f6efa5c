//! What a run was asked to do, frozen when it began: everything an executor needs beside the commands.

use serde::{Deserialize, Serialize};

use crate::Redacted;
use crate::prelude::*;
use crate::settings::{Check, Settings};

/// Which state all attempts are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseSource {
    /// The working tree as it is, uncommitted work included.
    WorkingTree,
    Revision(String),
}

/// How a result is delivered.
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
    /// Not at all: only the verdict is wanted.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedCheck {
    pub check: Check,
    /// The directory below the root of the repository, empty for the root.
    #[serde(default)]
    pub directory: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The version of Fixpoint that began it.
    pub version: String,
    /// The root of the user's working tree.
    pub repository: String,
    /// The directory below the root that the agent works in, empty for the root.
    #[serde(default)]
    pub directory: String,
    /// What is to be done, in the user's words.
    pub goal: Redacted,
    pub agent: Vec<String>,
    pub checks: Vec<PlacedCheck>,
    pub base: BaseSource,
    pub settings: Settings,
    #[serde(default)]
    pub delivery: Delivery,
}
