//! Where the output of agents and checks is kept, and how credentials are taken out of it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::work::CommandId;

/// The longest line that is looked at as a whole; a credential across a cut would be longer than any is.
const LONGEST_LINE: u64 = 1 << 20;

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
    let (mut line, mut changed) = (Vec::new(), false);
    loop {
        line.clear();
        if io::Read::take(&mut reader, LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let clean = redactor.redact(&text);
        if clean.as_str() == text {
            writer.write_all(&line)?;
        } else {
            changed = true;
            writer.write_all(clean.as_str().as_bytes())?;
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
