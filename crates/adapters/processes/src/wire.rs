//! The words between this process and its supervisor, as bytes on a socket.
//!
//! Arguments and variables are arbitrary bytes and may be secret, so a job travels here and never on a command line
//! or in the environment of a supervisor. Every message is a frame: its length in four bytes, little endian, and that
//! many bytes. Nothing is trusted: a frame that is too long or does not parse is refused, never guessed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use fixpoint_ports::{Invocation, Program};

/// The longest frame. The kernel refuses arguments and environments far smaller than this.
pub(crate) const MAX_FRAME: usize = 16 << 20;

/// The part of an invocation that the keeper has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) program: Program,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) grace: Duration,
}

/// What the keeper is told after its job, one frame each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Ask the tree to end, wait for the grace, then make it.
    End,
    /// Make the tree end at once.
    Kill,
}

/// What the keeper tells, one frame each, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// The keeper runs, under this process id.
    Ready(i32),
    /// The program runs.
    Started,
    /// The program could not be started, and why.
    NotStarted(String),
    /// The program ended with this code.
    Exited(i32),
    /// This signal ended the program.
    Signalled(i32),
    /// Everything is over.
    Done {
        /// Processes besides the program that had to be ended.
        stragglers: u32,
        /// Processes that could not be ended in time.
        left: u32,
    },
}

/// Bytes that mean nothing here.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a message between this process and its supervisor cannot be read")]
pub(crate) struct Malformed;

impl Job {
    pub(crate) fn of(invocation: &Invocation) -> Self {
        Self {
            program: invocation.program.clone(),
            directory: invocation.directory.clone(),
            environment: invocation.environment.clone(),
            grace: invocation.limits.grace,
        }
    }

    /// The job as a frame; nothing when it is longer than a frame may be.
    pub(crate) fn frame(&self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        put_u64(&mut body, u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX));
        put_bytes(&mut body, self.directory.as_os_str())?;
        put_u32(&mut body, u32::try_from(self.environment.len()).ok()?);
        for (name, value) in &self.environment {
            put_bytes(&mut body, name)?;
            put_bytes(&mut body, value)?;
        }
        match &self.program {
            Program::Direct { program, arguments } => {
                body.push(b'd');
                put_bytes(&mut body, program)?;
                put_u32(&mut body, u32::try_from(arguments.len()).ok()?);
                for argument in arguments {
                    put_bytes(&mut body, argument)?;
                }
            }
            Program::Shell(line) => {
                body.push(b's');
                put_bytes(&mut body, OsStr::new(line))?;
            }
        }
        framed(&body)
    }

    /// Reads what [`Job::frame`] wrote, without the length.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let mut fields = Fields(body);
        let grace = Duration::from_millis(fields.u64()?);
        let directory = PathBuf::from(fields.text()?);
        let mut environment = Vec::new();
        for _ in 0..fields.u32()? {
            environment.push((fields.text()?, fields.text()?));
        }
        let program = match fields.u8()? {
            b'd' => {
                let program = fields.text()?;
                let mut arguments = Vec::new();
                for _ in 0..fields.u32()? {
                    arguments.push(fields.text()?);
                }
                Program::Direct { program, arguments }
            }
            b's' => Program::Shell(fields.text()?.into_string().map_err(|_| Malformed)?),
            _ => return Err(Malformed),
        };
        fields.end()?;
        Ok(Self { program, directory, environment, grace })
    }
}

impl Order {
    pub(crate) fn frame(self) -> Vec<u8> {
        let word = match self {
            Order::End => b'e',
            Order::Kill => b'k',
        };
        vec![1, 0, 0, 0, word]
    }

    pub(crate) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        match body {
            [b'e'] => Ok(Order::End),
            [b'k'] => Ok(Order::Kill),
            _ => Err(Malformed),
        }
    }
}

impl Report {
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut body = Vec::new();
        match self {
            Report::Ready(keeper) => put_word(&mut body, b'r', *keeper),
            Report::Started => body.push(b's'),
            Report::NotStarted(reason) => {
                body.push(b'n');
                body.extend_from_slice(reason.as_bytes());
            }
            Report::Exited(code) => put_word(&mut body, b'x', *code),
            Report::Signalled(signal) => put_word(&mut body, b'g', *signal),
            Report::Done { stragglers, left } => {
                body.push(b'd');
                put_u32(&mut body, *stragglers);
                put_u32(&mut body, *left);
            }
        }
        framed(&body).unwrap_or_default()
    }

    pub(crate) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let mut fields = Fields(body);
        let report = match fields.u8()? {
            b'r' => Report::Ready(fields.i32()?),
            b's' => Report::Started,
            b'n' => Report::NotStarted(String::from_utf8_lossy(fields.rest()).into_owned()),
            b'x' => Report::Exited(fields.i32()?),
            b'g' => Report::Signalled(fields.i32()?),
            b'd' => Report::Done { stragglers: fields.u32()?, left: fields.u32()? },
            _ => return Err(Malformed),
        };
        fields.end()?;
        Ok(report)
    }
}

/// Reads one frame, waiting for it.
pub(crate) fn read_frame(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, Malformed));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(body)
}

/// Takes the first frame off bytes that arrive piece by piece, when it is complete.
pub(crate) fn take_frame(arrived: &mut Vec<u8>) -> Result<Option<Vec<u8>>, Malformed> {
    let Some((length, rest)) = arrived.split_first_chunk::<4>() else { return Ok(None) };
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Malformed)?;
    if length > MAX_FRAME {
        return Err(Malformed);
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let body = body.to_vec();
    arrived.drain(..4 + length);
    Ok(Some(body))
}

fn framed(body: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(body.len()).ok().filter(|_| body.len() <= MAX_FRAME)?;
    Some([&length.to_le_bytes(), body].concat())
}

fn put_u32(body: &mut Vec<u8>, number: u32) {
    body.extend_from_slice(&number.to_le_bytes());
}

fn put_u64(body: &mut Vec<u8>, number: u64) {
    body.extend_from_slice(&number.to_le_bytes());
}

fn put_word(body: &mut Vec<u8>, word: u8, number: i32) {
    body.push(word);
    body.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(body: &mut Vec<u8>, text: &OsStr) -> Option<()> {
    put_u32(body, u32::try_from(text.len()).ok()?);
    body.extend_from_slice(text.as_bytes());
    Some(())
}

/// What is left of a frame.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (field, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*field)
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.take().map(u32::from_le_bytes)
    }

    fn i32(&mut self) -> Result<i32, Malformed> {
        self.take().map(i32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<OsString, Malformed> {
        let length = usize::try_from(self.u32()?).map_err(|_| Malformed)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(OsString::from_vec(text.to_vec()))
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

#[cfg(test)]
mod tests;
