//! Where the output of agents and checks is stored, how credentials are removed from it, and whether it is still what was
//! written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use fixpoint_agents::Transcript;
use fixpoint_vocabulary::work::CommandId;
use fixpoint_vocabulary::{RedactionStream, Redactor};

use crate::error::ExecuteError;

/// Bytes that are read together.
const BLOCK: u64 = 256 << 10;

/// The file with an agent's output.
pub fn agent_log(outputs: &Path, id: CommandId) -> PathBuf {
    outputs.join(format!("{id}-agent.log"))
}

/// The file with what an agent said. It exists only where that differs from what it printed.
fn words_file(outputs: &Path, id: CommandId) -> PathBuf {
    outputs.join(format!("{id}-agent.words"))
}

/// The file to read for what an agent said: its words where it prints events, else all it printed.
pub fn agent_words(outputs: &Path, id: CommandId) -> PathBuf {
    let words = words_file(outputs, id);
    if words.is_file() { words } else { agent_log(outputs, id) }
}

/// Stores what an agent said, without credentials.
pub(crate) fn store_words(
    outputs: &Path,
    id: CommandId,
    transcript: &Transcript,
    redactor: &Redactor,
) -> Result<(), ExecuteError> {
    let Some(said) = &transcript.agent_text else { return Ok(()) };
    let path = words_file(outputs, id);
    fs::write(&path, redactor.redact(&said.text()).as_str()).map_err(ExecuteError::file(path))
}

/// The file with a check's output; `call` is its place in the command.
pub fn check_log(outputs: &Path, id: CommandId, call: usize) -> PathBuf {
    outputs.join(format!("{id}-check-{call}.log"))
}

/// The file with the checksum of a finished log.
fn checksum_file(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_os_string();
    name.push(".b3");
    PathBuf::from(name)
}

/// Whether a log is what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogState {
    Intact,
    /// Its program was interrupted, so that it has no checksum.
    Unfinished,
    Damaged,
}

impl LogState {
    /// Reads the log and its checksum.
    pub fn of(log: &Path) -> io::Result<Self> {
        let stored = match fs::read_to_string(checksum_file(log)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Unfinished),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(Self::Damaged),
            stored => stored?,
        };
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut File::open(log)?, &mut hasher)?;
        let is_same = stored == checksum_line(&hasher);
        Ok(if is_same { Self::Intact } else { Self::Damaged })
    }
}

fn checksum_line(hasher: &blake3::Hasher) -> String {
    format!("{}\n", hasher.finalize().to_hex())
}

/// Removes credentials from a finished log, and stores its checksum. A log without any is left as it is.
pub(crate) fn redact(path: &Path, redactor: &Redactor) -> io::Result<()> {
    let unfinished = path.with_extension("log.redacting");
    let mut reader = File::open(path)?;
    let mut clean = CleanLog {
        writer: BufWriter::new(File::create(&unfinished)?),
        hasher: blake3::Hasher::new(),
        stream: RedactionStream::new(redactor),
    };
    let (mut block, mut before) = (Vec::new(), blake3::Hasher::new());
    loop {
        // What is left of the last block is the beginning of a letter.
        let begun = block.len();
        let read = Read::by_ref(&mut reader).take(BLOCK).read_to_end(&mut block)?;
        before.update(block.get(begun..).unwrap_or_default());
        let left = clean.take(&block, if read == 0 { AtEnd::Yes } else { AtEnd::No })?;
        block.drain(..block.len().saturating_sub(left));
        if read == 0 {
            break;
        }
    }
    let after = clean.finish()?;
    if after.finalize() == before.finalize() {
        fs::remove_file(&unfinished)?;
    } else {
        fs::rename(&unfinished, path)?;
    }
    fs::write(checksum_file(path), checksum_line(&after))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    Yes,
    No,
}

/// A log that is written without credentials.
struct CleanLog<'a> {
    writer: BufWriter<File>,
    hasher: blake3::Hasher,
    stream: RedactionStream<'a>,
}

impl CleanLog<'_> {
    /// Takes a block, and returns how many of its last bytes are part of a letter that goes on in the next one. What is no
    /// text is kept, and separates the texts around it.
    fn take(&mut self, block: &[u8], end: AtEnd) -> io::Result<usize> {
        let mut pieces = block.utf8_chunks().peekable();
        while let Some(piece) = pieces.next() {
            let text = self.stream.push(piece.valid());
            self.write(text.as_bytes())?;
            let is_last = pieces.peek().is_none();
            let goes_on = is_last && end == AtEnd::No && piece.invalid().len() < 4;
            if goes_on {
                return Ok(piece.invalid().len());
            }
            if !piece.invalid().is_empty() {
                let text = self.stream.finish();
                self.write(text.as_bytes())?;
                self.write(piece.invalid())?;
            }
        }
        Ok(0)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.writer.write_all(bytes)
    }

    fn finish(mut self) -> io::Result<blake3::Hasher> {
        let rest = self.stream.finish();
        self.write(rest.as_bytes())?;
        self.writer.flush()?;
        Ok(self.hasher)
    }
}

