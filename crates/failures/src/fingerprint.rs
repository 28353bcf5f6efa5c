//! From a failure as it was read to one with a fingerprint.
//!
//! The fingerprint is a hash of runner, package, test, kind, what was said without what changes, and file. Line
//! numbers never enter it. Nothing else in the crate makes one.

use crate::normalise::{Normaliser, Text};
use crate::report::{Failure, Kind, Runner};
use crate::seen;

const LENGTH: usize = 16;

/// When two failures with the same fingerprint are two, the second with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Repeats {
    /// At other lines of the file, unless they are failures of a test: its details and a summary are one.
    #[default]
    AtOtherLines,
    /// At other lines, or at other columns than this.
    AtOtherPlaces(u32),
    /// If numbers in their messages differ.
    WithOtherNumbers,
}

/// A failure before its fingerprint is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FingerprintParts {
    pub(crate) runner: Runner,
    pub(crate) package: Option<String>,
    pub(crate) test: Option<String>,
    pub(crate) kind: Kind,
    /// Shown to people.
    pub(crate) message: String,
    /// The part of the message that identifies the failure; all of it if empty.
    pub(crate) signature: String,
    /// The source line that failed; numbers in it count.
    pub(crate) source: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) repeats: Repeats,
}

impl FingerprintParts {
    pub(crate) fn new(runner: Runner, kind: Kind) -> Self {
        Self {
            runner,
            package: None,
            test: None,
            kind,
            message: String::new(),
            signature: String::new(),
            source: String::new(),
            file: None,
            line: None,
            repeats: Repeats::default(),
        }
    }

    pub(crate) fn test(mut self, package: Option<&str>, test: &str) -> Self {
        self.package = package.map(str::to_string);
        self.test = Some(test.to_string());
        self
    }

    pub(crate) fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    pub(crate) fn at(mut self, place: Option<(&str, Option<u32>)>) -> Self {
        if let Some((file, line)) = place {
            self.file = Some(file.to_string());
            self.line = line;
        }
        self
    }

    pub(crate) fn masks(&self) -> bool {
        matches!(self.kind, Kind::Compile | Kind::Crash)
    }

    pub(crate) fn finish(self, normaliser: &Normaliser) -> Failure {
        let fingerprint = self.fingerprint(normaliser);
        Failure {
            fingerprint,
            runner: self.runner,
            package: self.package,
            test: self.test,
            kind: self.kind,
            message: self.message.trim().to_string(),
            file: self.file.map(|file| normaliser.relative(&file)),
            line: self.line,
        }
    }

    /// What tells it from another failure with the same fingerprint; `None` if nothing does.
    pub(crate) fn occurrence(&self, normaliser: &Normaliser) -> Option<String> {
        match (self.repeats, self.line) {
            (Repeats::AtOtherLines | Repeats::AtOtherPlaces(_), None) => None,
            (Repeats::AtOtherLines | Repeats::AtOtherPlaces(_), _) if self.test.is_some() => None,
            (Repeats::AtOtherLines, Some(line)) => Some(line.to_string()),
            (Repeats::AtOtherPlaces(column), Some(line)) => Some(format!("{line}:{column}")),
            (Repeats::WithOtherNumbers, _) => Some(normaliser.text(&self.message, Text::Source)),
        }
    }

    /// The bytes of its longest text.
    pub(crate) fn longest(&self) -> usize {
        self.message.len().max(self.signature.len()).max(self.source.len())
    }

    /// Whether two have the same digest.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.message == other.message
            && self.signature == other.signature
            && self.source == other.source
            && self.kind == other.kind
            && self.runner == other.runner
            && self.test == other.test
            && self.package == other.package
            && self.file == other.file
            && (self.test.is_some() || self.line.unwrap_or_default() == other.line.unwrap_or_default())
    }

    /// Equal for those that say the same.
    pub(crate) fn hash(&self) -> u32 {
        let line = self.line.filter(|_| self.test.is_none()).unwrap_or_default();
        let texts = [&self.message, &self.signature, &self.source].map(|text| Some(text.as_str()));
        let names = [self.package.as_deref(), self.test.as_deref(), self.file.as_deref()];
        seen::hash_of(texts.into_iter().chain(names)) ^ line
    }

    pub(crate) fn digest(&self) -> [u8; 16] {
        let kind = self.kind.to_string();
        let texts = [&self.message, &self.signature, &self.source, &kind];
        let names = [self.package.as_deref(), self.test.as_deref(), self.file.as_deref()];
        let line = self.line.filter(|_| self.test.is_none()).unwrap_or_default().to_string();
        let ends = [Some(self.runner.name()), Some(line.as_str())];
        let parts = ends.into_iter().chain(names).chain(texts.map(|text| Some(text.as_str())));
        let hash = hash_of(parts);
        let mut digest = [0; 16];
        digest.iter_mut().zip(hash.as_bytes()).for_each(|(into, byte)| *into = *byte);
        digest
    }

    fn fingerprint(&self, normaliser: &Normaliser) -> String {
        let said = if self.signature.is_empty() { &self.message } else { &self.signature };
        let name = |name: &Option<String>| name.as_ref().map(|name| normaliser.text(name, Text::Source));
        let parts = [
            Some(self.runner.name().to_string()),
            name(&self.package),
            name(&self.test),
            Some(self.kind.to_string()),
            Some(normaliser.text(said, Text::Message)),
            Some(normaliser.text(&self.source, Text::Source)),
            self.file.as_ref().map(|file| normaliser.stable_path(file)),
        ];
        hash_of(parts.iter().map(Option::as_deref)).to_hex().chars().take(LENGTH).collect()
    }
}

/// The fingerprint of the nth failure, counted from 0, that is equal but for its place.
pub(crate) fn numbered(fingerprint: &str, n: usize) -> String {
    if n == 0 {
        return fingerprint.to_string();
    }
    let parts = [Some(fingerprint.to_string()), Some(n.to_string())];
    hash_of(parts.iter().map(Option::as_deref)).to_hex().chars().take(LENGTH).collect()
}

fn hash_of<'a>(parts: impl Iterator<Item = Option<&'a str>>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // The length keeps the parts apart, and an absent part from an empty one.
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        hasher.update(&length.to_le_bytes());
        hasher.update(part.unwrap_or_default().as_bytes());
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::Values;

    #[test]
    fn every_part_but_the_line_counts() {
        let normaliser = Normaliser::new(None, Values::Drop);
        let base = FingerprintParts::new(Runner::Pytest, Kind::Assertion)
            .test(Some("p"), "t")
            .message("assert x")
            .at(Some(("a.py", Some(3))));
        let id = |draft: FingerprintParts| draft.finish(&normaliser).fingerprint;
        let original = id(base.clone());
        assert_eq!(original.len(), LENGTH);
        assert_eq!(original, id(FingerprintParts { line: Some(99), ..base.clone() }));
        let others = [
            FingerprintParts { runner: Runner::Unittest, ..base.clone() },
            FingerprintParts { package: None, ..base.clone() },
            FingerprintParts { test: Some("u".into()), ..base.clone() },
            FingerprintParts { kind: Kind::Error, ..base.clone() },
            FingerprintParts { kind: Kind::Exception("KeyError".into()), ..base.clone() },
            FingerprintParts { message: "assert y".into(), ..base.clone() },
            FingerprintParts { source: "assert y".into(), ..base.clone() },
            FingerprintParts { file: Some("b.py".into()), ..base.clone() },
            FingerprintParts { file: None, ..base },
        ];
        let mut ids: Vec<String> = others.into_iter().map(id).collect();
        ids.push(original);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 10);
    }
}
