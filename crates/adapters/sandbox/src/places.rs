//! The places that a confined program sees, collected in any order and mounted outermost first.
//!
//! Invariant: of two wishes for one path the stricter about hiding wins, then the one that permits more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::spec::{Lower, Mount};

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Link(PathBuf),
    /// The real content, to be read.
    Read {
        from: PathBuf,
    },
    /// The real content, to be read; what is written goes to a directory of its own.
    Layered {
        lower: Vec<PathBuf>,
        upper: PathBuf,
        work: PathBuf,
    },
    Write {
        from: PathBuf,
    },
    /// A directory of ours in its place.
    Private {
        from: PathBuf,
    },
    Hidden,
}

#[derive(Debug, Default)]
pub(crate) struct Places {
    by_path: BTreeMap<PathBuf, Place>,
}

impl Places {
    pub(crate) fn add(&mut self, at: PathBuf, place: Place) {
        let known = self.by_path.get(&at);
        if known.is_none_or(|known| *known < place) {
            self.by_path.insert(at, place);
        }
    }

    /// The place that decides about a path: its own, or that of the nearest directory above it.
    pub(crate) fn deciding(&self, path: &Path) -> Option<&Place> {
        path.ancestors().find_map(|above| self.by_path.get(above))
    }

    /// Whether the real content of a path is there already.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        match self.deciding(path) {
            Some(Place::Read { .. } | Place::Layered { .. } | Place::Write { .. }) => true,
            Some(Place::Private { .. } | Place::Hidden | Place::Link(_)) | None => false,
        }
    }

    /// Whether a program may change what is at a path; with [`Places::shows`], that the user's file changes.
    pub(crate) fn is_writable(&self, path: &Path) -> bool {
        matches!(
            self.deciding(path),
            Some(Place::Write { .. } | Place::Private { .. } | Place::Layered { .. })
        )
    }

    pub(crate) fn mounts(&self) -> Vec<Mount> {
        let mut places: Vec<(&PathBuf, &Place)> = self.by_path.iter().collect();
        places.sort_by_key(|(at, _)| at.components().count());
        places.into_iter().map(|(at, place)| mount(at.clone(), place.clone())).collect()
    }
}

fn mount(at: PathBuf, place: Place) -> Mount {
    match place {
        Place::Link(to) => Mount::Link { at, to },
        Place::Read { from } => Mount::ReadOnly { at, from },
        Place::Write { from } | Place::Private { from } => Mount::ReadWrite { at, from },
        Place::Layered { lower, upper, work } => {
            Mount::Layered { at, lower: lower.into_iter().map(Lower).collect(), upper, work }
        }
        Place::Hidden => Mount::Hidden { at },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Place {
        Place::Read { from: path.into() }
    }

    #[test]
    fn outer_places_come_first_and_the_strongest_wish_counts() {
        let mut places = Places::default();
        places.add("/a/b/c".into(), Place::Hidden);
        places.add("/a/b".into(), read("/a/b"));
        places.add("/a/b".into(), Place::Write { from: "/a/b".into() });
        places.add("/a/b".into(), read("/a/b"));
        places.add("/a".into(), Place::Private { from: "/p".into() });
        assert!(places.shows(Path::new("/a/b/x")) && places.is_writable(Path::new("/a/b/x")));
        assert!(!places.shows(Path::new("/a/b/c/d")) && !places.shows(Path::new("/a/x")));
        assert!(!places.shows(Path::new("/z")));
        let order: Vec<PathBuf> = places.mounts().iter().map(|mount| mount.at().clone()).collect();
        assert_eq!(order, [PathBuf::from("/a"), "/a/b".into(), "/a/b/c".into()]);
    }
}
