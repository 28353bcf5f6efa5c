//! Numbers with their nouns in English. Japanese needs none: its counters do not change with the number.

use crate::prelude::*;
use core::fmt::Display;

/// A number with its noun, in the plural unless it is one: `1 attempt`, `0 attempts`, `2 checks`.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// A number with thousands separators: `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let table = [
            ("none", counted(0, "attempt"), "0 attempts"),
            ("one", counted(1u64, "attempt"), "1 attempt"),
            ("two", counted(2usize, "check run"), "2 check runs"),
            ("grouped", counted("1,001", "token"), "1,001 tokens"),
        ];
        for (name, shown, expected) in table {
            assert_eq!(shown, expected, "{name}");
        }
    }
}
