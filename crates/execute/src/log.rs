//! Where the output of agents and checks is kept, and how credentials are taken out of it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::work::CommandId;

/// So much is looked at together: whole lines, and of a line that is longer than this its pieces.
const BLOCK: u64 = 256 << 10;

/// The file with an agent's output.
pub fn agent_log(outputs: &Path, id: CommandId) -> PathBuf {
    outputs.join(format!("{id}-agent.log"))
}

/// The file with a check's output; `call` is its place in the command.
pub fn check_log(outputs: &Path, id: CommandId, call: usize) -> PathBuf {
    outputs.join(format!("{id}-check-{call}.log"))
}

/// Takes credentials out of a finished log. A log without any is left as it is.
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
    use super::*;

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
