//! The one test binary of this crate.

#[cfg(test)]
mod beside;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod classification;
#[cfg(test)]
mod data;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod inside;
#[cfg(test)]
mod links;
#[cfg(test)]
mod loading;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reach;
#[cfg(test)]
mod reaching;
#[cfg(test)]
mod replacing;
#[cfg(test)]
mod rust_modules;
#[cfg(test)]
mod taken;
