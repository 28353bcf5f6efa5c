//! The one test binary of this crate: what happens to a journal that crashes, fills up, is damaged or is shared.

#[cfg(test)]
mod blobs;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod disk_full;
#[cfg(test)]
mod fencing;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod torn;
