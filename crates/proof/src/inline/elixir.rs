//! Elixir sources: the attempt's product with the base's examples, which `doctest` runs.
//!
//! Owns where an example begins and ends: at `iex>`, and before a blank line or the end of its documentation. Refuses to
//! find out what an example belongs to: examples are told apart by their order. Invariant: examples that are only added
//! leave the file as it is.

use std::ops::Range;

use crate::Mix;

pub(crate) fn mixed(base: &str, now: &str) -> Mix {
    let (old, new) = (examples(base), examples(now));
    let lines = |text: &str, range: &Range<usize>| -> Vec<String> {
        let text = text.get(range.clone()).unwrap_or_default();
        text.lines().map(|line| line.trim().to_string()).collect()
    };
    let mut left = new.iter();
    let is_kept = old.iter().all(|before| left.any(|after| lines(base, before) == lines(now, after)));
    if is_kept {
        return Mix::Product;
    }
    if old.len() != new.len() {
        return Mix::Whole("examples that `doctest` runs were edited".to_string());
    }
    let mut text = now.to_string();
    let mut changed = Vec::new();
    // From the end, so that what comes before keeps its place.
    for (before, after) in old.iter().zip(&new).rev() {
        if lines(base, before) == lines(now, after) {
            continue;
        }
        let example = base.get(before.clone()).unwrap_or_default();
        let first = example.lines().next().unwrap_or_default().trim();
        changed.push(format!("the example `{first}` was edited"));
        text.replace_range(after.clone(), example);
    }
    changed.reverse();
    Mix::Parts { text: text.into_bytes(), changed }
}

/// The places of examples, with whole lines.
fn examples(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut at, mut is_open) = (0, false);
    for line in text.split_inclusive('\n') {
        let (start, trimmed) = (at, line.trim());
        at += line.len();
        let begins = trimmed.starts_with("iex>") || trimmed.starts_with("iex(");
        let ends = trimmed.is_empty() || trimmed.starts_with("\"\"\"") || trimmed.starts_with("'''");
        match found.last_mut().filter(|_| is_open && !ends) {
            Some(last) => last.end = at,
            None if begins => found.push(start..at),
            None => {}
        }
        is_open = !ends && (is_open || begins);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(example: &str, body: &str) -> String {
        format!(
            "defmodule Calc do\n  @doc \"\"\"\n      {example}\n  \"\"\"\n  def add(a, b), do: {body}\nend\n"
        )
    }

    #[test]
    fn examples_are_taken_from_the_base() {
        let base = source("iex> Calc.add(1, 2)\n      3", "a - b");
        let fixed = source("iex> Calc.add(1, 2)\n      3", "a + b");
        assert_eq!(mixed(&base, &fixed), Mix::Product);
        let more = source("iex> Calc.add(1, 2)\n      3\n\n      iex> Calc.add(0, 0)\n      0", "a + b");
        assert_eq!(mixed(&base, &more), Mix::Product);
        let edited = source("iex> Calc.add(1, 2)\n      -1", "a + b");
        let changed = vec!["the example `iex> Calc.add(1, 2)` was edited".to_string()];
        assert_eq!(mixed(&base, &edited), Mix::Parts { text: fixed.into_bytes(), changed });
        let removed = source("Adds.", "a - b");
        assert_eq!(
            mixed(&base, &removed),
            Mix::Whole("examples that `doctest` runs were edited".to_string())
        );
    }
}
