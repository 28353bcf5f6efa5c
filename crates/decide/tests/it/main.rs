//! What the decisions promise as a whole, tried from outside the crate.

#[cfg(test)]
mod glob_cases;
#[cfg(test)]
#[allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "git is asked about real files; the crate under test still sees none of them"
)]
mod glob_git;
#[cfg(test)]
mod glob_overlap;
