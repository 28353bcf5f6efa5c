//! A number for the sources the server was built from.
//!
//! The tests of a library do not rebuild the programs of the crates they use, so a server in the target directory may be
//! older than the library that starts it. Both contain this number, and the library compares.

/// A hash of all sources of this crate.
pub const FINGERPRINT: u64 = fingerprint();

const SOURCES: [&str; 22] = [
    include_str!("answer.rs"),
    include_str!("answer/chat.rs"),
    include_str!("answer/errors.rs"),
    include_str!("answer/messages.rs"),
    include_str!("answer/responses.rs"),
    include_str!("fingerprint.rs"),
    include_str!("http.rs"),
    include_str!("lib.rs"),
    include_str!("main.rs"),
    include_str!("matching.rs"),
    include_str!("process.rs"),
    include_str!("process/program.rs"),
    include_str!("question.rs"),
    include_str!("question/chat.rs"),
    include_str!("question/messages.rs"),
    include_str!("question/responses.rs"),
    include_str!("record.rs"),
    include_str!("script.rs"),
    include_str!("script/builders.rs"),
    include_str!("script/read.rs"),
    include_str!("server.rs"),
    include_str!("shell_tool.rs"),
];

/// FNV-1a.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where an index out of bounds is an error"
)]
const fn fingerprint() -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut source = 0;
    while source < SOURCES.len() {
        let bytes = SOURCES[source].as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
            index += 1;
        }
        source += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Catches a new file that is missing from the list.
    #[test]
    fn every_source_is_listed() {
        let mut found = Vec::new();
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        found.sort();
        let mut listed: Vec<String> = SOURCES.iter().map(|source| source.to_string()).collect();
        listed.sort();
        assert!(found == listed, "the list in fingerprint.rs is incomplete");
    }

    fn collect(directory: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else {
                found.push(fs::read_to_string(path).unwrap());
            }
        }
    }
}
