//! Agents of a known kind in `fixpoint loop`: completed, read, continued, refused.

mod played;
