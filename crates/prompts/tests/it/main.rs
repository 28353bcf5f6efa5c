//! The integration tests of this crate, in one binary.

#[cfg(test)]
mod documents;
#[cfg(test)]
mod material;
#[cfg(test)]
mod prompts;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod schemas;
