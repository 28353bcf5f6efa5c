//! A request to stop that any thread can make and any thread can see.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A request to stop, shared by clones. Asking twice means: at once.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicU8>);

/// How urgently a stop was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    None,
    Soon,
    Now,
}

impl Cancel {
    /// Asks to stop; a second time, to stop at once.
    pub fn ask(&self) {
        let _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |asked| Some(asked.saturating_add(1).min(2)));
    }

    /// How urgently a stop was asked for.
    pub fn urgency(&self) -> Urgency {
        match self.0.load(Ordering::Acquire) {
            0 => Urgency::None,
            1 => Urgency::Soon,
            _ => Urgency::Now,
        }
    }

    /// Whether a stop was asked for.
    pub fn is_asked(&self) -> bool {
        self.urgency() != Urgency::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_twice_means_now_for_every_clone() {
        let cancel = Cancel::default();
        let other = cancel.clone();
        assert!(!other.is_asked());
        cancel.ask();
        assert_eq!(other.urgency(), Urgency::Soon);
        other.ask();
        other.ask();
        assert_eq!(cancel.urgency(), Urgency::Now);
    }
}
