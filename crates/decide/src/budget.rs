//! What a run has spent and reserved, and whether one more thing can be afforded.
//!
//! A call is reserved at its worst case before it is made and settled at what it cost. Invariant: as long as
//! nothing costs more than was reserved for it, spent and reserved together never exceed a limit.

use crate::prelude::*;
use fixpoint_vocabulary::usage::{Allowance, MicroUsd};
use fixpoint_vocabulary::work::CommandId;

/// What something costs, or may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amount {
    pub model_calls: u64,
    pub tokens: u64,
    pub money: MicroUsd,
    pub attempts: u64,
}

impl Amount {
    fn plus(self, other: Self) -> Self {
        Self {
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tokens: self.tokens.saturating_add(other.tokens),
            money: MicroUsd(self.money.0.saturating_add(other.money.0)),
            attempts: self.attempts.saturating_add(other.attempts),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Budget {
    pub(crate) limits: Allowance,
    pub(crate) spent: Amount,
    reserved: BTreeMap<CommandId, Amount>,
}

impl Budget {
    pub(crate) fn new(limits: Allowance) -> Self {
        Self { limits, spent: Amount::default(), reserved: BTreeMap::new() }
    }

    /// What has been spent or reserved.
    pub(crate) fn committed(&self) -> Amount {
        self.reserved.values().copied().fold(self.spent, Amount::plus)
    }

    pub(crate) fn is_out_of_time(&self, elapsed_seconds: u64) -> bool {
        self.limits.seconds.is_some_and(|limit| elapsed_seconds >= limit)
    }

    /// Whether no limit would be exceeded. A limit that is used up does not refuse what does not count towards it.
    pub(crate) fn can_afford(&self, worst: Amount) -> bool {
        let committed = self.committed();
        let fits = |limit: Option<u64>, committed: u64, asked: u64| {
            asked == 0 || limit.is_none_or(|limit| committed.saturating_add(asked) <= limit)
        };
        let Allowance { model_calls, tokens, money, attempts, seconds: _ } = self.limits;
        fits(model_calls, committed.model_calls, worst.model_calls)
            && fits(tokens, committed.tokens, worst.tokens)
            && fits(money.map(|money| money.0), committed.money.0, worst.money.0)
            && fits(attempts, committed.attempts, worst.attempts)
    }

    /// Reserves the worst case of a command before it is executed, if it can be afforded.
    pub(crate) fn reserve(&mut self, id: CommandId, worst: Amount) -> bool {
        let is_reserved = !self.reserved.contains_key(&id) && self.can_afford(worst);
        if is_reserved {
            self.reserved.insert(id, worst);
        }
        is_reserved
    }

    /// Replaces a reservation by what the command cost: the worst case where that is not known. A command without a
    /// reservation costs nothing.
    pub(crate) fn settle(&mut self, id: CommandId, actual: Option<Amount>) {
        if let Some(worst) = self.reserved.remove(&id) {
            self.spent = self.spent.plus(actual.unwrap_or(worst));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(seq: u64) -> CommandId {
        CommandId { seq, index: 0 }
    }

    fn calls(model_calls: u64) -> Amount {
        Amount { model_calls, ..Amount::default() }
    }

    fn limited(model_calls: u64) -> Budget {
        Budget::new(Allowance { model_calls: Some(model_calls), ..Allowance::default() })
    }

    #[test]
    fn a_call_that_could_overshoot_is_not_made() {
        let mut budget = limited(3);
        assert!(budget.reserve(id(1), calls(2)));
        assert!(!budget.reserve(id(2), calls(2)));
        budget.settle(id(1), Some(calls(1)));
        assert!(budget.reserve(id(2), calls(2)), "what was not needed is free again");
        assert!(!budget.reserve(id(2), calls(0)), "it is reserved already");
    }

    #[test]
    fn what_a_crash_left_open_counts_in_full() {
        let mut budget = limited(3);
        assert!(budget.reserve(id(1), calls(3)));
        budget.settle(id(1), None);
        assert_eq!(budget.spent, calls(3));
        budget.settle(id(1), None);
        assert_eq!(budget.spent, calls(3), "there is no reservation any more");
    }

    #[test]
    fn a_limit_that_is_used_up_does_not_refuse_what_is_free() {
        let mut budget = limited(0);
        assert!(budget.reserve(id(1), Amount { attempts: 1, ..Amount::default() }));
        budget.limits = Allowance { money: Some(MicroUsd::from_usd(0.5)), ..Allowance::default() };
        let half = Amount { money: MicroUsd::from_usd(0.5), ..Amount::default() };
        assert!(budget.reserve(id(2), half));
        assert!(!budget.reserve(id(3), Amount { money: MicroUsd(1), ..half }));
        assert!(!budget.is_out_of_time(u64::MAX));
        budget.settle(id(2), Some(half));
        budget.limits = Allowance { money: Some(MicroUsd::from_usd(0.25)), ..Allowance::default() };
        assert!(budget.reserve(id(3), calls(1)), "more is spent than the new limit");
    }

    #[test]
    fn money_is_rounded_up_to_whole_millionths() {
        let table = [
            (0.0, 0),
            (-1.0, 0),
            (f64::NAN, 0),
            (1e-9, 1),
            (0.25, 250_000),
            (2.000_000_5, 2_000_001),
            (f64::INFINITY, u64::MAX),
        ];
        for (usd, micro) in table {
            assert_eq!(MicroUsd::from_usd(usd), MicroUsd(micro), "{usd}");
        }
    }

    #[test]
    fn the_time_is_used_up_when_the_limit_is_reached() {
        let budget = Budget::new(Allowance { seconds: Some(60), ..Allowance::default() });
        assert_eq!([0, 59, 60, 61].map(|seconds| budget.is_out_of_time(seconds)), [false, false, true, true]);
    }

    proptest! {
        /// Catches a reservation that forgets the others, and a settlement that leaves its reservation behind.
        #[test]
        fn limits_hold_for_every_order(
            limit in 0u64..40, steps in proptest::collection::vec((0u64..8, 0u64..12, 0u64..12), 0..60)
        ) {
            let mut budget = limited(limit);
            let mut open = BTreeMap::new();
            for (seq, worst, actual) in steps {
                match open.remove(&seq) {
                    Some(worst) => budget.settle(id(seq), Some(calls(actual.min(worst)))),
                    None => if budget.reserve(id(seq), calls(worst)) {
                        open.insert(seq, worst);
                    },
                }
                prop_assert!(budget.committed().model_calls <= limit);
                let reserved: u64 = open.values().sum();
                prop_assert_eq!(budget.committed().model_calls, budget.spent.model_calls + reserved);
            }
        }
    }
}
