//! A failure that Django's parallel test run could not pass on to its main process.
//!
//! Owns its announcement. The run ends with it, so more tests might have failed.

use super::name::{Heading, Subject};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::Runner;
use crate::runners::python::kind_of;
use crate::runners::{Read, Step};

#[derive(Debug, Default)]
pub(crate) struct Unpickled {
    test: Option<String>,
}

/// `test_equal (app.tests.AccountTest.test_equal) failed:`
fn test(line: &str) -> Option<String> {
    let heading = Heading::of(line).filter(|heading| heading.is_of_test() && heading.behind == " failed:")?;
    match heading.subject() {
        Subject::Test(test) => Some(test),
        Subject::Fixture { .. } | Subject::Module(_) => None,
    }
}

pub(crate) fn is_start(line: &str) -> bool {
    line.ends_with(" failed:") && test(line).is_some()
}

impl Read for Unpickled {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let Some(name) = &self.test else {
            self.test = test(line);
            return if self.test.is_some() { Step::Taken } else { Step::Refused };
        };
        let text = line.trim();
        if text.is_empty() {
            return Step::Taken;
        }
        // `AssertionError('0 != 5')`
        let (raised, said) = text.split_once('(').unwrap_or((text, ""));
        let said = said.trim_end_matches(')').trim_matches(['\'', '"']);
        let message = format!("{raised}: {said}");
        out.failed(
            FingerprintParts::new(Runner::Unittest, kind_of(&message)).test(None, name).message(message),
        );
        out.masked();
        Step::Ended
    }

    fn finish(&mut self, _: &mut Collector) {}
}
