//! A Java throwable as test tools print it: its class, its message, and the first place in the project's own code.
//!
//! Owns the lines of a stack trace. Refuses to know which tool prints it. Of several causes the outermost is the failure.

use crate::collector::append;
use crate::fingerprint::FingerprintParts;
use crate::report::Kind;
use crate::search::Search;

/// Frames of these packages are those of the tools.
const FOREIGN: [&str; 22] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "junit.",
    "org.junit.",
    "org.opentest4j.",
    "org.hamcrest.",
    "org.assertj.",
    "org.mockito.",
    "org.testng.",
    "org.gradle.",
    "org.apache.maven.",
    "org.codehaus.",
    "org.spockframework.",
    "org.codehaus.groovy.",
    "groovy.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "com.google.common.truth.",
];

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Throwable {
    /// `org.opentest4j.AssertionFailedError`
    class: String,
    message: String,
    place: Option<(String, u32)>,
    has_frames: bool,
}

impl Throwable {
    pub(crate) fn is_empty(&self) -> bool {
        self.class.is_empty() && self.message.is_empty()
    }

    /// Reads the next line, with or without its indentation.
    pub(crate) fn line(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() || text == "[...]" || text.starts_with("... ") {
            return;
        }
        if text.starts_with("Caused by: ") || text.starts_with("Suppressed: ") {
            self.has_frames = true;
            return;
        }
        if let Some(frame) = frame(text) {
            self.has_frames = true;
            if self.place.is_none() && !is_foreign(frame.function) {
                self.place = frame.place();
            }
            return;
        }
        if self.class.is_empty() && self.message.is_empty() {
            self.first(text);
        } else if !self.has_frames {
            append(&mut self.message, text);
        }
    }

    /// `java.lang.AssertionError: message`, `java.lang.AssertionError at CalcTest.java:18`
    fn first(&mut self, text: &str) {
        if let Some((class, at)) = text.cut(" at ").filter(|(class, _)| is_class(class)) {
            self.class = class.to_string();
            let place =
                at.rsplit_once(':').and_then(|(file, line)| Some((file.to_string(), line.parse().ok()?)));
            self.place = place;
            self.has_frames = true;
            return;
        }
        let (class, message) = text.cut(": ").unwrap_or((text.trim_end_matches(':'), ""));
        if is_class(class) {
            self.class = class.to_string();
            self.message = message.to_string();
        } else {
            self.message = text.to_string();
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        let name = self.class.rsplit(['.', '$']).next().unwrap_or_default();
        let is_timeout = name.has("Timeout")
            || name.has("TimedOut")
            || self.message.starts_with("execution timed out after ")
            || self.message.starts_with("execution exceeded timeout of ")
            || self.message.starts_with("test timed out after ");
        if is_timeout {
            Kind::Timeout
        } else if name.is_empty()
            || name.has("Assertion")
            || name.has("ComparisonFailure")
            || name.has("MultipleFailures")
            || name.has("ConditionNotSatisfied")
        {
            Kind::Assertion
        } else {
            Kind::Exception(name.to_string())
        }
    }

    /// Fills in kind, message and place.
    pub(crate) fn describe(self, mut draft: FingerprintParts) -> FingerprintParts {
        draft.kind = self.kind();
        let place = self.place.as_ref().map(|(file, line)| (file.as_str(), Some(*line)));
        let said = if self.message.is_empty() { self.class.clone() } else { self.message.clone() };
        draft.signature.clone_from(&said);
        draft.message(said).at(place)
    }
}

struct Frame<'a> {
    function: &'a str,
    at: &'a str,
}

impl Frame<'_> {
    fn place(&self) -> Option<(String, u32)> {
        let (file, line) = self.at.rsplit_once(':')?;
        Some((file.to_string(), line.parse().ok()?))
    }
}

/// `at sample.CalcTest.equal(CalcTest.java:25)`, also without `at`.
fn frame(text: &str) -> Option<Frame<'_>> {
    let text = text.strip_prefix("at ").unwrap_or(text);
    let text = text.split(" ~[").next()?;
    let (function, at) = text.strip_suffix(')')?.rsplit_once('(')?;
    let function = function.rsplit('/').next()?;
    let is_function = function.contains('.') && !function.contains([' ', ':']);
    let is_place = at == "Native Method" || at == "Unknown Source" || at.contains('.') && !at.contains(' ');
    (is_function && is_place).then_some(Frame { function, at })
}

fn is_foreign(function: &str) -> bool {
    FOREIGN.iter().any(|package| function.starts_with(package))
}

/// A name with a package, or one that ends as those of exceptions do.
fn is_class(text: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
            && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$')
    };
    let ends = ["Error", "Exception", "Failure", "Throwable"];
    text.split('.').all(is_name) && (text.contains('.') || ends.iter().any(|end| text.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Runner;

    fn read(text: &str) -> (Kind, String, Option<String>, Option<u32>) {
        let mut thrown = Throwable::default();
        text.lines().for_each(|line| thrown.line(line));
        let draft = thrown.describe(FingerprintParts::new(Runner::Maven, Kind::Error));
        (draft.kind, draft.message, draft.file, draft.line)
    }

    #[test]
    fn throwables_in_every_form() {
        let rows = [
            (
                "org.opentest4j.AssertionFailedError: expected: <5> but was: <4>\n\tat \
                 org.junit.Assert.fail(Assert.java:3)\n\tat app//sample.CalcTest.equal(CalcTest.java:25)\n\t... 3 more\n",
                (Kind::Assertion, "expected: <5> but was: <4>", Some(("CalcTest.java", 25))),
            ),
            (
                "    java.lang.AssertionError at CalcTest.java:18",
                (Kind::Assertion, "java.lang.AssertionError", Some(("CalcTest.java", 18))),
            ),
            (
                "java.lang.IllegalStateException: outer\nsecond line\n\tat a.B.c(B.java:1)\nCaused by: \
                 java.lang.Error: inner\n\tat a.B.d(B.java:2)",
                (Kind::Exception("IllegalStateException".into()), "outer\nsecond line", Some(("B.java", 1))),
            ),
            (
                "org.junit.runners.model.TestTimedOutException: test timed out after 100 milliseconds",
                (Kind::Timeout, "test timed out after 100 milliseconds", None),
            ),
            ("Wanted but not invoked: x", (Kind::Assertion, "Wanted but not invoked: x", None)),
        ];
        for (text, (kind, message, place)) in rows {
            let (file, line) =
                place.map_or((None, None), |(file, line)| (Some(file.to_string()), Some(line)));
            assert_eq!(read(text), (kind, message.to_string(), file, line), "{text}");
        }
    }
}
