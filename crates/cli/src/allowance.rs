//! Limits as they are typed: `attempts=5,time=2h`, and more of them: `attempts=+3`.

use fixpoint_vocabulary::settings::BudgetSettings;
use fixpoint_vocabulary::usage::{Allowance, MicroUsd};

use crate::failure::Failure;

/// The limits of the configuration.
pub(crate) fn of(budget: &BudgetSettings) -> Allowance {
    Allowance {
        model_calls: budget.model_calls,
        tokens: budget.tokens,
        money: budget.usd.map(MicroUsd::from_usd),
        attempts: budget.attempts,
        seconds: budget.wall_time,
    }
}

/// Sets the limits that were typed.
pub(crate) fn set(budget: &mut BudgetSettings, typed: Allowance) {
    budget.model_calls = typed.model_calls.or(budget.model_calls);
    budget.tokens = typed.tokens.or(budget.tokens);
    budget.usd = typed.money.map(MicroUsd::usd).or(budget.usd);
    budget.attempts = typed.attempts.or(budget.attempts);
    budget.wall_time = typed.seconds.or(budget.wall_time);
}

/// Reads limits on agents alone: what a command spends on models cannot be seen.
pub(crate) fn read_for_agents(text: &str) -> Result<Allowance, Failure> {
    let typed = read(text)?;
    let of_agents = Allowance { attempts: typed.attempts, seconds: typed.seconds, ..Allowance::default() };
    if typed != of_agents {
        return Err(wrong(text, "what a command spends on models cannot be seen; limit attempts or time"));
    }
    Ok(typed)
}

/// Reads limits. A `+` before a number is accepted and means nothing else: the command says whether it adds.
pub(crate) fn read(text: &str) -> Result<Allowance, Failure> {
    let mut allowance = Allowance::default();
    if text.split(',').all(|part| part.trim().is_empty()) {
        return Err(wrong(text, "it names no limit"));
    }
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or(("", part));
        let value = value.trim().trim_start_matches('+');
        let (name, value) = match name.trim() {
            "" => unnamed(value),
            name => (name, value),
        };
        match name {
            "attempts" => allowance.attempts = Some(number(part, value)?),
            "time" | "wall_time" => allowance.seconds = Some(seconds(part, value)?),
            "usd" => allowance.money = Some(money(part, value)?),
            "tokens" => allowance.tokens = Some(number(part, value)?),
            "model_calls" | "calls" => allowance.model_calls = Some(number(part, value)?),
            _ => return Err(wrong(part, "there are `attempts`, `time`, `usd`, `tokens` and `calls`")),
        }
    }
    Ok(allowance)
}

/// What a limit without a name means: the word behind its number, or a time.
fn unnamed(value: &str) -> (&'static str, &str) {
    let words = ["attempts", "usd", "tokens", "calls"];
    let named = words.into_iter().find_map(|word| value.strip_suffix(word).map(|value| (word, value.trim())));
    named.unwrap_or(("time", value))
}

fn money(part: &str, value: &str) -> Result<MicroUsd, Failure> {
    let usd: f64 =
        value.trim_start_matches('$').parse().map_err(|_| wrong(part, "a sum of dollars is needed"))?;
    if usd.is_finite() && usd >= 0.0 {
        Ok(MicroUsd::from_usd(usd))
    } else {
        Err(wrong(part, "a sum of dollars is needed"))
    }
}

fn wrong(part: &str, why: &str) -> Failure {
    Failure::BadInput(format!("--budget `{part}`: {why}, such as `attempts=5,time=2h`"))
}

fn number(part: &str, value: &str) -> Result<u64, Failure> {
    value.parse().map_err(|_| wrong(part, "a whole number is needed"))
}

fn seconds(part: &str, value: &str) -> Result<u64, Failure> {
    let unit = value.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = value.strip_suffix(unit).unwrap_or(value);
    let factor = match unit {
        "s" | "" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong(part, "a time ends in s, m, h or d")),
    };
    number(part, digits).map(|number| number.saturating_mul(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        for (text, attempts, seconds) in [
            ("attempts=5", Some(5), None),
            ("attempts=5, time=2h", Some(5), Some(7200)),
            ("time=+30m", None, Some(1800)),
            ("+3attempts", Some(3), None),
            ("90", None, Some(90)),
            ("1d", None, Some(86_400)),
        ] {
            assert_eq!(
                read(text).unwrap(),
                Allowance { attempts, seconds, ..Allowance::default() },
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_limit_says_what_one_is() {
        for text in ["attempts=many", "time=2y", "apples=3", "+2usd", "tokens=5", "", " , "] {
            let message = read_for_agents(text).unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("attempts=5,time=2h"), "{message}");
        }
    }

    #[test]
    fn what_models_spend_can_be_limited_too() {
        let spent = |model_calls, tokens, usd: Option<f64>| Allowance {
            model_calls,
            tokens,
            money: usd.map(MicroUsd::from_usd),
            ..Allowance::default()
        };
        assert_eq!(read("+2usd").unwrap(), spent(None, None, Some(2.0)));
        assert_eq!(read("usd=0.25, tokens=5").unwrap(), spent(None, Some(5), Some(0.25)));
        assert_eq!(read("calls=7").unwrap(), spent(Some(7), None, None));
        assert!(read("usd=nan").is_err() && read("usd=-1").is_err());
    }
}
