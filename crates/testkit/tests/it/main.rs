//! The integration tests of this crate, in one binary. Every test talks to a real server process over a socket.

#[cfg(test)]
mod client;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod protocols;
#[cfg(test)]
mod record;
#[cfg(test)]
mod rules;
