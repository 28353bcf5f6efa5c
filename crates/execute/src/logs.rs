//! Where the output of agents and checks is stored, and how credentials are removed from it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use fixpoint_agents::Transcript;
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::work::CommandId;

use crate::error::ExecuteError;

/// Bytes that are searched together: whole lines, and a line that is longer piece by piece.
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

/// Removes credentials from a finished log. A log without any is left as it is.
pub(crate) fn redact(path: &Path, redactor: &Redactor) -> io::Result<()> {
    let unfinished = path.with_extension("log.redacting");
    let mut reader = BufReader::new(File::open(path)?);
    let mut writer = BufWriter::new(File::create(&unfinished)?);
    let (mut block, mut changed) = (Vec::new(), false);
    loop {
        block.clear();
        reader.by_ref().take(BLOCK).read_to_end(&mut block)?;
        if block.is_empty() {
            break;
        }
        // A credential must not be cut in two, so a block ends with a line, unless the line is endless.
        reader.by_ref().take(BLOCK).read_until(b'\n', &mut block)?;
        // What is no text is looked at, and kept, piece by piece.
        for piece in block.utf8_chunks() {
            let clean = redactor.redact(piece.valid());
            changed |= clean.as_str() != piece.valid();
            writer.write_all(clean.as_str().as_bytes())?;
            writer.write_all(piece.invalid())?;
        }
    }
    writer.flush()?;
    drop(writer);
    if changed { fs::rename(&unfinished, path) } else { fs::remove_file(&unfinished) }
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
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
