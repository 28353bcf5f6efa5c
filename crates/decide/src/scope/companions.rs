//! Files that may change along with another: lock files with their manifests, and what a project adds.
//!
//! Owns the list of known pairs and the rule of where the two must lie. Refuses to look at what is allowed: the
//! caller says which manifests count.

use fixpoint_vocabulary::settings::Companion;

use crate::glob::NameGlob;
use crate::prelude::*;

/// Lock files and the manifests they are written from, as names or globs of names.
const KNOWN: &[(&str, &[&str])] = &[
    ("Cargo.lock", &["Cargo.toml"]),
    ("package-lock.json", &["package.json"]),
    ("npm-shrinkwrap.json", &["package.json"]),
    ("yarn.lock", &["package.json"]),
    ("pnpm-lock.yaml", &["package.json"]),
    ("bun.lock", &["package.json"]),
    ("bun.lockb", &["package.json"]),
    ("go.sum", &["go.mod"]),
    ("go.work.sum", &["go.work"]),
    ("poetry.lock", &["pyproject.toml"]),
    ("uv.lock", &["pyproject.toml"]),
    ("pdm.lock", &["pyproject.toml"]),
    ("Pipfile.lock", &["Pipfile"]),
    ("Gemfile.lock", &["Gemfile", "*.gemspec"]),
    ("composer.lock", &["composer.json"]),
    ("mix.lock", &["mix.exs"]),
    ("pubspec.lock", &["pubspec.yaml"]),
    ("Package.resolved", &["Package.swift"]),
    ("flake.lock", &["flake.nix"]),
    ("Podfile.lock", &["Podfile"]),
    ("gradle.lockfile", &["build.gradle", "build.gradle.kts"]),
];

/// Which files may change along with which.
#[derive(Debug, Clone)]
pub(super) struct Companions {
    pairs: Vec<(NameGlob, NameGlob)>,
}

impl Companions {
    /// The known pairs and those of the project. A pair with a malformed glob excuses nothing.
    pub(super) fn new(configured: &[Companion]) -> Self {
        let known =
            KNOWN.iter().flat_map(|(file, manifests)| manifests.iter().map(move |with| (*file, *with)));
        let configured = configured.iter().map(|pair| (pair.file.as_str(), pair.with.as_str()));
        let glob = |name| NameGlob::new(name).ok();
        Self {
            pairs: known.chain(configured).filter_map(|(file, with)| glob(file).zip(glob(with))).collect(),
        }
    }

    /// Every directory that holds one of the manifests, or has one below it, by the pair the manifest is of. Made
    /// once for all files, since many may have changed.
    pub(super) fn excused<'a>(&self, manifests: &[&'a [u8]]) -> CompanionChanges<'a> {
        let mut directories: Vec<BTreeSet<&'a [u8]>> = Vec::new();
        directories.resize(self.pairs.len(), BTreeSet::new());
        for manifest in manifests {
            let (directory, name) = split(manifest);
            let of_pairs = self.pairs.iter().zip(&mut directories);
            for (_, excused) in of_pairs.filter(|((_, with), _)| with.matches(name)) {
                let mut above = Some(directory);
                while let Some(directory) = above.filter(|directory| excused.insert(directory)) {
                    above = (!directory.is_empty()).then(|| split(directory).0);
                }
            }
        }
        CompanionChanges { directories }
    }

    /// Whether a file may change because one of the manifests does: the manifest lies beside it, or in a
    /// directory below, as those of the members of a workspace do.
    pub(super) fn excuse(&self, file: &[u8], excused: &CompanionChanges<'_>) -> bool {
        let (directory, name) = split(file);
        let mut of_pairs = self.pairs.iter().zip(&excused.directories);
        of_pairs
            .any(|((companion, _), directories)| directories.contains(directory) && companion.matches(name))
    }
}

/// Where companions may change, by pair.
#[derive(Debug)]
pub(super) struct CompanionChanges<'a> {
    directories: Vec<BTreeSet<&'a [u8]>>,
}

/// The directory of a path, empty for the root, and its last name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = path.rsplitn(2, |&byte| byte == b'/');
    let name = parts.next().unwrap_or_default();
    (parts.next().unwrap_or_default(), name)
}

#[cfg(test)]
mod tests {
    use fixpoint_vocabulary::settings::Companion;

    use super::{Companions, KNOWN};

    #[test]
    fn every_known_name_is_a_good_glob() {
        let pairs: usize = KNOWN.iter().map(|(_, manifests)| manifests.len()).sum();
        assert_eq!(Companions::new(&[]).pairs.len(), pairs);
    }

    #[test]
    fn a_companion_changes_with_a_manifest_beside_or_below_it() {
        let configured = [("schema.rs", "*.sql"), ("[", "x"), ("", "x"), ("y", "*")]
            .map(|(file, with)| Companion { file: file.into(), with: with.into() });
        let companions = Companions::new(&configured);
        let cases: &[(&str, &[&str], bool)] = &[
            ("Cargo.lock", &["Cargo.toml"], true),
            ("Cargo.lock", &["crates/a/Cargo.toml"], true),
            ("a/Cargo.lock", &["a/Cargo.toml"], true),
            ("a/Cargo.lock", &["a/b/c/Cargo.toml"], true),
            ("a/Cargo.lock", &["Cargo.toml"], false),
            ("a/Cargo.lock", &["ab/Cargo.toml"], false),
            ("a/Cargo.lock", &["b/Cargo.toml", "src/lib.rs"], false),
            ("Cargo.lock", &["package.json"], false),
            ("Cargo.lock", &[], false),
            ("cargo.lock", &["Cargo.toml"], false),
            ("xCargo.lock", &["Cargo.toml"], false),
            ("yarn.lock", &["package.json"], true),
            ("Gemfile.lock", &["gems/x/x.gemspec"], true),
            ("gradle.lockfile", &["build.gradle.kts"], true),
            ("go.sum", &["go.work"], false),
            ("go.work.sum", &["go.work"], true),
            ("db/schema.rs", &["db/migrations/1.sql"], true),
            ("[", &["x"], false),
            ("z/y", &["z/anything"], true),
        ];
        for &(file, manifests, expected) in cases {
            let manifests: std::vec::Vec<&[u8]> = manifests.iter().map(|path| path.as_bytes()).collect();
            let excused = companions.excused(&manifests);
            assert_eq!(companions.excuse(file.as_bytes(), &excused), expected, "{file} {manifests:?}");
        }
    }
}
