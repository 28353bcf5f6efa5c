//! The time of day, for people who read a record later. No decision depends on it.

pub trait Clock: std::fmt::Debug + Send + Sync {
    /// Milliseconds since 1970, by the wall clock; it may jump either way.
    fn now_ms(&self) -> u64;
    /// Milliseconds since some moment of this process, by a clock that does not jump.
    fn elapsed_ms(&self) -> u64;
}
