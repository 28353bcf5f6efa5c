//! How much planning a goal is worth, by its size, where nobody said otherwise.

use fixpoint_vocabulary::ask::PlanningStyle;
use fixpoint_vocabulary::settings::{DecompositionLevel, PlanningSettings, Strategy};

use crate::run::PlanningCalls;

/// Which settings somebody set, so that the size of the goal does not change them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExplicitSettings {
    /// `planning.strategy`.
    pub strategy: bool,
    /// `planning.decomposition_level`.
    pub level: bool,
    /// `planning.reflection.trigger_interval`.
    pub interval: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanningMode {
    pub calls: PlanningCalls,
    pub style: PlanningStyle,
    /// Tasks between two reflections; 0 for reflections after errors only.
    pub reflection_interval: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Simple,
    Moderate,
    Complex,
}

/// Decides how a goal of so many tokens is planned.
pub fn decide(tokens: u64, settings: &PlanningSettings, explicit: ExplicitSettings) -> PlanningMode {
    let threshold = &settings.complexity_threshold;
    let size = if tokens <= u64::from(threshold.simple) {
        Size::Simple
    } else if tokens <= u64::from(threshold.moderate) {
        Size::Moderate
    } else {
        Size::Complex
    };
    let adjusts = settings.auto_adjust_level;
    let (by_size_strategy, by_size_level, by_size_interval) = match size {
        Size::Simple => (Strategy::Simple, DecompositionLevel::Minimal, 0),
        Size::Moderate => (settings.strategy, DecompositionLevel::Moderate, 5),
        Size::Complex => (settings.strategy, DecompositionLevel::Detailed, 3),
    };
    let strategy = if adjusts && !explicit.strategy { by_size_strategy } else { settings.strategy };
    let level = if adjusts && !explicit.level { by_size_level } else { settings.decomposition_level };
    let interval = settings.reflection.trigger_interval;
    let reflection_interval = if adjusts && !explicit.interval { by_size_interval } else { interval };
    let calls = match (settings.enabled, strategy, size) {
        (false, ..) => PlanningCalls::None,
        (true, Strategy::Simple, _) | (true, _, Size::Simple) => PlanningCalls::AtOnce,
        (true, Strategy::ChainOfThought | Strategy::Hierarchical, Size::Moderate | Size::Complex) => {
            PlanningCalls::PerPhase
        }
    };
    PlanningMode {
        calls,
        style: PlanningStyle { strategy, level, depth: settings.reflection.depth },
        reflection_interval,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_goal_decides_where_nobody_did() {
        let settings = PlanningSettings::default();
        let by_size = |tokens| {
            let levels = decide(tokens, &settings, ExplicitSettings::default());
            (levels.calls, levels.style.strategy, levels.style.level, levels.reflection_interval)
        };
        use DecompositionLevel::{Detailed, Minimal, Moderate};
        let thinking = Strategy::ChainOfThought;
        for (tokens, expected) in [
            (1, (PlanningCalls::AtOnce, Strategy::Simple, Minimal, 0)),
            (100, (PlanningCalls::AtOnce, Strategy::Simple, Minimal, 0)),
            (101, (PlanningCalls::PerPhase, thinking, Moderate, 5)),
            (500, (PlanningCalls::PerPhase, thinking, Moderate, 5)),
            (501, (PlanningCalls::PerPhase, thinking, Detailed, 3)),
        ] {
            assert_eq!(by_size(tokens), expected, "{tokens}");
        }
    }

    #[test]
    fn what_somebody_set_wins_and_adjusting_can_be_switched_off() {
        let mut settings = PlanningSettings {
            strategy: Strategy::Hierarchical,
            decomposition_level: DecompositionLevel::Detailed,
            ..PlanningSettings::default()
        };
        settings.reflection.trigger_interval = 7;
        let all = ExplicitSettings { strategy: true, level: true, interval: true };
        let set = decide(1, &settings, all);
        assert_eq!(set.style.strategy, Strategy::Hierarchical);
        assert_eq!(set.style.level, DecompositionLevel::Detailed);
        assert_eq!((set.calls, set.reflection_interval), (PlanningCalls::AtOnce, 7));
        settings.auto_adjust_level = false;
        assert_eq!(decide(1, &settings, ExplicitSettings::default()), set);
        settings.enabled = false;
        assert_eq!(decide(1, &settings, all).calls, PlanningCalls::None);
        settings.enabled = true;
        settings.strategy = Strategy::Simple;
        assert_eq!(decide(9999, &settings, all).calls, PlanningCalls::AtOnce);
    }
}
