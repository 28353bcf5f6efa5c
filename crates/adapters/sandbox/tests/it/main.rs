//! Programs in the sandbox, with the agent as attacker.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod everyday;
#[cfg(test)]
mod world;
