//! Names that settings used to have, and the sections they used to be in.
//!
//! A new name wins over an old one in any layer: files are updated one by one, and an old file must not undo what a new
//! one says. Checks no values.
//!
//! Invariant: after [`OldNames::extract`], the layer has no old names; each has become a tree of its own.

use crate::schema::names::camel_case;
use crate::schema::rule::{Rule, ValueType};
use crate::tree::{Content, Node};

/// Sections other than its own in which an old name is accepted; the first is the top level.
const OLD_SECTIONS: [&[&str]; 2] = [&[], &["planning"]];

#[derive(Debug)]
pub(super) struct OldNames(Vec<OldName>);

#[derive(Debug)]
struct OldName {
    /// The section the setting is in now.
    section: Vec<String>,
    name: String,
}

impl OldNames {
    pub(super) fn of(rule: &Rule) -> Self {
        let mut found = Vec::new();
        collect(rule, &mut Vec::new(), &mut found);
        Self(found)
    }

    /// The current path of a setting that is addressed by an old name in an old section.
    pub(super) fn redirect(&self, keys: Vec<String>) -> Vec<String> {
        let Some((last, section)) = keys.split_last() else { return keys };
        let old = self
            .0
            .iter()
            .find(|old| old.is(last) && OLD_SECTIONS.iter().any(|old_section| section == *old_section));
        match old {
            Some(old) => old.section.iter().chain([&old.name]).cloned().collect(),
            None => keys,
        }
    }

    /// Takes every old name out of a layer. Each becomes a tree with the current section and the old name. One that is in
    /// its current section comes last and so wins.
    pub(super) fn extract(&self, layer: &mut Node) -> Vec<Node> {
        let mut taken = Vec::new();
        for old in &self.0 {
            let own: Vec<&str> = old.section.iter().map(String::as_str).collect();
            for section in OLD_SECTIONS.into_iter().rev().chain([own.as_slice()]) {
                let Some(entries) = section_of(layer, section) else { continue };
                for entry in entries.extract_if(.., |entry| old.is(&entry.key)) {
                    let mut node = Node::nested(old.name.clone(), entry.node);
                    for section in old.section.iter().rev() {
                        node = Node::nested(section.clone(), node);
                    }
                    taken.push(node);
                }
            }
        }
        taken
    }
}

impl OldName {
    fn is(&self, key: &str) -> bool {
        key == self.name || key == camel_case(&self.name)
    }
}

fn collect(rule: &Rule, section: &mut Vec<String>, found: &mut Vec<OldName>) {
    let ValueType::Record(record) = &rule.kind else { return };
    for (name, field) in &record.fields {
        if let Some(old_name) = &field.old_name {
            found.push(OldName { section: section.clone(), name: old_name.clone() });
        }
        section.push(name.clone());
        collect(&field.rule, section, found);
        section.pop();
    }
}

/// The entries of a section, whose keys may have either spelling.
fn section_of<'node>(node: &'node mut Node, section: &[&str]) -> Option<&'node mut Vec<crate::tree::Entry>> {
    let Content::Map(entries) = &mut node.content else { return None };
    let Some((first, rest)) = section.split_first() else { return Some(entries) };
    let entry = entries.iter_mut().find(|entry| entry.key == *first || entry.key == camel_case(first))?;
    section_of(&mut entry.node, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use fixpoint_vocabulary::settings::Settings;
    use serde_json::{Value, json};

    #[test]
    fn old_names_are_extracted_from_every_section_that_had_them() {
        let old = OldNames::of(Schema::of::<Settings>().rule());
        let mut layer = Node::from(json!({
            "maxQualityRetries": 1,
            "planning": {"max_quality_retries": 2, "enabled": true},
            "refinement": {"max_quality_retries": 3},
            "judge": {"max_quality_retries": 4}
        }));
        let taken: Vec<Value> = old.extract(&mut layer).iter().map(Value::from).collect();
        let in_refinement = |value: u32| json!({"refinement": {"max_quality_retries": value}});
        assert_eq!(taken, [in_refinement(2), in_refinement(1), in_refinement(3)]);
        let left =
            json!({"planning": {"enabled": true}, "refinement": {}, "judge": {"max_quality_retries": 4}});
        assert_eq!(Value::from(&layer), left);
    }

    #[test]
    fn old_names_are_redirected_to_the_current_section() {
        let old = OldNames::of(Schema::of::<Settings>().rule());
        let redirect = |path: &str| old.redirect(path.split('.').map(str::to_owned).collect()).join(".");
        for (typed, expected) in [
            ("maxQualityRetries", "refinement.max_quality_retries"),
            ("planning.max_quality_retries", "refinement.max_quality_retries"),
            ("refinement.maxQualityRetries", "refinement.maxQualityRetries"),
            ("judge.max_quality_retries", "judge.max_quality_retries"),
            ("max_workers", "max_workers"),
        ] {
            assert_eq!(redirect(typed), expected, "{typed}");
        }
    }
}
