//! Runs on a disk: what is recorded comes back whole, and what is written about it is true.

#[cfg(test)]
mod on_disk;
