//! What each changed file has to do with the checks.
//!
//! Owns the order in which the ways of knowing are asked. Refuses to know how each of them knows. Invariant: what none of them
//! claims is product.

mod interference;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::beside::Users;
use crate::bins::taken_program;
use crate::in_place;
use crate::inline::{self, python, vitest};
use crate::links::Links;
use crate::manifests::{EntryChange, entry_change};
use crate::observed::observed_files;
use crate::paths::{directory, extension, join, name};
use crate::reach::Reach;
use crate::rust_modules::is_test_module;
use crate::shadow::{Shadows, taken_out, unchecked};
use crate::tables::Tables;
use crate::tree::{Tree, below, text};
use crate::unseen::moved_out;
use crate::{Change, ChangeKind, CheckCommand, Extent, Mix, ProtectedChange, Role, manifests};

/// The changes that are not product alone.
#[must_use]
pub fn protected_changes(
    checks: &[CheckCommand],
    observed_tests: &BTreeSet<String>,
    changes: &[Change],
    base: &dyn Tree,
    result: &dyn Tree,
) -> Vec<ProtectedChange> {
    let reach = Reach::new(checks, base);
    let tables = Tables::new(&|program| reach.mentions(program)).with_links(&Links::new(base));
    let directories: Vec<String> = checks.iter().map(|check| check.directory.clone()).collect();
    let observed = observed_files(observed_tests, &directories, base);
    let shadows = Shadows::new(base, &reach, &tables);
    let users = Users::new(base, &tables, &reach, &observed);
    let judge =
        Judge { reach: &reach, tables: &tables, observed: &observed, shadows, users, changes, base, result };
    changes.iter().filter_map(|change| judge.judge(change)).collect()
}

struct Judge<'a> {
    reach: &'a Reach,
    tables: &'a Tables,
    observed: &'a BTreeSet<String>,
    shadows: Shadows,
    users: Users<'a>,
    changes: &'a [Change],
    base: &'a dyn Tree,
    result: &'a dyn Tree,
}

