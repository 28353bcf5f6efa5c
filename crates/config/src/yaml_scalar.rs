//! What an unquoted word of YAML means: null, a boolean, a number or text, by the core schema. Quoted words never get here:
//! they are always text.
//!
//! `yes`, `on` and `off` are text; only a caller that expects a boolean may read them as one.

use serde_json::Number;

use crate::schema::excerpt;
use crate::tree::Content;

/// The value of an unquoted word, or why it has none.
pub(crate) fn resolve(word: &str) -> Result<Content, String> {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Content::Null),
        "true" | "True" | "TRUE" => return Ok(Content::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Content::Bool(false)),
        _ => {}
    }
    if is_special_float(word) {
        return Err(unusable_number(word));
    }
    if let Some(digits) = word.strip_prefix("0x").filter(|digits| all(digits, |c| c.is_ascii_hexdigit())) {
        return radix(word, digits, 16);
    }
    if let Some(digits) = word.strip_prefix("0o").filter(|digits| all(digits, |c| matches!(c, '0'..='7'))) {
        return radix(word, digits, 8);
    }
    if is_decimal(word) { decimal(word) } else { Ok(Content::Text(word.to_owned())) }
}

fn all(digits: &str, wanted: fn(char) -> bool) -> bool {
    !digits.is_empty() && digits.chars().all(wanted)
}

fn unusable_number(word: &str) -> String {
    format!("the number {} is too large or not finite; quote it if it is text", excerpt(word))
}

fn is_special_float(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(word, ".nan" | ".NaN" | ".NAN")
}

fn radix(word: &str, digits: &str, radix: u32) -> Result<Content, String> {
    u64::from_str_radix(digits, radix)
        .map(|value| Content::Number(Number::from(value)))
        .map_err(|_| unusable_number(word))
}

/// Whether a word is an optional sign, digits with at most one point among or around them, and an optional
/// exponent. Rust's own parser accepts more (`inf`, `nan`).
fn is_decimal(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| all(text, |c| c.is_ascii_digit());
    let mantissa_is_number = match mantissa.split_once('.') {
        None => digits(mantissa),
        Some(("", fraction)) => digits(fraction),
        Some((whole, "")) => digits(whole),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
    };
    mantissa_is_number && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

fn decimal(word: &str) -> Result<Content, String> {
    let unplussed = word.strip_prefix('+').unwrap_or(word);
    if let Ok(value) = unplussed.parse::<u64>() {
        return Ok(Content::Number(Number::from(value)));
    }
    if let Ok(value) = unplussed.parse::<i64>() {
        return Ok(Content::Number(Number::from(value)));
    }
    match unplussed.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Content::from(value)),
        Ok(_) | Err(_) => Err(unusable_number(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::tree::Node;

    #[test]
    fn unquoted_words() {
        for (word, expected) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("NULL", json!(null)),
            ("True", json!(true)),
            ("false", json!(false)),
            ("yes", json!("yes")),
            ("off", json!("off")),
            ("5", json!(5)),
            ("+5", json!(5)),
            ("-5", json!(-5)),
            ("-0", json!(0)),
            ("007", json!(7)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("0x", json!("0x")),
            ("0o9", json!("0o9")),
            ("-0x1", json!("-0x1")),
            ("1.0", json!(1)),
            ("1.", json!(1)),
            (".5", json!(0.5)),
            ("-1.5e2", json!(-150)),
            ("1e-2", json!(0.01)),
            (".", json!(".")),
            ("e5", json!("e5")),
            ("1.2.3", json!("1.2.3")),
            ("1e", json!("1e")),
            ("--1", json!("--1")),
            ("inf", json!("inf")),
            ("nan", json!("nan")),
            ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
            ("2024-01-01", json!("2024-01-01")),
        ] {
            assert_eq!(Value::from(&Node::new(resolve(word).unwrap())), expected, "{word}");
        }
    }

    #[test]
    fn infinite_and_too_large_numbers_are_refused() {
        for word in [".inf", "-.INF", "+.inf", ".nan", ".NaN", "1e999", "0xFFFFFFFFFFFFFFFFF"] {
            assert_eq!(resolve(word), Err(unusable_number(word)), "{word}");
        }
    }

    proptest! {
        /// Catches: dropping a sign, or losing digits on the way through a floating-point number.
        #[test]
        fn every_integer_reads_back(value in any::<i64>()) {
            prop_assert_eq!(resolve(&value.to_string()), Ok(Content::Number(Number::from(value))));
        }
    }
}
