//! Manifests in sections, as TOML and INI: the attempt's product with the base's definitions.
//!
//! Owns the mixing: a section that is a definition is replaced as a whole, in another one each entry is. Invariant: an
//! attempt that changed no definition keeps its text.

use super::sections_policy::{Kind, Policy};
use super::toml_scan::{Entry, Section, ini_sections, toml_sections};
use crate::Mix;

/// The attempt's manifest with the base's definitions; nothing if it cannot be read.
pub(super) fn mixed(kind: Kind, base: &str, now: &str) -> Option<Mix> {
    let (policy, before, after) = match kind {
        Kind::SetupCfg => (Policy::new(kind, None, None), ini_sections(base), ini_sections(now)),
        Kind::Pyproject | Kind::Cargo | Kind::Pipfile => {
            let (old, new): (toml::Table, toml::Table) = (base.parse().ok()?, now.parse().ok()?);
            (Policy::new(kind, Some(&old), Some(&new)), toml_sections(base), toml_sections(now))
        }
    };
    let mut mixer = Mixer { policy, before, changed: Vec::new(), text: String::new(), done: Vec::new() };
    for section in &after {
        mixer.section(section, &after);
    }
    mixer.lost_sections(&after);
    if mixer.changed.is_empty() {
        return Some(Mix::Product);
    }
    mixer.changed.sort();
    mixer.changed.dedup();
    // Ranges put together may not fit; then nothing of the attempt is believed.
    if kind != Kind::SetupCfg && mixer.text.parse::<toml::Table>().is_err() {
        return Some(Mix::Whole(mixer.changed.join(", ")));
    }
    Some(Mix::Parts { text: mixer.text.into_bytes(), changed: mixer.changed })
}

struct Mixer {
    policy: Policy,
    before: Vec<Section>,
    changed: Vec<String>,
    text: String,
    /// Definition sections that are written already.
    done: Vec<Vec<String>>,
}

impl Mixer {
    fn section(&mut self, section: &Section, after: &[Section]) {
        if self.policy.is_definition_section(&section.path) {
            self.definition_section(section, after);
            return;
        }
        self.push(&section.header);
        for entry in &section.entries {
            if !self.policy.is_definition(&entry.path) {
                self.push(&entry.text);
                continue;
            }
            let old = self.entry_at_base(section, &entry.path).cloned();
            if old.as_ref().is_some_and(|old| is_same(&old.text, &entry.text)) {
                self.push(&entry.text);
            } else {
                self.changed.push(entry.path.join("."));
                self.push(&old.map(|old| old.text).unwrap_or_default());
            }
        }
        let identity = section.identity();
        let lost: Vec<Entry> = self
            .before
            .iter()
            .filter(|old| old.identity() == identity)
            .flat_map(|old| old.entries.iter())
            .filter(|old| self.policy.is_definition(&old.path))
            .filter(|old| !section.entries.iter().any(|entry| entry.path == old.path))
            .cloned()
            .collect();
        for entry in lost {
            self.changed.push(entry.path.join("."));
            self.push(&entry.text);
        }
        self.push(&section.tail);
    }

    /// A section that is a definition: all of its name together, where the first of them stands.
    fn definition_section(&mut self, section: &Section, after: &[Section]) {
        let group = |sections: &[Section]| -> String {
            sections.iter().filter(|other| other.path == section.path).map(Section::text).collect()
        };
        let (old, new) = (group(&self.before), group(after));
        if is_same(&old, &new) {
            self.push(&section.text());
        } else if !self.done.contains(&section.path) {
            self.changed.push(self.section_name(&section.path));
            self.push(&old);
        }
        if !self.done.contains(&section.path) {
            self.done.push(section.path.clone());
        }
    }

    /// Sections of the base that the attempt does not have: definitions among them come back.
    fn lost_sections(&mut self, after: &[Section]) {
        for old in self.before.clone() {
            let is_there = |section: &Section| {
                section.path == old.path
                    && (self.policy.is_definition_section(&old.path) || section.identity() == old.identity())
            };
            if after.iter().any(is_there) {
                continue;
            }
            if self.policy.is_definition_section(&old.path) {
                self.changed.push(self.section_name(&old.path));
                self.push(&old.text());
                continue;
            }
            let lost: Vec<Entry> =
                old.entries.iter().filter(|entry| self.policy.is_definition(&entry.path)).cloned().collect();
            // An entry of a table in an array is gone with its table.
            if lost.is_empty() || old.is_array {
                continue;
            }
            self.push(&old.header);
            for entry in lost {
                self.changed.push(entry.path.join("."));
                self.push(&entry.text);
            }
        }
    }

    fn entry_at_base(&self, section: &Section, path: &[String]) -> Option<&Entry> {
        let identity = section.identity();
        let of_section = self.before.iter().filter(|old| old.identity() == identity);
        of_section.flat_map(|old| old.entries.iter()).find(|old| old.path == path)
    }

    fn section_name(&self, path: &[String]) -> String {
        format!("section [{}]", path.join("."))
    }

    fn push(&mut self, text: &str) {
        if !text.is_empty() && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

/// Whether two pieces are the same but for comments and blank lines.
fn is_same(left: &str, right: &str) -> bool {
    let lines = |text: &'_ str| -> Vec<String> {
        let lines = text.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_string).collect()
    };
    lines(left) == lines(right)
}
