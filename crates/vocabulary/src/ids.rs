//! Texts that name something, each kind a type of its own so that they cannot be mixed up.

use crate::prelude::*;
use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    };
}

text_id! {
    /// A commit, by its full hexadecimal name.
    CommitId
}
text_id! {
    /// A tree, by its full hexadecimal name.
    TreeId
}
text_id! {
    /// A large payload, by the BLAKE3 hash of its content in hexadecimal.
    BlobId
}
text_id! {
    /// A test, as its runner names it. It may be any text.
    TestName
}
text_id! {
    /// What makes a failure the same one after another attempt. Two failures of one test with different messages have
    /// two fingerprints.
    Fingerprint
}
