//! Settings that are allowed and probably not meant.
//!
//! Owns the comparisons between settings. Refuses to be an error: each of these has a use for someone.
//!
//! Invariant: the built-in settings raise no warning.

use core::fmt;

use fixpoint_vocabulary::settings::Settings;

/// Settings that are allowed and probably not meant.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Noise swallows every improvement that would not be stagnation.
    NoiseNotBelowDelta {
        /// `refinement.noise_threshold`.
        noise: f64,
        /// `refinement.delta_threshold`.
        delta: f64,
    },
    /// The attempts end before the last stage can be reached.
    LastStageOutOfReach {
        /// `convergence.max_iterations`.
        max_iterations: u32,
        /// The attempts it takes at least.
        needed: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoiseNotBelowDelta { noise, delta } => write!(
                f,
                "refinement.noise_threshold ({noise}) is not below refinement.delta_threshold ({delta}): \
                 every rise that is not noise counts as enough of an improvement"
            ),
            Self::LastStageOutOfReach { max_iterations, needed } => write!(
                f,
                "convergence.max_iterations ({max_iterations}) ends a task before its last stage, which \
                 takes at least {needed} attempts to reach"
            ),
        }
    }
}

/// Everything to warn about.
pub(super) fn all(settings: &Settings) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let (noise, delta) = (settings.refinement.noise_threshold, settings.refinement.delta_threshold);
    if noise >= delta {
        warnings.push(Warning::NoiseNotBelowDelta { noise, delta });
    }
    let convergence = &settings.convergence;
    let needed = u64::from(convergence.stalls_to_stop());
    if convergence.enabled && u64::from(convergence.max_iterations) < needed {
        warnings.push(Warning::LastStageOutOfReach { max_iterations: convergence.max_iterations, needed });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_settings_raise_no_warning() {
        assert_eq!(all(&Settings::default()), []);
    }

    #[test]
    fn noise_as_large_as_the_smallest_improvement() {
        let mut settings = Settings::default();
        settings.refinement.noise_threshold = 5.0;
        assert_eq!(all(&settings), [Warning::NoiseNotBelowDelta { noise: 5.0, delta: 5.0 }]);
        settings.refinement.delta_threshold = 5.1;
        assert_eq!(all(&settings), []);
    }

    #[test]
    fn too_few_attempts_for_the_last_stage() {
        let mut settings = Settings::default();
        settings.convergence.max_iterations = 3;
        assert_eq!(all(&settings), [Warning::LastStageOutOfReach { max_iterations: 3, needed: 4 }]);
        settings.convergence.max_iterations = 4;
        assert_eq!(all(&settings), []);
        settings.convergence.max_iterations = 1;
        settings.convergence.enabled = false;
        assert_eq!(all(&settings), []);
    }
}
