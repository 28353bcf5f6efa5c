//! Limits as they are typed: `attempts=5,time=2h`, and more of them: `attempts=+3`.

use fixpoint_vocabulary::work::Allowance;

use crate::failure::Failure;

/// Reads limits. A `+` before a number is accepted and means nothing else: the command says whether it adds.
pub(crate) fn read(text: &str) -> Result<Allowance, Failure> {
    let mut allowance = Allowance::default();
    if text.split(',').all(|part| part.trim().is_empty()) {
        return Err(wrong(text, "it names no limit"));
    }
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or(("", part));
        let value = value.trim().trim_start_matches('+');
        match name.trim() {
            "attempts" => allowance.attempts = Some(number(part, value)?),
            "time" | "wall_time" => allowance.seconds = Some(seconds(part, value)?),
            "" if value.ends_with("attempts") => {
                allowance.attempts = Some(number(part, value.trim_end_matches("attempts").trim())?);
            }
            "" if !value.ends_with("usd") => allowance.seconds = Some(seconds(part, value)?),
            "usd" | "tokens" | "model_calls" | "" => {
                return Err(wrong(
                    part,
                    "what a command spends on models cannot be seen; limit attempts or time",
                ));
            }
            _ => return Err(wrong(part, "there are `attempts` and `time`")),
        }
    }
    Ok(allowance)
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
            assert_eq!(read(text).unwrap(), Allowance { attempts, seconds }, "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_says_what_one_is() {
        for text in ["attempts=many", "time=2y", "apples=3", "+2usd", "tokens=5", "", " , "] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("attempts=5,time=2h"), "{message}");
        }
    }
}
