//! The messages between this process and a supervisor, over a socket.
//!
//! Arguments and variables are arbitrary bytes and may be secret, so a job is sent here and never on the command line or
//! in the environment of a supervisor. A message is a frame: its length in four bytes, little endian, and that many
//! bytes. A frame that is too long or cannot be parsed is an error.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use fixpoint_ports::{Invocation, Program};

/// The longest frame. The kernel does not accept arguments and environments of this size.
pub(crate) const MAX_FRAME: usize = 16 << 20;

/// The part of an invocation that the supervisor needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) program: Program,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) grace: Duration,
}

/// Orders to the supervisor after its job, one frame each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopOrder {
    /// SIGTERM to the tree, and SIGKILL after the grace.
    Terminate,
    Kill,
}

/// Reports of the supervisor, one frame each, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// The supervisor runs, with this process id.
    Ready(i32),
    Started,
    NotStarted(String),
    Exited(i32),
    Signalled(i32),
    /// The tree is gone, but for `left` processes that could not be killed in time. Besides the program, `stragglers`
    /// processes had to be killed.
    Done {
        stragglers: u32,
        left: u32,
    },
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a message between fixpoint and its supervisor cannot be parsed")]
pub(crate) struct ProtocolError;

impl Job {
    pub(crate) fn of(invocation: &Invocation) -> Self {
        Self {
            program: invocation.program.clone(),
            directory: invocation.directory.clone(),
            environment: invocation.environment.clone(),
            grace: invocation.limits.grace,
        }
    }

    /// `None` if the job is too long for a frame.
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

    pub(crate) fn parse(body: &[u8]) -> Result<Self, ProtocolError> {
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
            b's' => Program::Shell(fields.text()?.into_string().map_err(|_| ProtocolError)?),
            _ => return Err(ProtocolError),
        };
        fields.end()?;
        Ok(Self { program, directory, environment, grace })
    }
}

impl StopOrder {
    pub(crate) fn frame(self) -> Vec<u8> {
        let tag = match self {
            StopOrder::Terminate => b'e',
            StopOrder::Kill => b'k',
        };
        vec![1, 0, 0, 0, tag]
    }

    pub(crate) fn parse(body: &[u8]) -> Result<Self, ProtocolError> {
        match body {
            [b'e'] => Ok(StopOrder::Terminate),
            [b'k'] => Ok(StopOrder::Kill),
            _ => Err(ProtocolError),
        }
    }
}

impl Report {
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut body = Vec::new();
        match self {
            Report::Ready(supervisor) => put_tagged(&mut body, b'r', *supervisor),
            Report::Started => body.push(b's'),
            Report::NotStarted(reason) => {
                body.push(b'n');
                body.extend_from_slice(reason.as_bytes());
            }
            Report::Exited(code) => put_tagged(&mut body, b'x', *code),
            Report::Signalled(signal) => put_tagged(&mut body, b'g', *signal),
            Report::Done { stragglers, left } => {
                body.push(b'd');
                put_u32(&mut body, *stragglers);
                put_u32(&mut body, *left);
            }
        }
        framed(&body).unwrap_or_default()
    }

    pub(crate) fn parse(body: &[u8]) -> Result<Self, ProtocolError> {
        let mut fields = Fields(body);
        let report = match fields.u8()? {
            b'r' => Report::Ready(fields.i32()?),
            b's' => Report::Started,
            b'n' => Report::NotStarted(String::from_utf8_lossy(fields.rest()).into_owned()),
            b'x' => Report::Exited(fields.i32()?),
            b'g' => Report::Signalled(fields.i32()?),
            b'd' => Report::Done { stragglers: fields.u32()?, left: fields.u32()? },
            _ => return Err(ProtocolError),
        };
        fields.end()?;
        Ok(report)
    }
}

pub(crate) fn read_frame(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, ProtocolError));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(body)
}

/// Removes the first frame from the bytes received so far; `None` until it is complete.
pub(crate) fn take_frame(received: &mut Vec<u8>) -> Result<Option<Vec<u8>>, ProtocolError> {
    let Some((length, rest)) = received.split_first_chunk::<4>() else { return Ok(None) };
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| ProtocolError)?;
    if length > MAX_FRAME {
        return Err(ProtocolError);
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let body = body.to_vec();
    received.drain(..4 + length);
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

fn put_tagged(body: &mut Vec<u8>, tag: u8, number: i32) {
    body.push(tag);
    body.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(body: &mut Vec<u8>, text: &OsStr) -> Option<()> {
    put_u32(body, u32::try_from(text.len()).ok()?);
    body.extend_from_slice(text.as_bytes());
    Some(())
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], ProtocolError> {
        let (field, rest) = self.0.split_first_chunk::<N>().ok_or(ProtocolError)?;
        self.0 = rest;
        Ok(*field)
    }

    fn u8(&mut self) -> Result<u8, ProtocolError> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.take().map(u32::from_le_bytes)
    }

    fn i32(&mut self) -> Result<i32, ProtocolError> {
        self.take().map(i32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ProtocolError> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<OsString, ProtocolError> {
        let length = usize::try_from(self.u32()?).map_err(|_| ProtocolError)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(ProtocolError)?;
        self.0 = rest;
        Ok(OsString::from_vec(text.to_vec()))
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn end(&self) -> Result<(), ProtocolError> {
        if self.0.is_empty() { Ok(()) } else { Err(ProtocolError) }
    }
}

#[cfg(test)]
mod tests;
