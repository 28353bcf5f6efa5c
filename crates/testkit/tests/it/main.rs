//! The one test binary of this crate. Every test talks to a real server process over a socket.

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