impl Judge<'_> {
    fn judge(&self, change: &Change) -> Option<ProtectedChange> {
        let (path, kind) = (change.path.as_str(), change.kind);
        let protected = |role: Role, part: Extent, what: String| ProtectedChange {
            path: path.to_string(),
            role,
            kind,
            part,
            what: described(kind, what),
        };
        let definition = |what: String| Some(protected(Role::Definition, Extent::Whole, what));
        if kind == ChangeKind::Added && self.reach.named.contains(path) {
            // The check names it, and it was not there: to make it is the work.
            return None;
        }
        if let Some(what) = self.link(path) {
            return definition(what);
        }
        if let Some(program) = taken_program(path, self.base, self.result, self.reach) {
            let what = format!("takes the place of the program `{program}`, which a check runs");
            return Some(protected(Role::Interference, Extent::Whole, what));
        }
        // A package of others is taken as it is, its manifest too.
        if manifests::is_manifest(path) && !path.split('/').any(|part| part == "node_modules") {
            return self.manifest(path, kind).map(|(part, what)| protected(Role::Definition, part, what));
        }
        if let Some(why) = self.reach.definitions.get(path).filter(|_| kind != ChangeKind::Added)
            && !(why.starts_with("compared by") && self.is_generated(path))
        {
            // A script of tests that a check runs is a test, which whoever permits edits of tests means.
            let is_test = self.tables.test(path, kind).is_some();
            let role = if is_test { Role::Test } else { Role::Definition };
            return Some(protected(role, Extent::Whole, why.clone()));
        }
        let is_file = |path: &str| self.base.is_file(path) || self.result.is_file(path);
        if let Some(what) = self.tables.definition(path, kind, &is_file) {
            return definition(what.to_string());
        }
        if matches!(kind, ChangeKind::Added | ChangeKind::TypeChanged)
            && let Some(what) = self.picked_up(path)
        {
            return definition(what);
        }
        if let Some(what) = self.takes_out(path, kind) {
            return definition(what);
        }
        if let Some((part, what)) = self.test(path, kind) {
            if let Some(what) = (part == Extent::Part).then(|| self.beside_tests(path)).flatten() {
                return Some(protected(Role::Interference, Extent::Whole, what));
            }
            return Some(protected(Role::Test, part, what));
        }
        if let Some(what) = self.users.read_by_definition(path) {
            return definition(what);
        }
        self.source(path, kind).map(|(role, part, what)| protected(role, part, what))
    }

    /// Whether a check only asks whether a source of the product is up to date: the product imports it, and nothing else that
    /// the check names was changed, so that it is compared with what the same program prints as before.
    fn is_generated(&self, path: &str) -> bool {
        let is_other = |change: &&Change| change.path != path && self.reach.mentions(name(&change.path));
        self.users.is_imported_by_product(path) && !self.changes.iter().any(|change| is_other(&change))
    }

    /// An added file that is loaded because it is there.
    fn picked_up(&self, path: &str) -> Option<String> {
        let looked_for = self.reach.looked_for.iter().find(|(glob, _)| {
            glob.as_str() == path || glob.contains('*') && crate::reach::glob_fits(glob, path)
        });
        looked_for
            .map(|(_, why)| why.clone())
            .or_else(|| self.shadows.what(path, self.base, self.result, self.reach))
            .or_else(|| self.takes_place(path))
    }

    /// An added file that is loaded instead of a test, a helper of tests, or what decides.
    fn takes_place(&self, path: &str) -> Option<String> {
        let is_test = |path: &str| self.tables.test(path, ChangeKind::Modified).is_some();
        if is_test(path) {
            return None;
        }
        let requires = |feature: &str| self.users.tests_require(extension(path), feature);
        let found = in_place::displaced(path, self.base, self.reach, &requires);
        let mut counting = found.into_iter().filter(|other| {
            is_test(other) && !self.users.is_product(other, ChangeKind::Modified)
                || self.reach.definitions.contains_key(other)
                || self.users.is_like_helper(other)
        });
        counting.next().map(|other| format!("takes the place of {other}"))
    }

    /// A link through which tests load, that leads out of the tree, or that takes the place of files that decide.
    fn link(&self, path: &str) -> Option<String> {
        if self.base.link_target(path).is_some() && self.users.is_way_of_tests(path) {
            return Some("a link through which tests load".to_string());
        }
        let target = self.result.link_target(path)?;
        let leads_out = target.starts_with('/') || join(directory(path), &target).is_none();
        if leads_out {
            return Some(format!("a link that leads out of the repository, to {target}"));
        }
        if self.tables.test(path, ChangeKind::Modified).is_some() {
            return None;
        }
        let inside = format!("{path}/x");
        let is_above = |other: &String| other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        let is_directory = self.tables.test(&inside, ChangeKind::Modified).is_some()
            || self.tables.definition(&inside, ChangeKind::Modified, &|_| false).is_some()
            || self.reach.definitions.keys().any(is_above)
            || self.reach.tests.iter().any(is_above)
            || self.observed.iter().any(is_above);
        is_directory.then(|| format!("a link to {target} in place of a directory of tests or settings"))
    }

    fn takes_out(&self, path: &str, kind: ChangeKind) -> Option<String> {
        let by_name = |file: &str| self.tables.test(file, ChangeKind::Modified).is_some();
        let is_test = |file: &str| self.observed.contains(file) || by_name(file);
        (!by_name(path)).then(|| taken_out(path, kind, self.base, self.result, &is_test))?
    }

    fn manifest(&self, path: &str, kind: ChangeKind) -> Option<(Extent, String)> {
        let is_irrelevant = manifests::is_makefile(path)
            && !self.reach.definitions.contains_key(path)
            && !["make", "gmake", "configure"].iter().any(|program| self.reach.mentions(program));
        if is_irrelevant {
            return None;
        }
        if kind == ChangeKind::TypeChanged {
            return Some((Extent::Whole, "is a link or was one".to_string()));
        }
        if kind == ChangeKind::Deleted {
            return self.is_lost(path).then(|| (Extent::Whole, "manifest".to_string()));
        }
        let before = self.base.read(path);
        if kind == ChangeKind::Added
            && let Some(what) = self.takes_out(path, kind).or_else(|| self.picked_up(path))
        {
            return Some((Extent::Whole, what));
        }
        let now = self.result.read(path)?;
        let entries = self.entry_change(path);
        if let Some(EntryChange::Hidden(member)) = entries {
            return Some((Extent::Whole, format!("{member}, which was not there, leads to another file")));
        }
        match manifests::mixed(path, before.as_deref(), &now)? {
            Mix::Product => None,
            Mix::Parts { changed, .. }
                if entries == Some(EntryChange::Moved)
                    && changed.iter().all(|changed| {
                        manifests::is_entry_point(changed) || self.is_other_script(path, changed)
                    }) =>
            {
                None
            }
            Mix::Parts { changed, .. } => Some((Extent::Part, changed.join(", "))),
            Mix::Whole(what) => Some((Extent::Whole, what)),
        }
    }

    /// Whether a change of a package is a new script that neither a check nor a package manager runs.
    fn is_other_script(&self, path: &str, changed: &str) -> bool {
        const OWN: [&str; 7] =
            ["install", "prepare", "prepack", "publish", "test", "version", "dependencies"];
        let Some(script) = changed.strip_prefix("scripts.") else { return false };
        let before = text(self.base, path).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let is_old = before.is_some_and(|package| {
            package.get("scripts").is_some_and(|scripts| scripts.get(script).is_some())
        });
        let is_hook = script.starts_with("pre") || script.starts_with("post") || OWN.contains(&script);
        !is_old && !is_hook && !self.reach.mentions(script)
    }

    fn entry_change(&self, path: &str) -> Option<EntryChange> {
        let (before, now) = (text(self.base, path)?, text(self.result, path)?);
        let is_in =
            |tree: &dyn Tree, file: &str| join(directory(path), file).is_some_and(|file| tree.is_file(&file));
        (name(path) == "package.json").then(|| {
            entry_change(&before, &now, &|file| is_in(self.base, file), &|file| is_in(self.result, file))
        })?
    }

    /// Whether a deleted manifest leaves code or tests without it. One that goes with all of its code is product.
    fn is_lost(&self, path: &str) -> bool {
        let here = directory(path);
        let had_tests = below(self.base, here).any(|file| {
            self.observed.contains(file) || self.tables.test(file, ChangeKind::Modified).is_some()
        });
        here.is_empty() || had_tests || below(self.result, here).next().is_some()
    }

    fn test(&self, path: &str, kind: ChangeKind) -> Option<(Extent, String)> {
        if let Some(what) = self.tables.test(path, kind) {
            return (!self.users.is_product(path, kind)).then(|| (Extent::Whole, what.to_string()));
        }
        let is_observed = self.observed.contains(path);
        let is_given = self.reach.tests.contains(path);
        if is_observed || is_given {
            let what = if is_observed { "tests were observed in it" } else { "a test runner is given it" };
            return self.test_beside_product(path, kind, what);
        }
        let is_within = |directory: &&String| {
            path.strip_prefix(directory.as_str()).is_some_and(|rest| rest.starts_with('/'))
                && self.is_test_directory(directory)
        };
        if let Some(found) = self.reach.test_directories.iter().find(is_within) {
            return Some((Extent::Whole, format!("below {found}, which a test runner is given")));
        }
        let helper = || self.users.helper(path, kind);
        let document = || self.users.document(path).filter(|_| self.loses_values(path));
        self.users.snapshot(path).or_else(helper).or_else(document).map(|what| (Extent::Whole, what))
    }

    /// Whether a line of a document that holds a value is gone or changed: a row of a table, code, a number. Headings, words
    /// and what is only added are documentation.
    fn loses_values(&self, path: &str) -> bool {
        let before = text(self.base, path).unwrap_or_default();
        let now = text(self.result, path).unwrap_or_default();
        let count = |text: &str, line: &str| text.lines().filter(|other| *other == line).count();
        let holds_value = |line: &&str| {
            let is_code = line.starts_with("    ") || line.contains(['|', '`', '=']) || line.contains(">>>");
            !line.starts_with('#') && (is_code || line.contains(|letter: char| letter.is_ascii_digit()))
        };
        before.lines().filter(holds_value).any(|line| count(&now, line) < count(&before, line))
    }

    /// A file with tests that may hold what they test, too.
    fn test_beside_product(&self, path: &str, kind: ChangeKind, what: &str) -> Option<(Extent, String)> {
        let before = text(self.base, path).unwrap_or_default();
        let is_module = |module: &str| {
            let file = module.trim_start_matches('.').replace('.', "/");
            let roots = ["", "src", directory(path)];
            let forms = roots.iter().flat_map(|root| {
                [join(root, &format!("{file}.py")), join(root, &format!("{file}/__init__.py"))]
            });
            module.starts_with('.') || forms.flatten().any(|form| form != path && self.base.is_file(&form))
        };
        let is_mixed = match extension(path) {
            "py" => python::holds_product(&before, &is_module),
            ending => inline::is_javascript(ending) && vitest::holds_tests(&before),
        };
        if !is_mixed || kind != ChangeKind::Modified {
            return Some((Extent::Whole, what.to_string()));
        }
        let now = self.result.read(path)?;
        match inline::mixed(path, Some(before.as_bytes()), &now) {
            Mix::Product => None,
            Mix::Parts { changed, .. } => Some((Extent::Part, changed.join(", "))),
            Mix::Whole(what) => Some((Extent::Whole, what)),
        }
    }

    /// Whether a directory that a runner is given holds tests alone, rather than product with tests in it.
    fn is_test_directory(&self, directory: &str) -> bool {
        const PRODUCT: [&str; 16] = [
            "src", "lib", "app", "apps", "packages", "pkg", "internal", "cmd", "source", "sources", "server",
            "client", "web", "api", "core", "modules",
        ];
        const CODE: [&str; 15] =
            ["py", "js", "ts", "rb", "php", "go", "rs", "tsx", "jsx", "mjs", "cjs", "lua", "pl", "sh", "c"];
        let is_code = |path: &&str| {
            CODE.contains(&extension(path))
                && self.tables.test(path, ChangeKind::Modified).is_none()
                && self.tables.definition(path, ChangeKind::Modified, &|_| true).is_none()
                && !matches!(name(path), "setup.py" | "__init__.py")
        };
        let outside = self
            .base
            .files()
            .iter()
            .map(String::as_str)
            .filter(is_code)
            .any(|path| !path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')));
        let has_tests = below(self.base, directory).any(|path| {
            self.observed.contains(path) || self.tables.test(path, ChangeKind::Modified).is_some()
        });
        let is_untested =
            below(self.base, directory).filter(is_code).all(|path| !self.observed.contains(path));
        // Code without tests beside conventional tests is what they test.
        let is_product = has_tests && is_untested && below(self.base, directory).any(|path| is_code(&path));
        outside && !is_product && !PRODUCT.contains(&name(directory))
    }

    /// A source of product: with tests inside, or with code that reaches for the test runner.
    fn source(&self, path: &str, kind: ChangeKind) -> Option<(Role, Extent, String)> {
        if !matches!(kind, ChangeKind::Added | ChangeKind::Modified) {
            return None;
        }
        if is_test_module(path, self.base, self.result) {
            return Some((Role::Test, Extent::Whole, "test module".to_string()));
        }
        if kind == ChangeKind::Added
            && let Some(what) = unchecked(path, self.base, self.result, self.reach)
                .or_else(|| moved_out(path, self.changes, self.base, self.result, self.reach))
        {
            return Some((Role::Interference, Extent::Whole, what));
        }
        let extension = extension(path);
        let now = self.result.read(path)?;
        let before = self.base.read(path);
        let product = match inline::mixed(path, before.as_deref(), &now) {
            // Tests that stand in a source may do as tests do.
            Mix::Parts { text, .. } if inline::is_javascript(extension) => text,
            Mix::Parts { .. } | Mix::Product | Mix::Whole(_) => now.clone(),
        };
        if let Some(what) = self.interference(path, before.as_deref().unwrap_or_default(), &product) {
            return Some((Role::Interference, Extent::Whole, what));
        }
        let has_inline = match extension {
            "rs" => true,
            "py" => before.is_some() && self.reach.runs_doctests(),
            "ex" => before.is_some() && self.users.runs_examples(),
            ending => inline::is_javascript(ending),
        };
        match has_inline.then(|| inline::mixed(path, before.as_deref(), &now))? {
            Mix::Product => None,
            Mix::Parts { changed, .. } => Some((Role::Test, Extent::Part, changed.join(", "))),
            Mix::Whole(what) => Some((Role::Interference, Extent::Whole, what)),
        }
    }
}

fn described(kind: ChangeKind, what: String) -> String {
    match kind {
        ChangeKind::TypeChanged => format!("its type or mode changed; {what}"),
        ChangeKind::Added | ChangeKind::Deleted | ChangeKind::Modified => what,
    }
}
