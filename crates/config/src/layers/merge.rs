//! Merges layers: maps by key, everything else is replaced. Every value remembers its origin. Checks nothing.
//!
//! Invariant: the order in which layers are merged is the only thing that decides between them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::origin::Origin;
use crate::schema::path::Path;
use crate::tree::{Content, Entry, Node};

#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub value: Value,
    pub origin: Origin,
}

/// The layers merged so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Merged {
    /// A map, with the origin of the layer that first has it.
    Section(BTreeMap<String, Merged>, Origin),
    Leaf(Setting),
}

impl Merged {
    pub(super) fn new(node: &Node, origin: &Origin) -> Self {
        match &node.content {
            Content::Map(entries) => {
                let mut section = Self::Section(BTreeMap::new(), origin.at(node.position));
                section.merge_entries(entries, origin);
                section
            }
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) => {
                Self::Leaf(Setting { value: Value::from(node), origin: origin.at(node.position) })
            }
        }
    }

    /// Merges a stronger layer into this.
    pub(super) fn merge(&mut self, node: &Node, origin: &Origin) {
        match (&mut *self, &node.content) {
            (Self::Section(..), Content::Map(entries)) => self.merge_entries(entries, origin),
            (Self::Section(..) | Self::Leaf(_), _) => *self = Self::new(node, origin),
        }
    }

    fn merge_entries(&mut self, entries: &[Entry], origin: &Origin) {
        let Self::Section(children, _) = self else { return };
        for entry in entries {
            match children.get_mut(&entry.key) {
                Some(child) => child.merge(&entry.node, origin),
                None => drop(children.insert(entry.key.clone(), Self::new(&entry.node, origin))),
            }
        }
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Section(children, _) => {
                Value::Object(children.iter().map(|(key, child)| (key.clone(), child.value())).collect())
            }
            Self::Leaf(setting) => setting.value.clone(),
        }
    }

    /// Every value by its path. An empty map counts as a value.
    pub(super) fn settings(&self) -> BTreeMap<String, Setting> {
        let mut settings = BTreeMap::new();
        self.collect(&Path::Root, &mut settings);
        settings
    }

    fn collect(&self, at: &Path<'_>, settings: &mut BTreeMap<String, Setting>) {
        match self {
            Self::Leaf(setting) => drop(settings.insert(at.to_string(), setting.clone())),
            Self::Section(children, origin) if children.is_empty() => {
                let empty = Setting { value: self.value(), origin: origin.clone() };
                settings.insert(at.to_string(), empty);
            }
            Self::Section(children, _) => {
                children.iter().for_each(|(key, child)| child.collect(&at.key(key), settings));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn merged(layers: &[Value]) -> Merged {
        let mut merged = Merged::new(&Node::from(json!({})), &Origin::Default);
        for layer in layers {
            merged.merge(&Node::from(layer.clone()), &Origin::UserConfigApi);
        }
        merged
    }

    #[test]
    fn maps_merge_and_everything_else_is_replaced() {
        for (layers, expected) in [
            (vec![json!({"a": {"b": 1, "c": 2}}), json!({"a": {"c": 3}})], json!({"a": {"b": 1, "c": 3}})),
            (vec![json!({"a": [1, 2]}), json!({"a": [3]})], json!({"a": [3]})),
            (vec![json!({"a": [1]}), json!({"a": []})], json!({"a": []})),
            (vec![json!({"a": 1}), json!({"a": null})], json!({"a": null})),
            (vec![json!({"a": {"b": 1}}), json!({"a": {}})], json!({"a": {"b": 1}})),
            (vec![json!({"a": null}), json!({"a": {"b": 1}})], json!({"a": {"b": 1}})),
        ] {
            assert_eq!(merged(&layers).value(), expected, "{layers:?}");
        }
    }

    #[test]
    fn every_value_is_listed_by_its_path() {
        let mut merged = merged(&[json!({"a": {"b": [1], "c": 2}, "d": {}})]);
        merged.merge(&Node::from(json!({"a": {"c": 3}})), &Origin::Environment { variable: "V".into() });
        let listed: Vec<_> =
            merged.settings().into_iter().map(|(path, s)| (path, s.value, s.origin)).collect();
        let variable = Origin::Environment { variable: "V".into() };
        assert_eq!(
            listed,
            [
                ("a.b".to_owned(), json!([1]), Origin::UserConfigApi),
                ("a.c".to_owned(), json!(3), variable),
                ("d".to_owned(), json!({}), Origin::UserConfigApi),
            ]
        );
    }

    fn layer() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<u8>().prop_map(Value::from),
            prop::collection::vec(any::<u8>(), 0..3).prop_map(Value::from)
        ];
        let map = |inner| prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|map| json!(map));
        map(prop_oneof![leaf.clone(), map(leaf.boxed()).boxed()].boxed())
    }

    proptest! {
        /// Catches: merging lists, or letting the weaker layer win anywhere.
        #[test]
        fn the_strongest_layer_is_always_found_in_the_result(layers in prop::collection::vec(layer(), 1..4)) {
            let merged = merged(&layers).value();
            for (key, strongest) in layers.last().unwrap().as_object().unwrap() {
                let Value::Object(inner) = strongest else {
                    prop_assert_eq!(&merged[key], strongest);
                    continue;
                };
                for (inner_key, value) in inner {
                    prop_assert_eq!(&merged[key][inner_key], value);
                }
            }
        }
    }
}
