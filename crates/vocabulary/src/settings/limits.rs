//! Ranges that both settings and the questions of `fixpoint decide` use.

/// A range, both ends included.
#[derive(Debug, Clone, Copy)]
pub struct Range<T> {
    pub min: T,
    pub max: T,
}

/// `refinement.noise_threshold`.
pub const NOISE_THRESHOLD: Range<u32> = Range { min: 1, max: 10 };
/// `refinement.delta_threshold`.
pub const DELTA_THRESHOLD: Range<u32> = Range { min: 0, max: 50 };
/// `judge.max_samples`.
pub const MAX_SAMPLES: Range<u32> = Range { min: 1, max: 20 };
/// `convergence.max_iterations`.
pub const MAX_ITERATIONS: Range<u32> = Range { min: 1, max: 1000 };
/// `check_options.max_infra_failures`.
pub const MAX_INFRA_FAILURES: Range<u32> = Range { min: 1, max: 100 };
/// `planning.max_subtasks`.
pub const MAX_SUBTASKS: Range<u32> = Range { min: 1, max: 10_000 };
/// Globs in one scope, at most. Matching takes time by the product of globs and paths.
pub const MAX_GLOBS: usize = 1000;
