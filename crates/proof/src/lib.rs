//! Which of the files an agent changed decide whether a check passes, and what the proof tree has in their place.
//!
//! A changed path is product, a test, or a definition: whatever decides what a check does. The proof tree is the attempt's
//! tree with tests and definitions as at the base. Owns that classification and the files that are mixed of both versions.
//! Refuses files, processes and git: the caller hands in two trees. Invariant: what is not known to be product-only text of
//! a manifest is taken from the base, so that nothing an agent writes there can make a check pass.

mod beside;
mod bins;
mod changes;
mod compares;
mod daemons;
mod equality;
mod handlers;
mod in_place;
mod inline;
mod links;
mod manifests;
mod moved;
mod names;
mod observed;
mod own_process;
mod patches;
mod paths;
mod php;
mod polyfills;
mod reach;
mod replaced;
mod rust_modules;
mod shadow;
mod tables;
mod taken_names;
mod tree;
mod unseen;

pub use changes::protected_changes;
pub use tree::{MemoryTree, Tree};

/// A check's command line and where it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCommand {
    pub command: String,
    /// Below the repository's root; empty for the root itself.
    pub directory: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    /// A file became a symbolic link, or the other way round.
    TypeChanged,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: String,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Test,
    /// It decides what a check does.
    Definition,
    /// Code of the product that changes or silences a check.
    Interference,
}

/// How much of a file has the role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// The proof tree has the base's version, or none.
    Whole,
    /// The proof tree has what [`proof_version`] makes of both versions.
    Part,
}

/// A changed file that is not product alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedChange {
    pub path: String,
    pub role: Role,
    pub kind: ChangeKind,
    pub part: Extent,
    /// What was changed, for people: `scripts.test`, `added; pytest loads it`.
    pub what: String,
}

/// What the proof tree has at a path of which only a part is test or definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofVersion {
    AsAtBase,
    AsInResult,
    Mixed(Vec<u8>),
}

/// What the proof tree has at a path that is protected in part: the attempt's product with the base's tests and
/// definitions.
///
/// Without a base version, the attempt's without its tests and definitions. Of a manifest that cannot be read, and of a
/// file that is gone, the base's.
#[must_use]
pub fn proof_version(path: &str, base: Option<&[u8]>, result: Option<&[u8]>) -> ProofVersion {
    let Some(now) = result else { return ProofVersion::AsAtBase };
    if base == result {
        return ProofVersion::AsInResult;
    }
    match mixed(path, base, now) {
        Mix::Product => ProofVersion::AsInResult,
        Mix::Parts { text, .. } if base == Some(text.as_slice()) => ProofVersion::AsAtBase,
        // What was put together must hold no more of the attempt's tests and definitions.
        Mix::Parts { text, .. } if mixed(path, base, &text) == Mix::Product => ProofVersion::Mixed(text),
        Mix::Parts { .. } | Mix::Whole(_) => ProofVersion::AsAtBase,
    }
}

fn mixed(path: &str, base: Option<&[u8]>, now: &[u8]) -> Mix {
    manifests::mixed(path, base, now).unwrap_or_else(|| inline::mixed(path, base, now))
}

/// Two versions of one file, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mix {
    /// Only product differs.
    Product,
    /// Tests or definitions differ: what changed, and the file with the base's.
    Parts { text: Vec<u8>, changed: Vec<String> },
    /// It cannot be taken apart, and why.
    Whole(String),
}
