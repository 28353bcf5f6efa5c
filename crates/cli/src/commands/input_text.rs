//! A goal or a prompt as it was given: as an argument, in a file, or on standard input.
//!
//! Invariant: the whole text or an error; nothing is cut off silently.

use std::io::Read;
use std::path::Path;

use crate::failure::Failure;

const MAX_MIB: u64 = 4;
const MAX_BYTES: u64 = MAX_MIB << 20;

/// What is being read, for error messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum InputText {
    Goal,
    Prompt,
}

impl InputText {
    /// The text of an argument or of a file (`-` for standard input); empty if neither was given.
    pub(super) fn read(self, argument: Option<&str>, file: Option<&Path>) -> Result<String, Failure> {
        let bytes = match (argument, file) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(path)) if path.as_os_str() == "-" => {
                bounded(std::io::stdin()).map_err(Failure::NoInput)?
            }
            (None, Some(path)) => std::fs::File::open(path)
                .and_then(bounded)
                .map_err(|source| Failure::Unreadable { path: path.to_path_buf(), source })?,
            (None, None) => Vec::new(),
        };
        self.checked(bytes)
    }

    fn checked(self, bytes: Vec<u8>) -> Result<String, Failure> {
        let name = match self {
            Self::Goal => "goal",
            Self::Prompt => "prompt",
        };
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Failure::BadInput(format!(
                "the {name} is larger than {MAX_MIB} MiB; shorten it, and leave logs and listings in files of the \
                 repository"
            )));
        }
        String::from_utf8(bytes).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            Failure::BadInput(format!("the {name} is not valid UTF-8 at byte {place}"))
        })
    }
}

/// At most one byte more than is allowed, so that more is noticed.
fn bounded(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_or_no_text_is_rejected() {
        let largest = usize::try_from(MAX_BYTES).expect("it fits");
        let table = [
            ("nothing", Vec::new(), Ok(0)),
            ("as large as allowed", vec![b'a'; largest], Ok(largest)),
            ("too large", vec![b'a'; largest + 1], Err("larger than 4 MiB")),
            ("not UTF-8", vec![b'a', 0xff], Err("not valid UTF-8 at byte 1")),
        ];
        for (name, bytes, expected) in table {
            match (InputText::Prompt.checked(bytes), expected) {
                (Ok(text), Ok(length)) => assert_eq!(text.len(), length, "{name}"),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{name}: {error}"),
                (read, expected) => panic!("{name}: {read:?}, expected {expected:?}"),
            }
        }
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("prompt.md");
        std::fs::write(&path, "x".repeat(usize::try_from(MAX_BYTES).expect("it fits") + 1)).expect("written");
        let error = InputText::Prompt.read(None, Some(&path)).expect_err("too large");
        assert_eq!(error.exit_code(), 2);
        std::fs::write(&path, "直してください").expect("written");
        assert_eq!(InputText::Prompt.read(None, Some(&path)).expect("read"), "直してください");
    }
}
