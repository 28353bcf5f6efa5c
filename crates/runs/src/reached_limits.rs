//! Which limits of the budget keep a run from going on, and how to raise them.
//!
//! The ledger does not record which limit refused a command, so this compares what is spent with what is allowed.

use fixpoint_decide::run::{Run, TaskSource};
use fixpoint_vocabulary::usage::Allowance;
use fixpoint_vocabulary::{Lang, counted};

use crate::words::say;

/// The limits that are reached, in words, and the `--budget` that raises each.
pub(crate) struct ReachedLimits {
    pub(crate) limits: String,
    pub(crate) more: String,
}

pub(crate) fn reached_limits(run: &Run, lang: Lang) -> ReachedLimits {
    let (ledger, spent) = (run.ledger(), run.ledger().committed());
    let Allowance { model_calls, tokens, money, attempts, seconds } = ledger.allowed();
    // A question is only asked if its worst case fits.
    let question = match (&run.options().tasks, run.spec()) {
        (TaskSource::Planned(_), Some(spec)) => {
            let models = &spec.settings.models;
            u64::from(models.max_prompt_tokens) + u64::from(models.max_output_tokens)
        }
        (TaskSource::Planned(_), None) | (TaskSource::Given(_), _) => 0,
    };
    let reached = |limit: Option<u64>, spent: u64| limit.filter(|limit| spent >= *limit);
    let mut all: Vec<(String, &str)> = Vec::new();
    all.extend(
        reached(attempts, spent.attempts)
            .map(|limit| (say(lang, counted(limit, "attempt"), format!("試行{limit}回")), "attempts=+3")),
    );
    all.extend(
        reached(seconds, ledger.seconds())
            .map(|limit| (say(lang, format!("{limit} s"), format!("{limit}秒")), "time=+30m")),
    );
    all.extend(reached(model_calls, spent.model_calls).map(|limit| {
        (say(lang, counted(limit, "model call"), format!("モデル呼び出し{limit}回")), "calls=+50")
    }));
    let of_tokens = tokens.filter(|limit| question > 0 && spent.tokens.saturating_add(question) > *limit);
    all.extend(
        of_tokens
            .map(|limit| (say(lang, counted(limit, "token"), format!("{limit}トークン")), "tokens=+500000")),
    );
    // The worst case of the next step may cost more than is left, so that money is the limit where no other is.
    let of_money = money.filter(|limit| all.is_empty() || spent.money >= *limit);
    all.extend(of_money.map(|limit| (format!("${:.2}", limit.usd()), "usd=+2")));
    let (limits, more): (Vec<String>, Vec<&str>) = all.into_iter().unzip();
    ReachedLimits { limits: limits.join(&say(lang, ", ", "、")), more: more.join(",") }
}
