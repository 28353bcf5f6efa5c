//! The one test binary of this crate.

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
