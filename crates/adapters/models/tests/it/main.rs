//! Models against a server that sends prepared bytes: protocols, failures, limits, names.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod fallbacks;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod many;
#[cfg(test)]
mod names;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod server;
#[cfg(test)]
mod setup;
