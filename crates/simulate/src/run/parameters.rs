//! The probabilities and prices of simulated runs, read from a file of the repository that explains each.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameters {
    pub(crate) goal: Goal,
    pub(crate) planner: Planner,
    pub(crate) models: Models,
    pub(crate) judge: Judge,
    pub(crate) reflector: Reflector,
    pub(crate) agents: Agents,
    pub(crate) people: People,
    pub(crate) machine: Machine,
    pub(crate) prices: Prices,
}

macro_rules! numbers {
    ($($name:ident { $($field:ident: $kind:ty),+ })+) => {
        $(
            #[derive(Debug, Clone, Default, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub(crate) struct $name { $(pub(crate) $field: $kind),+ }
        )+
    };
}

numbers! {
    Goal { parts: [u32; 2], steps: [u32; 2], shares_text: f64, clashes: f64, known_failure: f64 }
    Planner {
        incomplete: f64, mends: f64, refines_badly: f64, names_goals: f64, splits: f64, waits: f64,
        unclear: f64, gives_up: f64, unsound: f64, suspicious: f64
    }
    Models { unreadable: f64, unanswered: f64, other_document: f64 }
    Judge {
        sigma: f64, errs: f64, no_score: f64, suggests: f64, asks_for_replan: f64, gives_up: f64
    }
    Reflector { revises: f64, in_words_only: f64 }
    Agents {
        fixes: f64, loops: f64, idles: f64, breaks: f64, wanders: f64, finishes: f64, steps: f64,
        misbehaves: f64, mends: f64, resolves: f64, loses_a_side: f64
    }
    People { agree: f64, refuse: f64 }
    Machine { fails: f64, out_of_order: f64 }
    Prices { call: f64, attempt: f64 }
}

/// All zero if the file cannot be read; a test reads it.
pub(crate) static PARAMETERS: LazyLock<Parameters> = LazyLock::new(|| read().unwrap_or_default());

fn read() -> Result<Parameters, toml::de::Error> {
    toml::from_str(include_str!("../../parameters/whole_runs.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a file that is not read, and kinds of agents or people that are left out.
    #[test]
    fn the_file_is_read_and_shares_add_up() {
        let Parameters { agents, people, goal, .. } = read().unwrap();
        let kinds = agents.fixes + agents.loops + agents.idles + agents.breaks + agents.wanders;
        assert!((kinds - 1.0).abs() < 1e-9, "{agents:?}");
        assert!(people.agree + people.refuse < 1.0 && goal.parts[0] >= 1 && goal.steps[0] >= 1);
    }
}
