//! Settings that are allowed and probably a mistake.
//!
//! Invariant: the default settings give no warning.

use fixpoint_vocabulary::settings::{ConvergenceSettings, Settings};

pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    let mut warnings = Vec::new();
    let (noise, delta) = (settings.refinement.noise_threshold, settings.refinement.delta_threshold);
    if noise >= delta {
        warnings.push(format!(
            "refinement.noise_threshold ({noise}) is not below refinement.delta_threshold ({delta}), so every \
             improvement that is not noise is large enough"
        ));
    }
    if settings.convergence.enabled {
        warnings.extend(unreachable_last_stage(&settings.convergence));
    }
    warnings.extend(unused_instructions(&settings.convergence));
    warnings
}

fn unreachable_last_stage(convergence: &ConvergenceSettings) -> Option<String> {
    let ConvergenceSettings { max_iterations, max_stage, .. } = convergence;
    let needed = convergence.stalls_to_stop();
    (*max_iterations < needed).then(|| {
        format!(
            "convergence.max_iterations ({max_iterations}) stops a task before it can reach the last stage \
             (convergence.max_stage: {max_stage}), which takes at least {needed} attempts"
        )
    })
}

/// Instructions that no agent can get: for a stage that is never reached, or after others for the same stage.
fn unused_instructions(convergence: &ConvergenceSettings) -> Vec<String> {
    // At the last stage a task is stopped, unless the settings let it go on.
    let last = convergence.max_stage - u32::from(convergence.fail_on_max_stage);
    let mut warnings = Vec::new();
    for (index, stage) in convergence.stages.iter().map(|entry| entry.stage).enumerate() {
        if stage > last {
            warnings.push(format!(
                "convergence.stages[{index}]: no agent runs at stage {stage}; {last} is the last"
            ));
        }
        if convergence.stages.iter().take(index).any(|earlier| earlier.stage == stage) {
            warnings.push(format!("convergence.stages[{index}]: stage {stage} already has instructions"));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixpoint_vocabulary::settings::StageInstructions;

    /// The warnings about the default settings with one change.
    fn after(change: impl FnOnce(&mut Settings)) -> Vec<String> {
        let mut settings = Settings::default();
        change(&mut settings);
        warnings(&settings)
    }

    #[test]
    fn the_default_settings_give_no_warning() {
        assert_eq!(after(|_| {}), Vec::<String>::new());
    }

    #[test]
    fn noise_as_large_as_the_smallest_improvement() {
        let equal = after(|settings| settings.refinement.noise_threshold = 5.0);
        assert_eq!(equal.len(), 1, "{equal:?}");
        assert!(equal[0].starts_with("refinement.noise_threshold (5) is not below"), "{equal:?}");
        let above = after(|settings| {
            settings.refinement.noise_threshold = 5.0;
            settings.refinement.delta_threshold = 5.1;
        });
        assert_eq!(above, Vec::<String>::new());
    }

    #[test]
    fn too_few_attempts_for_the_last_stage() {
        let three = after(|settings| settings.convergence.max_iterations = 3);
        assert_eq!(three.len(), 1, "{three:?}");
        assert!(three[0].ends_with("which takes at least 4 attempts"), "{three:?}");
        assert_eq!(after(|settings| settings.convergence.max_iterations = 4), Vec::<String>::new());
        let disabled = after(|settings| {
            settings.convergence.max_iterations = 1;
            settings.convergence.enabled = false;
        });
        assert_eq!(disabled, Vec::<String>::new());
    }

    #[test]
    fn instructions_that_no_agent_gets() {
        let with_stages = |stages: &[u32], fail_on_max_stage: bool| {
            after(|settings| {
                settings.convergence.fail_on_max_stage = fail_on_max_stage;
                settings.convergence.stages = stages
                    .iter()
                    .map(|stage| StageInstructions { stage: *stage, instructions: "Think.".into() })
                    .collect();
            })
        };
        assert_eq!(with_stages(&[2], true), Vec::<String>::new());
        assert_eq!(with_stages(&[2, 3], false), Vec::<String>::new());
        assert_eq!(
            with_stages(&[3], true),
            ["convergence.stages[0]: no agent runs at stage 3; 2 is the last"]
        );
        assert_eq!(with_stages(&[2, 2], true), ["convergence.stages[1]: stage 2 already has instructions"]);
    }
}
