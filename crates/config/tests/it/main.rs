//! Settings, code and documents agree: every key is read by some code, and documents name only keys that exist.

#[cfg(test)]
mod documents;
#[cfg(test)]
mod every_key_is_read;
