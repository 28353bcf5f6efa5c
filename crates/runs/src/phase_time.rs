//! How long each phase of a run took, from the times in the journal.

use std::collections::BTreeMap;

use fixpoint_decide::phases::Phase;
use fixpoint_vocabulary::Lang;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::say;

/// Milliseconds that round to a tenth of a second.
const SHORTEST_SHOWN: u64 = 50;

/// How long one phase of a run took in total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseTime {
    /// The phase.
    pub phase: Phase,
    /// Milliseconds in which a process worked on the run.
    pub milliseconds: u64,
}

/// The time a run took, by phase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhaseTimes(BTreeMap<Phase, u64>);

impl PhaseTimes {
    pub(crate) fn add(&mut self, phase: Phase, milliseconds: u64) {
        let sum = self.0.entry(phase).or_default();
        *sum = sum.saturating_add(milliseconds);
    }

    /// The phases that took any time, in their order.
    pub fn lines(&self) -> Vec<PhaseTime> {
        let taken = self.0.iter().filter(|(_, milliseconds)| **milliseconds > 0);
        taken.map(|(phase, milliseconds)| PhaseTime { phase: *phase, milliseconds: *milliseconds }).collect()
    }

    /// In words; `None` for a run without planning.
    pub fn words(&self, lang: Lang) -> Option<String> {
        let shown = |line: &PhaseTime| line.milliseconds >= SHORTEST_SHOWN;
        let lines: Vec<PhaseTime> = self.lines().into_iter().filter(shown).collect();
        let is_planned = lines.iter().any(|line| line.phase < Phase::Execution);
        let part = |line: &PhaseTime| seconds(line.phase.title().in_lang(lang), line.milliseconds);
        // One answer of a model may contain several phases of planning, so they have no times of their own.
        let (planning, others): (Vec<PhaseTime>, Vec<PhaseTime>) =
            lines.into_iter().partition(|line| line.phase < Phase::PlanReview);
        let planning: u64 = planning.iter().map(|line| line.milliseconds).sum();
        let planned = (planning > 0).then(|| seconds(&say(lang, "planning", "計画"), planning));
        let parts = planned.into_iter().chain(others.iter().map(part)).collect::<Vec<_>>();
        is_planned
            .then(|| say(lang, format!("Time: {}", parts.join(", ")), format!("時間: {}", parts.join("、"))))
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown to a tenth of a second")]
fn seconds(name: &str, milliseconds: u64) -> String {
    format!("{name} {:.1} s", milliseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches times that are lost when a phase occurs again, and phases in the wrong order.
    #[test]
    fn times_add_up_and_are_listed_in_order() {
        let mut times = PhaseTimes::default();
        for (phase, milliseconds) in [
            (Phase::Execution, 1500),
            (Phase::PlanReview, 40),
            (Phase::TaskDecomposition, 49),
            (Phase::PlanReview, 460),
        ] {
            times.add(phase, milliseconds);
        }
        let words = times.words(Lang::En);
        assert_eq!(words.as_deref(), Some("Time: reviewing the plan 0.5 s, executing 1.5 s"));
        assert_eq!(times.words(Lang::Ja).as_deref(), Some("時間: 計画のレビュー 0.5 s、実行 1.5 s"));
    }

    #[test]
    fn a_run_without_a_plan_says_nothing() {
        let mut times = PhaseTimes::default();
        times.add(Phase::Execution, 1500);
        assert_eq!(times.words(Lang::En), None);
    }
}
