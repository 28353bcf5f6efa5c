//! The one test binary of this crate.

#[cfg(test)]
mod house_rules;
