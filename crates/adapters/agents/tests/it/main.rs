//! Command lines of each kind of agent, and recorded output of the real programs.

#[cfg(test)]
mod commands;
#[cfg(test)]
mod recordings;
