//! What models want to see again beside the calls of tools they made: their thinking, with its signatures.
//!
//! Owns the last few of them, by the call they belong to. Refuses to understand them: they are given back as they came.
//! They live as long as the process; a conversation that another process takes up goes on without them.
//!
//! Invariant: memory is bounded, whatever endpoints send.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// So many are kept: more than any conversation has turns that still matter.
const MOST: usize = 512;
/// A larger one is not kept.
const MAX_BYTES: usize = 256 << 10;

/// What belongs to one turn of the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Keepsake {
    /// Anthropic's blocks of thinking.
    pub(crate) blocks: Vec<Value>,
    /// The thinking of servers that speak chat completions.
    pub(crate) reasoning: String,
    /// What came beside each call, by its id.
    pub(crate) extras: BTreeMap<String, Value>,
}

impl Keepsake {
    fn is_worth_keeping(&self) -> bool {
        let blocks = self.blocks.iter().chain(self.extras.values()).map(|value| value.to_string().len());
        let size = blocks.sum::<usize>().saturating_add(self.reasoning.len());
        size > 0 && size <= MAX_BYTES
    }
}

/// The last few keepsakes of one model.
#[derive(Debug, Default)]
pub(crate) struct Keepsakes(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by_call: BTreeMap<String, Arc<Keepsake>>,
    order: VecDeque<String>,
}

impl Keepsakes {
    /// Keeps what belongs to the turn that began with this call.
    pub(crate) fn keep(&self, call: &str, keepsake: Keepsake) {
        if !keepsake.is_worth_keeping() {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.by_call.insert(call.to_string(), Arc::new(keepsake)).is_none() {
            kept.order.push_back(call.to_string());
        }
        if kept.order.len() > MOST
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.by_call.remove(&oldest);
        }
    }

    /// What belongs to the turn that began with this call.
    pub(crate) fn of(&self, call: &str) -> Option<Arc<Keepsake>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_call.get(call).map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thought(text: String) -> Keepsake {
        Keepsake { reasoning: text, ..Keepsake::default() }
    }

    #[test]
    fn only_the_last_few_of_bounded_size_are_kept() {
        let keepsakes = Keepsakes::default();
        for number in 0..=MOST {
            keepsakes.keep(&number.to_string(), thought("hm".to_string()));
        }
        assert_eq!(keepsakes.of("0"), None);
        assert_eq!(keepsakes.of("1").as_deref(), Some(&thought("hm".to_string())));
        keepsakes.keep("large", thought("x".repeat(MAX_BYTES + 1)));
        keepsakes.keep("empty", Keepsake::default());
        assert_eq!((keepsakes.of("large"), keepsakes.of("empty")), (None, None));
    }
}