#[cfg(test)]
mod tests {
    use fixpoint_agents::{AgentText, OutputStream, Turn, agent_named};

    use super::*;

    #[test]
    fn words_are_read_where_there_are_any_and_else_the_log() {
        let directory = tempfile::tempdir().unwrap();
        let (outputs, id) = (directory.path(), CommandId { seq: 3, index: 0 });
        let plain = Transcript { last_message: Some("words".into()), ..Transcript::default() };
        store_words(outputs, id, &plain, &Redactor::default()).unwrap();
        assert_eq!(agent_words(outputs, id), agent_log(outputs, id), "what it printed is what it said");
        // One that printed events and said nothing is no reason to show its events.
        let silent = Transcript { agent_text: Some(AgentText::default()), ..Transcript::default() };
        store_words(outputs, id, &silent, &Redactor::default()).unwrap();
        assert_eq!(fs::read_to_string(agent_words(outputs, id)).unwrap(), "");
    }

    /// Every recording, with a credential in what the agent says: the words are kept without it, and without events.
    #[test]
    fn what_is_kept_of_recordings_is_words() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/agents/fixtures");
        for (name, recording) in
            [("claude", "claude/2.1.197/tool-call"), ("codex", "codex/0.166.0/tool-call")]
        {
            let text = fs::read_to_string(fixtures.join(recording).with_extension("jsonl")).unwrap();
            let last = text.lines().rfind(|line| line.contains("\"text\":\"")).unwrap();
            let leaking = last.replace("\"text\":\"", "\"text\":\"ghp_0123456789abcdefABCD ");
            let turn = Turn {
                program: name,
                arguments: &[],
                prompt: "",
                prompt_file: Path::new("p.md"),
                session: None,
                model: None,
                max_cost: None,
                allowed_commands: &[],
            };
            let mut stream = OutputStream::new(agent_named(name).unwrap().reader(&turn));
            stream.push(text.replace(last, &leaking).as_bytes());
            let directory = tempfile::tempdir().unwrap();
            let (outputs, id) = (directory.path(), CommandId { seq: 3, index: 0 });
            store_words(outputs, id, &stream.finish().1, &Redactor::default()).unwrap();
            let kept = fs::read_to_string(agent_words(outputs, id)).unwrap();
            assert!(kept.contains("[removed] ") && !kept.contains("ghp_"), "{name}: {kept}");
            assert!(!kept.contains("\"type\""), "{name}: {kept}");
        }
    }

    #[test]
    fn a_log_loses_its_credentials_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = agent_log(directory.path(), CommandId { seq: 3, index: 0 });
        fs::write(&path, b"before\nkey ghp_0123456789abcdefABCD\n\xff raw bytes\nlast").unwrap();
        redact(&path, &Redactor::default()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before\nkey [removed]\n\xff raw bytes\nlast");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "the log and its checksum");
        assert_eq!(LogState::of(&path).unwrap(), LogState::Intact);
        fs::write(&path, b"before\nkey [removed]\n\xff raw bytes\nlasu").unwrap();
        assert_eq!(LogState::of(&path).unwrap(), LogState::Damaged);
        fs::remove_file(checksum_file(&path)).unwrap();
        assert_eq!(LogState::of(&path).unwrap(), LogState::Unfinished);
    }

    /// Wherever a block ends: in a credential, in a private key, in a letter.
    #[test]
    fn a_credential_over_the_end_of_a_block_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = agent_log(directory.path(), CommandId { seq: 3, index: 0 });
        let key = "-----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY-----";
        for secret in ["ghp_0123456789abcdefABCD", key] {
            for into in [1, 3, 20] {
                let before = BLOCK as usize - into;
                let filling = "日\n".repeat(before / 4) + &"x".repeat(before % 4) + " ";
                fs::write(&path, format!("{filling}{secret} after")).unwrap();
                redact(&path, &Redactor::default()).unwrap();
                let clean = fs::read_to_string(&path).unwrap();
                assert!(clean == format!("{filling}[removed] after"), "{into}: {}", clean.len());
            }
        }
    }
}
