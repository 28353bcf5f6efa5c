//! What the run has spent and reserved, and whether one more thing can be afforded.
//!
//! A question is reserved at its worst case before it is asked, an attempt as one attempt with its price. Work that has
//! begun is never cut short for the budget.

use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::usage::{MicroUsd, Usage};
use fixpoint_vocabulary::work::{Allowance, Command, CommandEnd, CommandId, CommandResult, Event};

use super::{Run, Turn};
use crate::budget::{Amount, Budget};

#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    budget: Budget,
    elapsed_ms: u64,
    /// What models used, requests included.
    pub models: Usage,
    /// What agents say they used.
    pub agents: Usage,
}

impl Ledger {
    pub(super) fn new(allowed: Allowance) -> Self {
        let (models, agents) = (Usage::default(), Usage::default());
        Self { budget: Budget::new(allowed), elapsed_ms: 0, models, agents }
    }

    pub const fn spent(&self) -> Amount {
        self.budget.spent
    }

    /// What was spent or reserved.
    pub fn committed(&self) -> Amount {
        self.budget.committed()
    }

    pub const fn allowed(&self) -> Allowance {
        self.budget.limits
    }

    /// The money that may still be spent; `None` where it is not limited.
    pub fn money_left(&self) -> Option<MicroUsd> {
        self.allowed().money.map(|allowed| MicroUsd(allowed.0.saturating_sub(self.spent().money.0)))
    }

    /// Seconds of work.
    pub const fn seconds(&self) -> u64 {
        self.elapsed_ms / 1000
    }
}

impl Run {
    /// What a command may cost at worst; `None` where it costs nothing.
    fn worst(&self, command: &Command) -> Option<Amount> {
        match command {
            Command::RunAttempt(_) => {
                let price = self.settings().and_then(|settings| {
                    settings.agent.model.as_ref().and_then(|model| settings.models.prices.get(model))
                });
                let money = price.map_or(MicroUsd(0), |price| MicroUsd::from_usd(price.per_attempt));
                // Where the cost of an attempt is not known, none begins once the money is used up.
                let least = MicroUsd(u64::from(self.ledger.allowed().money.is_some()));
                let money = money.max(least);
                Some(Amount { attempts: 1, money, ..Amount::default() })
            }
            Command::Ask(ask) => {
                let models = &self.settings()?.models;
                let worst = Usage {
                    calls: 1,
                    cache_write_tokens: u64::from(models.max_prompt_tokens),
                    output_tokens: u64::from(models.max_output_tokens),
                    ..Usage::default()
                };
                let price = self.plan_options().and_then(|options| options.prices.get(&ask.about.role()));
                let money = price.map_or(MicroUsd(0), |price| dearest(price).of(&worst));
                Some(Amount { model_calls: 1, tokens: worst.tokens(), money, attempts: 0 })
            }
            Command::TakeBase
            | Command::RunChecks(_)
            | Command::RestorePaths(_)
            | Command::FindProtected(_)
            | Command::Merge(_)
            | Command::AskPerson(_)
            | Command::FindCachedPlan
            | Command::StorePlan
            | Command::Deliver(_) => None,
        }
    }

    /// Whether a command can be paid for, whatever else is in flight.
    pub(super) fn can_afford(&self, command: &Command) -> bool {
        let Some(worst) = self.worst(command) else { return true };
        let Ledger { budget, .. } = &self.ledger;
        !budget.is_out_of_time(self.ledger.seconds()) && budget.can_afford(worst)
    }

    /// Reserves what a command may cost.
    pub(super) fn reserve(&mut self, id: CommandId, command: &Command) {
        if let Some(worst) = self.worst(command) {
            self.ledger.budget.reserve(id, worst);
        }
    }

    /// Counts what was reserved for a command as spent: its cost will never be known.
    pub(super) fn write_off(&mut self, id: CommandId) {
        self.ledger.budget.settle(id, None);
    }

    /// Records how time went by and what a command that ended cost.
    pub(super) fn settle(&mut self, turn: Turn, event: &Event) {
        self.ledger.elapsed_ms = self.ledger.elapsed_ms.saturating_add(turn.elapsed_ms);
        match event {
            Event::Ended { command, end, .. } => {
                let paid = self.ledger.paid(end);
                self.ledger.budget.settle(*command, paid);
            }
            Event::Resumed { more, .. } => {
                self.ledger.budget.limits = self.ledger.budget.limits.raised(*more);
            }
            Event::Started | Event::StopRequested => {}
        }
    }

    /// A decision with its command deferred, if it cannot be afforded.
    pub(super) fn within_budget(&self, decision: crate::task_run::Decision) -> crate::task_run::Decision {
        match &decision.command {
            Some(command) if !self.can_afford(command) => decision.deferred(),
            Some(_) | None => decision,
        }
    }
}

impl Ledger {
    /// Counts what a command used and returns its cost; `None` where it is not known and the worst case is assumed.
    fn paid(&mut self, end: &CommandEnd) -> Option<Amount> {
        match end {
            CommandEnd::Completed(CommandResult::Answer(answer)) => {
                self.models += answer.usage;
                let usage = answer.usage;
                let money = usage.cost.unwrap_or_default();
                Some(Amount { model_calls: 1, tokens: usage.tokens(), money, attempts: 0 })
            }
            CommandEnd::Completed(CommandResult::Attempt(left)) => {
                let usage = left.usage.unwrap_or_default();
                self.agents += usage;
                let money = usage.cost?;
                Some(Amount { attempts: 1, money, ..Amount::default() })
            }
            CommandEnd::Completed(_)
            | CommandEnd::Failed { .. }
            | CommandEnd::Cancelled
            | CommandEnd::Lost => None,
        }
    }
}

/// The price with what is read at its dearest.
fn dearest(price: &Price) -> Price {
    let write = price.cache_write_per_million.unwrap_or(price.input_per_million);
    Price { cache_write_per_million: Some(write.max(price.input_per_million)), ..price.clone() }
}
