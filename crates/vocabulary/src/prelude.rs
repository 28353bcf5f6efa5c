//! What every file of a `no_std` crate needs from `alloc`.

pub(crate) use alloc::borrow::Cow;
pub(crate) use alloc::boxed::Box;
pub(crate) use alloc::collections::{BTreeMap, BTreeSet};
pub(crate) use alloc::format;
pub(crate) use alloc::string::{String, ToString};
pub(crate) use alloc::sync::Arc;
pub(crate) use alloc::vec::Vec;
