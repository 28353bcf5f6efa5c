//! The binary as a user meets it: real processes, real files, exit codes and what is printed where.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod configuration;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod crashes;
#[cfg(test)]
mod decide_log;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod everyday;
#[cfg(test)]
mod personal;
#[cfg(test)]
mod process;
#[cfg(test)]
mod proof;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod whole_runs;
