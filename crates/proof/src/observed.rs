//! Names of tests that ran at the base, and the files they point to.
//!
//! Owns how test runners name a test: by a file, a dotted module or a class. Refuses names that merely mention a file: the
//! file must stand at the front, or the module in the brackets of `unittest`. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::{directory, extension, join, stem};
use crate::tree::Tree;

/// The files of the base that test names point to.
pub(crate) fn observed_files(
    names: &BTreeSet<String>,
    directories: &[String],
    base: &dyn Tree,
) -> BTreeSet<String> {
    let index = Index::new(base);
    let roots: Vec<&str> = std::iter::once("").chain(directories.iter().map(String::as_str)).collect();
    names.iter().flat_map(|name| files_of(name, &roots, base, &index)).collect()
}

/// Source files by the name of the class or module they may hold.
struct Index<'a> {
    by_stem: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Index<'a> {
    fn new(base: &'a dyn Tree) -> Self {
        let mut by_stem: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in base.files() {
            if matches!(
                extension(path),
                "py" | "java" | "kt" | "groovy" | "scala" | "php" | "cs" | "fs" | "vb"
            ) {
                let stem =
                    if stem(path) == "__init__" { crate::paths::name(directory(path)) } else { stem(path) };
                by_stem.entry(stem).or_default().push(path);
            }
        }
        Self { by_stem }
    }

    /// Files that end in these parts, as `a/b.py` does for `a.b`.
    fn module(&self, parts: &[&str]) -> Vec<String> {
        let Some(last) = parts.last() else { return Vec::new() };
        let wanted = parts.join("/");
        let fits = |path: &&&str| {
            let without = path.rsplit_once('.').map_or(**path, |(before, _)| before);
            let without = without.strip_suffix("/__init__").unwrap_or(without);
            without == wanted || without.ends_with(&format!("/{wanted}"))
        };
        let found: Vec<&str> = self.by_stem.get(last).into_iter().flatten().filter(fits).copied().collect();
        let is_exact = |path: &&&str| path.rsplit_once('.').is_some_and(|(before, _)| before == wanted);
        let exact: Vec<String> = found.iter().filter(is_exact).map(|path| (*path).to_string()).collect();
        if exact.is_empty() { found.into_iter().map(str::to_string).collect() } else { exact }
    }
}

fn files_of(name: &str, roots: &[&str], base: &dyn Tree, index: &Index<'_>) -> Vec<String> {
    if let Some(path) = leading_path(name, roots, base) {
        return vec![path];
    }
    let mut found = Vec::new();
    for dotted in dotted_names(name) {
        let parts: Vec<&str> = dotted.split(['.', '\\', '/']).filter(|part| !part.is_empty()).collect();
        // The last parts are the test and its class: the longest beginning that is a file counts.
        let longest = (1..=parts.len()).rev().find_map(|length| {
            let files = index.module(parts.get(..length).unwrap_or_default());
            (!files.is_empty()).then_some(files)
        });
        found.extend(longest.unwrap_or_default());
        // A namespace need not be a directory.
        let class = parts.iter().rev().take(2).find_map(|part| {
            let part = part.split(['+', '$']).next().unwrap_or(part);
            let is_class = part.starts_with(char::is_uppercase) && parts.len() > 1;
            let files = index.by_stem.get(part)?;
            (is_class && files.len() == 1).then(|| files.iter().map(|path| (*path).to_string()))
        });
        found.extend(class.into_iter().flatten().filter(|path| extension(path) != "py"));
    }
    found
}

/// The file a name begins with: `checks/verify.py::test_x`, `src/a.ts > adds`, `./spec/a.rb[1:1]`, `a.js:12`.
fn leading_path(name: &str, roots: &[&str], base: &dyn Tree) -> Option<String> {
    let ends = name.char_indices().filter(|(_, letter)| matches!(letter, ':' | '[' | ' ' | '>' | '#' | '('));
    let beginnings = ends.map(|(end, _)| end).chain([name.len()]);
    beginnings.filter_map(|end| name.get(..end)).find_map(|beginning| {
        let beginning = beginning.trim();
        let looks = beginning.contains('.') || beginning.contains('/');
        roots
            .iter()
            .filter(|_| looks && !beginning.is_empty())
            .filter_map(|root| join(root, beginning))
            .find(|path| base.is_file(path))
    })
}

/// Dotted names that may be a module or a class: the name itself, and what stands in its brackets.
fn dotted_names(name: &str) -> Vec<&str> {
    let is_dotted = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '\\' | '$' | '+'))
    };
    let first = name.split(['#', ' ', '(', '>']).next().unwrap_or_default();
    let first = first.split("::").next().unwrap_or(first).trim_end_matches([':', '.']);
    let inside = name.rsplit_once('(').and_then(|(_, rest)| rest.split(')').next());
    // One word alone is a class, as in `VerifyCalc > adds()`, or says nothing.
    let says = |text: &&str| text.contains(['.', '\\']) || text.starts_with(char::is_uppercase);
    [Some(first), inside].into_iter().flatten().filter(|text| is_dotted(text)).filter(says).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryTree;

    #[test]
    fn names_point_to_files() {
        let base = MemoryTree::new([
            ("checks/verify.py", ""),
            ("sub/checks/inner.py", ""),
            ("verify.py", ""),
            ("pkg/verify_all/__init__.py", ""),
            ("web/sum.js", ""),
            ("checks/x.rb", ""),
            ("src/main/java/com/acme/VerifyCalc.java", ""),
            ("qa/VerifyPhp.php", ""),
            ("qa/Verify.cs", ""),
            ("app.py", ""),
        ]);
        for (name, expected) in [
            ("checks/verify.py::TestX::test_y", vec!["checks/verify.py"]),
            ("checks/inner.py::test_y", vec!["sub/checks/inner.py"]),
            ("test_y (verify.TestX)", vec!["verify.py"]),
            ("test_y (verify.TestX.test_y)", vec!["verify.py"]),
            ("verify.TestX.test_y", vec!["verify.py"]),
            ("pkg.verify_all.TestX.test_y", vec!["pkg/verify_all/__init__.py"]),
            ("web/sum.js > adds > one", vec!["web/sum.js"]),
            ("./checks/x.rb[1:1]", vec!["checks/x.rb"]),
            ("./checks/x.rb:12", vec!["checks/x.rb"]),
            ("com.acme.VerifyCalc.adds", vec!["src/main/java/com/acme/VerifyCalc.java"]),
            ("com.acme.VerifyCalc#adds", vec!["src/main/java/com/acme/VerifyCalc.java"]),
            ("VerifyCalc > adds()", vec!["src/main/java/com/acme/VerifyCalc.java"]),
            ("Acme\\VerifyPhp::testAdds", vec!["qa/VerifyPhp.php"]),
            ("Acme.Calc.Verify.Adds", vec!["qa/Verify.cs"]),
            ("inner.TestX.test_y", vec!["sub/checks/inner.py"]),
            ("app::tests::adds", vec![]),
            ("loads app.py", vec![]),
            ("calc::tests::adds", vec![]),
        ] {
            let names = BTreeSet::from([name.to_string()]);
            let found: Vec<String> =
                observed_files(&names, &["sub".to_string()], &base).into_iter().collect();
            assert_eq!(found, expected, "{name}");
        }
    }
}
