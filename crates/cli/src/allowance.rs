//! The limits of `--budget`, such as `attempts=5,time=2h`, and for `resume` more of them: `attempts=+3`.

use fixpoint_vocabulary::settings::BudgetSettings;
use fixpoint_vocabulary::usage::{Allowance, MicroUsd};

use crate::failure::Failure;

pub(crate) fn from_settings(budget: &BudgetSettings) -> Allowance {
    Allowance {
        model_calls: budget.model_calls,
        tokens: budget.tokens,
        money: budget.usd.map(MicroUsd::from_usd),
        attempts: budget.attempts,
        seconds: budget.wall_time,
    }
}

/// Overwrites the limits of the settings that were typed.
pub(crate) fn apply(budget: &mut BudgetSettings, typed: Allowance) {
    budget.model_calls = typed.model_calls.or(budget.model_calls);
    budget.tokens = typed.tokens.or(budget.tokens);
    budget.usd = typed.money.map(MicroUsd::usd).or(budget.usd);
    budget.attempts = typed.attempts.or(budget.attempts);
    budget.wall_time = typed.seconds.or(budget.wall_time);
}

/// A loop may limit attempts and time only: most agents do not report what they spend.
pub(crate) fn parse_for_loop(text: &str) -> Result<Allowance, Failure> {
    let typed = parse(text)?;
    let for_loop = Allowance { attempts: typed.attempts, seconds: typed.seconds, ..Allowance::default() };
    if typed != for_loop {
        return Err(wrong(text, "a loop cannot see what its agent spends; limit `attempts` or `time`"));
    }
    Ok(typed)
}

/// A `+` before a number is accepted and has no meaning of its own: the command decides whether the limits are added.
pub(crate) fn parse(text: &str) -> Result<Allowance, Failure> {
    let mut allowance = Allowance::default();
    if text.split(',').all(|part| part.trim().is_empty()) {
        return Err(wrong(text, "expected at least one limit"));
    }
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or(("", part));
        let value = value.trim().trim_start_matches('+');
        let (name, value) = match name.trim() {
            "" if !value.starts_with(|letter: char| letter.is_ascii_digit() || letter == '$') => {
                return Err(wrong(
                    part,
                    "expected limits such as attempts=N, time=2h, usd=5, tokens=N or calls=N",
                ));
            }
            "" => split_unit(value),
            name => (name, value),
        };
        match name {
            "attempts" => allowance.attempts = Some(number(part, value)?),
            "time" | "wall_time" => allowance.seconds = Some(seconds(part, value)?),
            "usd" => allowance.money = Some(money(part, value)?),
            "tokens" => allowance.tokens = Some(number(part, value)?),
            "model_calls" | "calls" => allowance.model_calls = Some(number(part, value)?),
            _ => return Err(wrong(part, "the limits are `attempts`, `time`, `usd`, `tokens` and `calls`")),
        }
    }
    Ok(allowance)
}

/// A limit without a name has its unit behind the number, as in `3attempts`; without one, it is a time.
fn split_unit(value: &str) -> (&'static str, &str) {
    let units = ["attempts", "usd", "tokens", "calls"];
    let named = units.into_iter().find_map(|unit| value.strip_suffix(unit).map(|value| (unit, value.trim())));
    named.unwrap_or(("time", value))
}

fn money(part: &str, value: &str) -> Result<MicroUsd, Failure> {
    let usd: Option<f64> = value.trim_start_matches('$').parse().ok();
    match usd.filter(|usd| usd.is_finite() && *usd >= 0.0) {
        Some(usd) => Ok(MicroUsd::from_usd(usd)),
        None => Err(wrong(part, "expected an amount in US dollars")),
    }
}

fn wrong(part: &str, why: &str) -> Failure {
    Failure::BadInput(format!("--budget `{part}`: {why}, for example `attempts=5,time=2h`"))
}

fn number(part: &str, value: &str) -> Result<u64, Failure> {
    value.parse().map_err(|_| wrong(part, "expected a whole number"))
}

fn seconds(part: &str, value: &str) -> Result<u64, Failure> {
    let unit = value.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = value.strip_suffix(unit).unwrap_or(value);
    let factor = match unit {
        "s" | "" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong(part, "a time ends with s, m, h or d")),
    };
    number(part, digits).map(|number| number.saturating_mul(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parsed() {
        for (text, attempts, seconds) in [
            ("attempts=5", Some(5), None),
            ("attempts=5, time=2h", Some(5), Some(7200)),
            ("time=+30m", None, Some(1800)),
            ("+3attempts", Some(3), None),
            ("90", None, Some(90)),
            ("1d", None, Some(86_400)),
        ] {
            assert_eq!(
                parse(text).unwrap(),
                Allowance { attempts, seconds, ..Allowance::default() },
                "{text}"
            );
        }
    }

    #[test]
    fn errors_show_what_was_typed_and_an_example() {
        for text in ["attempts=many", "time=2y", "apples=3", "+2usd", "tokens=5", "", " , "] {
            let message = parse_for_loop(text).unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("attempts=5,time=2h"), "{message}");
        }
    }

    #[test]
    fn runs_may_limit_what_models_spend() {
        let spent = |model_calls, tokens, usd: Option<f64>| Allowance {
            model_calls,
            tokens,
            money: usd.map(MicroUsd::from_usd),
            ..Allowance::default()
        };
        assert_eq!(parse("+2usd").unwrap(), spent(None, None, Some(2.0)));
        assert_eq!(parse("usd=0.25, tokens=5").unwrap(), spent(None, Some(5), Some(0.25)));
        assert_eq!(parse("calls=7").unwrap(), spent(Some(7), None, None));
        assert!(parse("usd=nan").is_err() && parse("usd=-1").is_err());
    }
}
