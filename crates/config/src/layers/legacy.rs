//! Names that settings used to have, and where they used to stand.
//!
//! Owns the rule that a new name wins over an old one whatever their layers: files are updated one by one,
//! and an old file must not undo what a new one says. Refuses to check values.
//!
//! Invariant: after [`OldNames::take`], no tree holds an old name; what it held is a tree of its own.

use crate::shape::names::camel_case;
use crate::shape::rule::{Kind, Rule};
use crate::tree::{Content, Node};

/// The sections, beside its own, where a setting with an old name may stand under it; the first is the whole.
const FORMER_PLACES: [&[&str]; 2] = [&[], &["planning"]];

/// Every setting that has an old name.
#[derive(Debug)]
pub(super) struct OldNames(Vec<OldName>);

#[derive(Debug)]
struct OldName {
    /// The section the setting is in.
    section: Vec<String>,
    name: String,
}

impl OldNames {
    /// The old names a rule knows.
    pub(super) fn of(rule: &Rule) -> Self {
        let mut found = Vec::new();
        collect(rule, &mut Vec::new(), &mut found);
        Self(found)
    }

    /// The keys of a setting that was addressed by an old name at an old place, at its place of today.
    pub(super) fn redirect(&self, keys: Vec<String>) -> Vec<String> {
        let Some((last, section)) = keys.split_last() else { return keys };
        let old =
            self.0.iter().find(|old| old.is(last) && FORMER_PLACES.iter().any(|place| section == *place));
        match old {
            Some(old) => old.section.iter().chain([&old.name]).cloned().collect(),
            None => keys,
        }
    }

    /// Takes every old name out of a layer. Each becomes a tree at its place of today, still under its old
    /// name; what stands nearer to that place comes later and so is stronger.
    pub(super) fn take(&self, layer: &mut Node) -> Vec<Node> {
        let mut taken = Vec::new();
        for old in &self.0 {
            let own: Vec<&str> = old.section.iter().map(String::as_str).collect();
            for place in FORMER_PLACES.into_iter().rev().chain([own.as_slice()]) {
                let Some(entries) = section_of(layer, place) else { continue };
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
    let Kind::Record(record) = &rule.kind else { return };
    for (name, field) in &record.fields {
        if let Some(legacy) = &field.legacy {
            found.push(OldName { section: section.clone(), name: legacy.clone() });
        }
        section.push(name.clone());
        collect(&field.rule, section, found);
        section.pop();
    }
}

/// The entries of the map at a place in a tree, in either spelling of its keys.
fn section_of<'node>(node: &'node mut Node, place: &[&str]) -> Option<&'node mut Vec<crate::tree::Entry>> {
    let Content::Map(entries) = &mut node.content else { return None };
    let Some((first, rest)) = place.split_first() else { return Some(entries) };
    let entry = entries.iter_mut().find(|entry| entry.key == *first || entry.key == camel_case(first))?;
    section_of(&mut entry.node, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use fixpoint_vocabulary::settings::Settings;
    use serde_json::{Value, json};

    #[test]
    fn old_names_are_taken_from_every_place_they_stood_at() {
        let old = OldNames::of(Shape::of::<Settings>().rule());
        let mut layer = Node::from(json!({
            "maxQualityRetries": 1,
            "planning": {"max_quality_retries": 2, "enabled": true},
            "refinement": {"max_quality_retries": 3},
            "judge": {"max_quality_retries": 4}
        }));
        let taken: Vec<Value> = old.take(&mut layer).iter().map(Value::from).collect();
        let at_home = |value: u32| json!({"refinement": {"max_quality_retries": value}});
        assert_eq!(taken, [at_home(2), at_home(1), at_home(3)]);
        let left =
            json!({"planning": {"enabled": true}, "refinement": {}, "judge": {"max_quality_retries": 4}});
        assert_eq!(Value::from(&layer), left);
    }

    #[test]
    fn old_keys_lead_to_the_place_of_today() {
        let old = OldNames::of(Shape::of::<Settings>().rule());
        let redirect = |path: &str| old.redirect(path.split('.').map(str::to_owned).collect()).join(".");
        for (typed, leads_to) in [
            ("maxQualityRetries", "refinement.max_quality_retries"),
            ("planning.max_quality_retries", "refinement.max_quality_retries"),
            ("refinement.maxQualityRetries", "refinement.maxQualityRetries"),
            ("judge.max_quality_retries", "judge.max_quality_retries"),
            ("max_workers", "max_workers"),
        ] {
            assert_eq!(redirect(typed), leads_to);
        }
    }
}
