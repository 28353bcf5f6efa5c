//! The contents of files in commits, kept for a while because several parts of an attempt read the same files.
//!
//! Owns reading many objects with one process in bounded memory: what is larger than asked for is skipped while it is
//! read. Invariant: what is kept is named by an object, which never changes.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use fixpoint_ports::WorkspaceError;

use crate::workspaces::Inner;

/// A larger content is not kept.
const LARGEST_KEPT: usize = 64 << 10;
/// All contents that are kept together.
const KEPT_BYTES: usize = 4 << 20;

/// What was read of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Whole(Arc<Vec<u8>>),
    /// Larger than asked for, with its size.
    TooLarge(u64),
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The newest first.
    kept: Mutex<VecDeque<(String, Arc<Vec<u8>>)>>,
}

impl Contents {
    fn find(&self, object: &str, limit: u64) -> Option<Content> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, content) = kept.iter().find(|(name, _)| name == object)?;
        let size = content.len() as u64;
        Some(if size > limit { Content::TooLarge(size) } else { Content::Whole(Arc::clone(content)) })
    }

    fn keep(&self, object: &str, content: &Arc<Vec<u8>>) {
        if content.len() > LARGEST_KEPT {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front((object.to_string(), Arc::clone(content)));
        let mut bytes = 0;
        let room = kept.iter().take_while(|(name, content)| {
            bytes += name.len() + content.len();
            bytes <= KEPT_BYTES
        });
        let fitting = room.count();
        kept.truncate(fitting);
    }
}

impl Inner {
    /// The contents of objects, in the order of their names.
    pub(crate) fn contents(&self, objects: &[&str], limit: u64) -> Result<Vec<Content>, WorkspaceError> {
        let mut found: Vec<Option<Content>> =
            objects.iter().map(|object| self.contents.find(object, limit)).collect();
        let missing: Vec<&str> = objects
            .iter()
            .zip(&found)
            .filter(|(_, content)| content.is_none())
            .map(|(name, _)| *name)
            .collect();
        if !missing.is_empty() {
            let names: String = missing.iter().map(|object| format!("{object}\n")).collect();
            let git = self.object_git("cat-file").arg("--batch").input(names.into_bytes());
            let read = git.run_through(move |pipe| read_contents(BufReader::new(pipe), limit))?;
            let mut read = read.map_err(|error| unreadable(&error))?.into_iter();
            for (object, content) in objects.iter().zip(&mut found).filter(|(_, content)| content.is_none()) {
                let Some(new) = read.next() else {
                    return Err(unreadable(&io::ErrorKind::UnexpectedEof.into()));
                };
                if let Content::Whole(bytes) = &new {
                    self.contents.keep(object, bytes);
                }
                *content = Some(new);
            }
        }
        Ok(found.into_iter().flatten().collect())
    }
}

pub(crate) fn unreadable(error: &io::Error) -> WorkspaceError {
    WorkspaceError::Git {
        command: "cat-file".to_string(),
        message: format!("its output cannot be read: {error}"),
    }
}

/// What `cat-file --batch` prints: a line that ends with the size, the content, a newline.
pub(crate) fn read_contents(mut pipe: impl BufRead, limit: u64) -> io::Result<Vec<Content>> {
    let mut contents = Vec::new();
    loop {
        let mut header = Vec::new();
        if pipe.read_until(b'\n', &mut header)? == 0 {
            return Ok(contents);
        }
        let invalid =
            || io::Error::new(io::ErrorKind::InvalidData, String::from_utf8_lossy(&header).into_owned());
        let header = header.strip_suffix(b"\n").ok_or_else(invalid)?;
        let size = header.rsplit(|byte| *byte == b' ').next().and_then(|size| str::from_utf8(size).ok());
        let size: u64 = size.and_then(|size| size.parse().ok()).ok_or_else(invalid)?;
        let mut content = pipe.by_ref().take(size);
        let mut bytes = Vec::new();
        let read = match size > limit {
            true => io::copy(&mut content, &mut io::sink())?,
            false => content.read_to_end(&mut bytes)? as u64,
        };
        let mut end = [0];
        pipe.read_exact(&mut end)?;
        if read != size || end != *b"\n" {
            return Err(invalid());
        }
        contents.push(if size > limit { Content::TooLarge(size) } else { Content::Whole(Arc::new(bytes)) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Content {
        Content::Whole(Arc::new(bytes.to_vec()))
    }

    #[test]
    fn contents_are_split_by_their_sizes_alone_and_large_ones_are_skipped() {
        let printed: &[u8] = b"aa blob 3\na\nb\nbb blob 0\n\ncc blob 5\n\x00 1\n2\ndd blob 1\n\n\n";
        let read = read_contents(printed, 4).unwrap();
        assert_eq!(read, [whole(b"a\nb"), whole(b""), Content::TooLarge(5), whole(b"\n")]);
        let rows: [(&str, &[u8]); 4] = [
            ("missing object", b"aa missing\n"),
            ("shorter than its size", b"aa blob 9\nshort\n"),
            ("longer than its size", b"aa blob 1\nab\n"),
            ("cut off", b"aa blob 1"),
        ];
        for (row, bytes) in rows {
            assert!(read_contents(bytes, 4).is_err(), "{row}");
            assert!(read_contents(bytes, 100).is_err(), "{row}");
        }
    }

    /// Catches a store that grows, and one that forgets what was read last.
    #[test]
    fn the_newest_contents_are_kept_in_bounded_memory() {
        let contents = Contents::default();
        let large = Arc::new(vec![0; LARGEST_KEPT]);
        for number in 0..100 {
            contents.keep(&number.to_string(), &large);
        }
        contents.keep("larger", &Arc::new(vec![0; LARGEST_KEPT + 1]));
        let found = |name: &str| contents.find(name, u64::MAX);
        let kept = (0..100).filter(|number| found(&number.to_string()).is_some()).count();
        assert_eq!(kept, KEPT_BYTES / (LARGEST_KEPT + 2));
        assert_eq!(found("99"), Some(Content::Whole(Arc::clone(&large))));
        assert_eq!((found("0"), found("larger")), (None, None));
        assert_eq!(contents.find("99", 5), Some(Content::TooLarge(LARGEST_KEPT as u64)));
    }
}
