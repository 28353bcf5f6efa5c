//! What the launcher is told: how a program is confined, as data.
//!
//! The specification is a file that the program does not see. It holds no secrets: only paths.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How a program is kept from what it may not reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mechanism {
    /// User, mount and process namespaces: what is hidden does not exist.
    Namespaces,
    /// Landlock alone: what is hidden cannot be opened. Processes, and files of the user's own processes, stay visible.
    Landlock,
}

/// One place in the file system of a confined program. Later ones may lie inside of earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mount {
    ReadOnly {
        #[serde(with = "path_text")]
        at: PathBuf,
        #[serde(with = "path_text")]
        from: PathBuf,
    },
    ReadWrite {
        #[serde(with = "path_text")]
        at: PathBuf,
        #[serde(with = "path_text")]
        from: PathBuf,
    },
    /// The content of `lower`, the first on top. What is written goes to `upper`.
    Layered {
        #[serde(with = "path_text")]
        at: PathBuf,
        lower: Vec<Lower>,
        #[serde(with = "path_text")]
        upper: PathBuf,
        #[serde(with = "path_text")]
        work: PathBuf,
    },
    /// An empty file or directory that cannot be written, in place of what is there.
    Hidden {
        #[serde(with = "path_text")]
        at: PathBuf,
    },
    Link {
        #[serde(with = "path_text")]
        at: PathBuf,
        #[serde(with = "path_text")]
        to: PathBuf,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lower(#[serde(with = "path_text")] pub(crate) PathBuf);

#[cfg(test)]
impl Mount {
    pub(crate) fn at(&self) -> &PathBuf {
        match self {
            Mount::ReadOnly { at, .. }
            | Mount::ReadWrite { at, .. }
            | Mount::Layered { at, .. }
            | Mount::Hidden { at }
            | Mount::Link { at, .. } => at,
        }
    }
}

/// The network that a confined program has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Network {
    /// That of the machine.
    Shared,
    None,
    /// A loopback interface of its own.
    Loopback,
    /// A loopback interface of its own, with a proxy on this port that is connected to a socket outside.
    Proxy {
        port: u16,
        #[serde(with = "path_text")]
        socket: PathBuf,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LaunchSpec {
    pub(crate) mechanism: Mechanism,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) network: Network,
    /// An empty directory: the new root is mounted on it.
    #[serde(with = "path_text")]
    pub(crate) root: PathBuf,
    /// Where the launcher writes why it could not start the program.
    #[serde(with = "path_text")]
    pub(crate) report: PathBuf,
    #[serde(with = "path_text")]
    pub(crate) directory: PathBuf,
}

/// Paths as text where they are text, else as bytes.
mod path_text {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Encoded {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let encoded = match path.to_str() {
            Some(text) => Encoded::Text(text.to_string()),
            None => Encoded::Bytes(path.as_os_str().as_bytes().to_vec()),
        };
        encoded.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Encoded::deserialize(deserializer)? {
            Encoded::Text(text) => PathBuf::from(text),
            Encoded::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_specification_is_read_as_it_was_written() {
        let odd = PathBuf::from(OsString::from_vec(vec![b'/', 0xff]));
        let spec = LaunchSpec {
            mechanism: Mechanism::Namespaces,
            mounts: vec![
                Mount::ReadOnly { at: "/usr".into(), from: "/usr".into() },
                Mount::Layered {
                    at: odd.clone(),
                    lower: vec![Lower(odd.clone())],
                    upper: "/u".into(),
                    work: "/w".into(),
                },
                Mount::Link { at: "/bin".into(), to: "usr/bin".into() },
            ],
            network: Network::Proxy { port: 1, socket: odd.clone() },
            root: "/r".into(),
            report: "/p".into(),
            directory: odd,
        };
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<LaunchSpec>(&text).unwrap(), spec);
    }
}
