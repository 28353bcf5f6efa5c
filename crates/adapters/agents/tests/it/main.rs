//! The kinds of agents as a caller sees them: command lines, and recordings of the real programs.

#[cfg(test)]
mod commands;
#[cfg(test)]
mod recordings;
