//! Limits of numbers and lengths: whether a value is within them, and how they are written.
//!
//! Large integers are compared without rounding. Limits are inclusive; an absent one limits nothing.

use core::cmp::Ordering;

use serde_json::Number;

use super::rule::{Length, Range};

impl Range {
    pub(super) fn holds(&self, number: &Number) -> bool {
        self.minimum.as_ref().is_none_or(|minimum| compare(number, minimum) != Ordering::Less)
            && self.maximum.as_ref().is_none_or(|maximum| compare(number, maximum) != Ordering::Greater)
    }

    /// `noun` has its article: "a number" gives "a number from 1 to 10".
    pub(crate) fn describe(&self, noun: &str) -> String {
        with_limits(noun, self.minimum.as_ref(), self.maximum.as_ref())
    }
}

impl Length {
    pub(super) fn holds(self, length: usize) -> bool {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        self.minimum.is_none_or(|minimum| minimum <= length)
            && self.maximum.is_none_or(|maximum| length <= maximum)
    }

    /// `unit` is a plural: "items" gives "1 to 10 items".
    pub(crate) fn describe(self, unit: &str) -> String {
        match (self.minimum, self.maximum) {
            (Some(minimum), Some(maximum)) => format!("{minimum} to {maximum} {unit}"),
            (Some(minimum), None) => format!("at least {minimum} {}", counted(minimum, unit)),
            (None, Some(maximum)) => format!("at most {maximum} {}", counted(maximum, unit)),
            (None, None) => format!("any number of {unit}"),
        }
    }
}

/// The unit for a number; `plural` ends in "s".
pub(super) fn counted(count: u64, plural: &str) -> &str {
    if count == 1 { plural.strip_suffix('s').unwrap_or(plural) } else { plural }
}

fn with_limits(noun: &str, minimum: Option<&Number>, maximum: Option<&Number>) -> String {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!("{noun} from {minimum} to {maximum}"),
        (Some(minimum), None) => format!("{noun} of at least {minimum}"),
        (None, Some(maximum)) => format!("{noun} of at most {maximum}"),
        (None, None) => noun.to_owned(),
    }
}

fn compare(left: &Number, right: &Number) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => {
            let (left, right) = (left.as_f64().unwrap_or_default(), right.as_f64().unwrap_or_default());
            left.total_cmp(&right)
        }
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(minimum: i64, maximum: i64) -> Range {
        Range { minimum: Some(minimum.into()), maximum: Some(maximum.into()) }
    }

    #[test]
    fn limits_are_inclusive_and_exact() {
        let one_to_ten = range(1, 10);
        for (number, within) in [(0.999, false), (1.0, true), (10.0, true), (10.001, false)] {
            assert_eq!(one_to_ten.holds(&Number::from_f64(number).unwrap()), within, "{number}");
        }
        let exact = Range { minimum: None, maximum: Some(Number::from(u64::MAX - 1)) };
        assert!(!exact.holds(&Number::from(u64::MAX)), "the two are one as floating-point numbers");
        assert!(Range::default().holds(&Number::from(i64::MIN)));
        let length = Length { minimum: Some(1), maximum: Some(3) };
        assert_eq!([0, 1, 3, 4].map(|count| length.holds(count)), [false, true, true, false]);
    }

    #[test]
    fn limits_in_words() {
        assert_eq!(range(1, 10).describe("a number"), "a number from 1 to 10");
        let at_least = Range { minimum: Some(0.into()), maximum: None };
        assert_eq!(at_least.describe("an integer"), "an integer of at least 0");
        assert_eq!(Length { minimum: Some(1), maximum: None }.describe("characters"), "at least 1 character");
        assert_eq!(Length { minimum: None, maximum: Some(100) }.describe("items"), "at most 100 items");
        assert_eq!(Length { minimum: Some(2), maximum: Some(3) }.describe("items"), "2 to 3 items");
    }

    proptest! {
        /// Catches: `<` for `<=` at either end.
        #[test]
        fn a_range_holds_what_is_between_its_limits(minimum in -5i64..5, maximum in -5i64..5, number in -6i64..6) {
            prop_assert_eq!(
                range(minimum, maximum).holds(&Number::from(number)),
                (minimum..=maximum).contains(&number)
            );
        }
    }
}
