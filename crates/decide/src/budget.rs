//! What a run has spent, what it has set aside, and whether one more thing can be afforded.
//!
//! A call is reserved at its worst case before it is made and settled at what it cost. Invariant: as long as
//! nothing costs more than was reserved for it, spent and reserved together never exceed a limit.

use alloc::collections::BTreeMap;

use fixpoint_vocabulary::usage::{Allowance, MicroUsd};
use serde::{Deserialize, Serialize};

/// What something costs, or may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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

    const fn of(self, resource: Resource) -> u64 {
        match resource {
            Resource::ModelCalls => self.model_calls,
            Resource::Tokens => self.tokens,
            Resource::Money => self.money.0,
            Resource::Attempts => self.attempts,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    ModelCalls,
    Tokens,
    /// Money, in millionths of a US dollar.
    Money,
    Attempts,
}

impl Resource {
    const ALL: [Self; 4] = [Self::ModelCalls, Self::Tokens, Self::Money, Self::Attempts];
}

/// The name of a reservation, given by whoever makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReservationId(pub u64);

/// Why something cannot be afforded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It could overshoot a limit.
    #[error("{resource:?}: {asked} more could exceed the limit of {limit} ({committed} spent or reserved)")]
    OverLimit {
        resource: Resource,
        limit: u64,
        /// What is spent or set aside already.
        committed: u64,
        /// What this would need at worst.
        asked: u64,
    },
    /// The name is in use.
    #[error("reservation {0:?} exists already")]
    Exists(ReservationId),
}

/// A reservation that was never made, or is settled already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no reservation {0:?}")]
pub struct NoReservation(pub ReservationId);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    limits: Allowance,
    spent: Amount,
    reserved: BTreeMap<ReservationId, Amount>,
}

impl Budget {
    /// A budget nothing has been spent of.
    pub const fn new(limits: Allowance) -> Self {
        let spent = Amount { model_calls: 0, tokens: 0, money: MicroUsd(0), attempts: 0 };
        Self { limits, spent, reserved: BTreeMap::new() }
    }

    pub const fn spent(&self) -> Amount {
        self.spent
    }

    /// What has been spent or set aside.
    pub fn committed(&self) -> Amount {
        self.reserved.values().copied().fold(self.spent, Amount::plus)
    }

    /// Other limits, as a person set them; what is spent stays spent.
    pub fn relimit(&mut self, limits: Allowance) {
        self.limits = limits;
    }

    /// Whether the time is used up.
    pub fn is_out_of_time(&self, elapsed_seconds: u64) -> bool {
        self.limits.seconds.is_some_and(|limit| elapsed_seconds >= limit)
    }

    /// Sets the worst case of something aside, before it is done.
    pub fn reserve(&mut self, id: ReservationId, worst: Amount) -> Result<(), Refusal> {
        if self.reserved.contains_key(&id) {
            return Err(Refusal::Exists(id));
        }
        let committed = self.committed();
        for resource in Resource::ALL {
            let (committed, asked) = (committed.of(resource), worst.of(resource));
            match self.limit(resource) {
                Some(limit) if asked > 0 && committed.saturating_add(asked) > limit => {
                    return Err(Refusal::OverLimit { resource, limit, committed, asked });
                }
                Some(_) | None => {}
            }
        }
        self.reserved.insert(id, worst);
        Ok(())
    }

    /// Replaces a reservation by what the thing cost.
    pub fn settle(&mut self, id: ReservationId, actual: Amount) -> Result<(), NoReservation> {
        self.reserved.remove(&id).ok_or(NoReservation(id))?;
        self.spent = self.spent.plus(actual);
        Ok(())
    }

    /// Counts a reservation as spent in full, where it is not known what the thing cost.
    pub fn write_off(&mut self, id: ReservationId) -> Result<(), NoReservation> {
        let worst = self.reserved.get(&id).copied().ok_or(NoReservation(id))?;
        self.settle(id, worst)
    }

    fn limit(&self, resource: Resource) -> Option<u64> {
        match resource {
            Resource::ModelCalls => self.limits.model_calls,
            Resource::Tokens => self.limits.tokens,
            Resource::Money => self.limits.money.map(|money| money.0),
            Resource::Attempts => self.limits.attempts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn calls(model_calls: u64) -> Amount {
        Amount { model_calls, ..Amount::default() }
    }

    fn limited(model_calls: u64) -> Budget {
        Budget::new(Allowance { model_calls: Some(model_calls), ..Allowance::default() })
    }

    #[test]
    fn a_call_that_could_overshoot_is_not_made() {
        let mut budget = limited(3);
        assert_eq!(budget.reserve(ReservationId(1), calls(2)), Ok(()));
        let refused = Refusal::OverLimit { resource: Resource::ModelCalls, limit: 3, committed: 2, asked: 2 };
        assert_eq!(budget.reserve(ReservationId(2), calls(2)), Err(refused));
        assert_eq!(budget.settle(ReservationId(1), calls(1)), Ok(()));
        assert_eq!(budget.reserve(ReservationId(2), calls(2)), Ok(()), "what was not needed is free again");
        assert_eq!(budget.reserve(ReservationId(2), calls(0)), Err(Refusal::Exists(ReservationId(2))));
    }

    #[test]
    fn what_a_crash_left_open_counts_in_full() {
        let mut budget = limited(3);
        budget.reserve(ReservationId(1), calls(3)).unwrap();
        assert_eq!(budget.write_off(ReservationId(1)), Ok(()));
        assert_eq!(budget.spent(), calls(3));
        assert_eq!(budget.write_off(ReservationId(1)), Err(NoReservation(ReservationId(1))));
    }

    #[test]
    fn a_limit_that_is_used_up_does_not_refuse_what_is_free() {
        let mut budget = limited(0);
        assert!(budget.reserve(ReservationId(1), Amount { attempts: 1, ..Amount::default() }).is_ok());
        budget.relimit(Allowance { money: Some(MicroUsd::from_usd(0.5)), ..Allowance::default() });
        let half = Amount { money: MicroUsd::from_usd(0.5), ..Amount::default() };
        assert!(budget.reserve(ReservationId(2), half).is_ok());
        assert!(budget.reserve(ReservationId(3), Amount { money: MicroUsd(1), ..half }).is_err());
        assert!(!budget.is_out_of_time(u64::MAX));
        budget.settle(ReservationId(2), half).unwrap();
        budget.relimit(Allowance { money: Some(MicroUsd::from_usd(0.25)), ..Allowance::default() });
        assert_eq!(budget.reserve(ReservationId(3), calls(1)), Ok(()), "more is spent than the new limit");
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
            for (id, worst, actual) in steps {
                let id = ReservationId(id);
                match open.remove(&id) {
                    Some(worst) => budget.settle(id, calls(actual.min(worst))).unwrap(),
                    None => if budget.reserve(id, calls(worst)).is_ok() {
                        open.insert(id, worst);
                    },
                }
                prop_assert!(budget.committed().model_calls <= limit);
                let reserved: u64 = open.values().sum();
                prop_assert_eq!(budget.committed().model_calls, budget.spent().model_calls + reserved);
            }
        }
    }
}
