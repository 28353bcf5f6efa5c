//! Placeholder until its parts are in place.
