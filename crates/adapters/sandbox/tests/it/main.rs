//! Programs in the sandbox, with the agent as attacker.

mod attacks;
mod everyday;
mod world;
