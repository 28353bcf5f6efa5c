//! The promises of a journal as a test that any implementation can be held to: a file, a faulty disk, a stream.
//!
//! Owns what the port says about numbers, order, reopening and fencing. Refuses to know how a journal is made: a
//! [`Medium`] does. What only some media can show (torn writes, damage) is tested with those.

use core::fmt::Debug;

use fixpoint_ports::{Journal, JournalError, Seq};

/// Storage of one journal.
pub trait Medium {
    type Journal: Journal;
    fn create(&mut self) -> Result<Self::Journal, String>;
    /// Opens it for another writer, with its records. Earlier writers may still be in use.
    fn reopen(&mut self) -> Result<(Self::Journal, Vec<Vec<u8>>), String>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{promise}: {found}")]
pub struct Violation {
    pub promise: &'static str,
    pub found: String,
}

/// Checks every promise of an implementation, each on a fresh medium.
pub fn uphold<M: Medium>(mut fresh: impl FnMut() -> M) -> Result<(), Violation> {
    records_are_numbered_and_survive(&mut fresh())?;
    records_of_one_batch_come_back_like_others(&mut fresh())?;
    a_number_that_is_not_next_is_refused(&mut fresh())?;
    a_writer_that_was_followed_is_fenced(&mut fresh())?;
    what_is_too_large_changes_nothing(&mut fresh())
}

fn records_are_numbered_and_survive<M: Medium>(medium: &mut M) -> Result<(), Violation> {
    let promise = "records are numbered from 0 and come back in order, with their bytes";
    let mut written: Vec<Vec<u8>> = Vec::new();
    let mut journal = made(promise, medium.create())?;
    for round in 0..4_u8 {
        for record in [vec![], vec![round; 3], vec![0; 100], (0..=255).collect()] {
            let seq = Seq(written.len() as u64);
            same(promise, &outcome(journal.append(seq, &record)), &Outcome::Written(seq.next()))?;
            written.push(record);
        }
        let (reopened, records) = made(promise, medium.reopen())?;
        same(promise, &records, &written)?;
        journal = reopened;
    }
    Ok(())
}

fn records_of_one_batch_come_back_like_others<M: Medium>(medium: &mut M) -> Result<(), Violation> {
    let promise = "records of one batch are numbered and come back like records of their own";
    let mut journal = made(promise, medium.create())?;
    same(promise, &outcome(journal.append_all(Seq(0), &[b"a", b"", b"c"])), &Outcome::Written(Seq(3)))?;
    same(promise, &outcome(journal.append(Seq(3), b"d")), &Outcome::Written(Seq(4)))?;
    let large = vec![1; 64 << 20];
    same(promise, &outcome(journal.append_all(Seq(4), &[b"e", &large])), &Outcome::TooLarge)?;
    same(promise, &outcome(journal.append_all(Seq(4), &[b"e", b"f"])), &Outcome::Written(Seq(6)))?;
    let (_, records) = made(promise, medium.reopen())?;
    let expected: [&[u8]; 6] = [b"a", b"", b"c", b"d", b"e", b"f"];
    same(promise, &records, &expected.map(<[u8]>::to_vec).to_vec())
}

fn a_number_that_is_not_next_is_refused<M: Medium>(medium: &mut M) -> Result<(), Violation> {
    let promise = "a record with another number than the next is refused and not written";
    let mut journal = made(promise, medium.create())?;
    same(promise, &outcome(journal.append(Seq(1), b"early")), &Outcome::Fenced(Seq(0)))?;
    same(promise, &outcome(journal.append(Seq(0), b"first")), &Outcome::Written(Seq(1)))?;
    same(promise, &outcome(journal.append(Seq(0), b"again")), &Outcome::Fenced(Seq(1)))?;
    same(promise, &outcome(journal.append(Seq(1), b"second")), &Outcome::Written(Seq(2)))?;
    let (_, records) = made(promise, medium.reopen())?;
    same(promise, &records, &vec![b"first".to_vec(), b"second".to_vec()])
}

fn a_writer_that_was_followed_is_fenced<M: Medium>(medium: &mut M) -> Result<(), Violation> {
    let promise = "a writer that another has followed writes nothing, and its successor does not notice";
    let mut old = made(promise, medium.create())?;
    same(promise, &outcome(old.append(Seq(0), b"old")), &Outcome::Written(Seq(1)))?;
    let (mut new, _) = made(promise, medium.reopen())?;
    same(promise, &outcome(new.append(Seq(1), b"new")), &Outcome::Written(Seq(2)))?;
    for expected in [1, 2, 1] {
        same(promise, &outcome(old.append(Seq(expected), b"late")), &Outcome::Fenced(Seq(2)))?;
    }
    same(promise, &outcome(new.append(Seq(2), b"newer")), &Outcome::Written(Seq(3)))?;
    let (_, records) = made(promise, medium.reopen())?;
    same(promise, &records, &vec![b"old".to_vec(), b"new".to_vec(), b"newer".to_vec()])
}

fn what_is_too_large_changes_nothing<M: Medium>(medium: &mut M) -> Result<(), Violation> {
    let promise = "a record that is too large is refused, and the next is not affected";
    let mut journal = made(promise, medium.create())?;
    same(promise, &outcome(journal.append(Seq(0), &vec![1; 64 << 20])), &Outcome::TooLarge)?;
    same(promise, &outcome(journal.append(Seq(0), b"small")), &Outcome::Written(Seq(1)))?;
    let (_, records) = made(promise, medium.reopen())?;
    same(promise, &records, &vec![b"small".to_vec()])
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Written(Seq),
    Fenced(Seq),
    TooLarge,
    Failed(String),
}

fn outcome(answer: Result<Seq, JournalError>) -> Outcome {
    match answer {
        Ok(next) => Outcome::Written(next),
        Err(JournalError::Fenced { actual, .. }) => Outcome::Fenced(actual),
        Err(JournalError::TooLarge { .. }) => Outcome::TooLarge,
        Err(error @ (JournalError::NoSpace(_) | JournalError::Unwritable(_))) => {
            Outcome::Failed(error.to_string())
        }
    }
}

fn made<T>(promise: &'static str, made: Result<T, String>) -> Result<T, Violation> {
    made.map_err(|found| Violation { promise, found })
}

fn same<T: PartialEq + Debug>(promise: &'static str, actual: &T, expected: &T) -> Result<(), Violation> {
    if actual == expected {
        return Ok(());
    }
    Err(Violation { promise, found: format!("{actual:?} instead of {expected:?}") })
}

#[cfg(test)]
mod tests;
