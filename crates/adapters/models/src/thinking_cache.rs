//! The thinking that some models must get back, unchanged and signed, together with the tool calls it led to.
//!
//! Owns the most recent entries, found by the first tool call of their turn. Refuses to interpret them. They live as long
//! as the process; a conversation that another process continues goes on without them.
//!
//! Invariant: memory is bounded, whatever endpoints send.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// More turns than any conversation has that still matter.
const MAX_ENTRIES: usize = 512;
/// A larger entry is dropped.
const MAX_BYTES: usize = 256 << 10;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CachedThinking {
    pub(crate) blocks: Vec<Value>,
    /// `reasoning_content` of chat completions.
    pub(crate) reasoning: String,
    /// `extra_content` of chat completions, by the id of the tool call.
    pub(crate) extras: BTreeMap<String, Value>,
}

impl CachedThinking {
    fn bytes(&self) -> usize {
        let values = self.blocks.iter().chain(self.extras.values()).map(|value| value.to_string().len());
        values.sum::<usize>().saturating_add(self.reasoning.len())
    }
}

/// The most recent thinking of one model.
#[derive(Debug, Default)]
pub(crate) struct ThinkingCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_call: BTreeMap<String, Arc<CachedThinking>>,
    order: VecDeque<String>,
}

impl ThinkingCache {
    /// Stores the thinking of the turn whose first tool call is `call`.
    pub(crate) fn insert(&self, call: &str, thinking: CachedThinking) {
        if !(1..=MAX_BYTES).contains(&thinking.bytes()) {
            return;
        }
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.by_call.insert(call.to_string(), Arc::new(thinking)).is_none() {
            entries.order.push_back(call.to_string());
        }
        if entries.order.len() > MAX_ENTRIES
            && let Some(oldest) = entries.order.pop_front()
        {
            entries.by_call.remove(&oldest);
        }
    }

    /// The thinking of the turn whose first tool call is `call`.
    pub(crate) fn get(&self, call: &str) -> Option<Arc<CachedThinking>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_call.get(call).map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinking(text: String) -> CachedThinking {
        CachedThinking { reasoning: text, ..CachedThinking::default() }
    }

    #[test]
    fn only_the_most_recent_entries_of_bounded_size_are_stored() {
        let cache = ThinkingCache::default();
        for number in 0..=MAX_ENTRIES {
            cache.insert(&number.to_string(), thinking("hm".to_string()));
        }
        assert_eq!(cache.get("0"), None);
        assert_eq!(cache.get("1").as_deref(), Some(&thinking("hm".to_string())));
        cache.insert("large", thinking("x".repeat(MAX_BYTES + 1)));
        cache.insert("empty", CachedThinking::default());
        assert_eq!((cache.get("large"), cache.get("empty")), (None, None));
    }
}
