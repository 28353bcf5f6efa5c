//! Compares names: their spellings, and which known name an unknown one was probably meant to be.
//!
//! Invariant: a suggestion is made only if it is close, since a wrong one misleads.

/// Expects a snake_case name.
pub(crate) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut spelled = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        spelled.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        spelled.push_str(letters.as_str());
    }
    spelled
}

/// A name without what differs between spellings: case, `_` and `-`.
pub(crate) fn normalised(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect()
}

/// The known name an unknown one was probably meant to be.
///
/// Up to a third of its letters may be wrong, and at least one. Very long names are not compared, since comparing takes
/// time by the product of the lengths.
pub(crate) fn nearest<'known>(
    unknown: &str,
    known: impl IntoIterator<Item = &'known str>,
) -> Option<&'known str> {
    const LONGEST: usize = 128;
    let unknown = normalised(unknown);
    if unknown.is_empty() || unknown.len() > LONGEST {
        return None;
    }
    let tolerated = (unknown.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(&unknown, &normalised(name)), name))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings() {
        for (name, camel) in [
            ("max_refinement_attempts", "maxRefinementAttempts"),
            ("enabled", "enabled"),
            ("timeout_seconds", "timeoutSeconds"),
            ("field_2", "field2"),
            ("", ""),
        ] {
            assert_eq!(camel_case(name), camel, "{name}");
            assert_eq!(normalised(name), normalised(camel), "{name}");
        }
    }

    #[test]
    fn close_names_are_suggested() {
        let known = ["noise_threshold", "delta_threshold", "enabled", "ttl"];
        for (unknown, expected) in [
            ("noise_treshold", Some("noise_threshold")),
            ("noiseTreshold", Some("noise_threshold")),
            ("NOISE-THRESHOLD", Some("noise_threshold")),
            ("delta_treshold", Some("delta_threshold")),
            ("enable", Some("enabled")),
            ("tt", Some("ttl")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(unknown, known), expected, "{unknown}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }

    proptest! {
        /// Catches: comparing `<` instead of `<=` with what is tolerated.
        #[test]
        fn a_name_with_one_wrong_letter_is_always_found(name in "[a-z]{3,20}", at in any::<prop::sample::Index>()) {
            let mut letters: Vec<char> = name.chars().collect();
            letters[at.index(name.len())] = '1';
            let wrong: String = letters.into_iter().collect();
            prop_assert_eq!(nearest(&wrong, [name.as_str()]), Some(name.as_str()));
        }
    }
}
