//! Data that only tests read, wherever it is.
//!
//! Owns the ways in which a test names such a file. Refuses code. Invariant: what the product reads, too, is product.

use super::{Source, Users, has_word, is_code, is_import_of, mentions};
use crate::ChangeKind;
use crate::links::Links;
use crate::manifests::is_manifest;
use crate::paths::{directory, extension, join, matches, name, part_matches, stem};
use crate::tables::helper_by_path;
use crate::tree::text;

impl Users<'_> {
    /// Whether only tests load through a link.
    pub(crate) fn is_way_of_tests(&self, link: &str) -> bool {
        let inside = format!("{}/", name(link));
        let loads = |line: &str| {
            is_import_of(line, name(link)) || is_import_of(line, stem(link)) || line.contains(&inside)
        };
        let is_loaded = |by: &[Source]| by.iter().any(|source| source.text.lines().any(loads));
        is_loaded(self.tests()) && !is_loaded(self.products())
    }

    /// Whether a source is imported by the product, rather than by what a check runs.
    pub(crate) fn is_imported_by_product(&self, path: &str) -> bool {
        is_code(path) && !self.holds_tests(path) && self.is_used(self.products(), path)
    }

    /// A file that a test names as its snapshot.
    pub(crate) fn snapshot(&self, path: &str) -> Option<String> {
        if !may_be_snapshot(path) {
            return None;
        }
        let mut tests = self.tests().iter();
        let source = tests.find(|source| source.path != path && names_snapshot(source, path))?;
        let is_product = is_code(path) && self.is_used(self.products(), path);
        (!is_product).then(|| format!("snapshot of {}", source.path))
    }

    /// Data that a test reads beside the product that it loads. A test that loads no product tests the data.
    pub(super) fn read_by_tests(&self, path: &str) -> Option<String> {
        let test = is_plain_data(path).then(|| self.reading_test(path))??;
        (!self.is_named_by_manifest(path)).then(|| format!("data that only tests read: {}", test.path))
    }

    /// A document that a test reads, for what the product has to do.
    pub(crate) fn document(&self, path: &str) -> Option<String> {
        let is_document = matches!(extension(path), "md" | "markdown" | "rst" | "adoc");
        let test = is_document.then(|| self.reading_test(path))??;
        Some(format!("a document that {} reads", test.path))
    }

    /// A test that reads a file, and loads the product, which does not read it.
    fn reading_test(&self, path: &str) -> Option<&Source> {
        let loads_product = |test: &Source| {
            let products = self.products().iter().filter(|product| product.path != test.path);
            test.text.contains("doctest") || products.into_iter().any(|product| uses(test, &product.path))
        };
        let mut tests = self.tests().iter().filter(|test| reads(test, path));
        let test = tests.find(|test| loads_product(test))?;
        let may_read = |product: &Source| mentions(product, path) || may_name(&product.text, path);
        (!self.products().iter().any(may_read)).then_some(test)
    }

    /// Whether a file is a helper of tests by its name, and only tests use it, or helpers of the same directory that they use.
    pub(super) fn is_named_helper(&self, path: &str) -> bool {
        let is_beside = |source: &Source| {
            source.path != path
                && directory(&source.path) == directory(path)
                && helper_by_path(&source.path).is_some()
                && self.is_used(self.tests(), &source.path)
        };
        let others = self.products().iter().filter(|source| source.path != path);
        let (beside, others): (Vec<&Source>, Vec<&Source>) = others.partition(|source| is_beside(source));
        let is_used = self.is_used(self.tests(), path) || beside.iter().any(|source| mentions(source, path));
        is_used && !others.iter().any(|source| mentions(source, path))
    }

    /// Whether a manifest, or a file that says what belongs to a package or an image, names a file or its directory.
    fn is_named_by_manifest(&self, path: &str) -> bool {
        let is_list = |file: &&String| {
            is_manifest(file)
                || matches!(
                    name(file),
                    "MANIFEST.in" | "setup.py" | "Dockerfile" | "build.rs" | ".gitattributes"
                )
        };
        let top = path.split_once('/').map_or(path, |(top, _)| top);
        let names = |file: &String| {
            text(self.base, file).is_some_and(|text| has_word(&text, name(path)) || has_word(&text, top))
        };
        self.base.files().iter().filter(is_list).take(100).any(names)
    }

    /// Data that a link among the tests leads to.
    pub(super) fn linked_data(&self, path: &str) -> Option<String> {
        if is_code(path) {
            return None;
        }
        let is_of_tests = |link: &str| self.tables.test(link, ChangeKind::Modified).is_some();
        let links = self.links.get_or_init(|| Links::new(self.base).only(is_of_tests));
        let (link, _) = links.names(path).next()?;
        (!self.is_used(self.products(), path)).then(|| format!("the link {link} of the tests leads to it"))
    }
}

/// Whether a test loads or starts a source of the product. Where a test sees its whole package or crate, it need not say so.
fn uses(test: &Source, product: &str) -> bool {
    let sees_all = match extension(product) {
        "go" => directory(product) == directory(&test.path),
        "rs" | "java" | "kt" | "cs" | "swift" => true,
        _ => false,
    };
    let is_place = |literal: &str| {
        literal.starts_with('.')
            && stem(product) == "index"
            && join(directory(&test.path), literal).as_deref() == Some(directory(product))
    };
    mentions(test, product)
        || has_word(&test.text, name(product))
        || sees_all && extension(product) == extension(&test.path)
        || quoted(&test.text).any(is_place)
}

/// Whether a file is data by its format, and has no name by which products and tools look for their own.
fn is_plain_data(path: &str) -> bool {
    const OTHERS: [&str; 34] = [
        "md", "rst", "adoc", "html", "htm", "css", "scss", "svg", "png", "jpg", "jpeg", "gif", "ico", "woff",
        "woff2", "pdf", "j2", "jinja", "jinja2", "tmpl", "tpl", "hbs", "ejs", "erb", "sql", "graphql",
        "proto", "lock", "po", "mo", "ipynb", "wasm", "map", "",
    ];
    const NAMES: [&str; 24] = [
        "config",
        "setting",
        "schema",
        "openapi",
        "swagger",
        "package",
        "requirements",
        "constraints",
        "version",
        "license",
        "changelog",
        "readme",
        "manifest",
        "locale",
        "i18n",
        "messages",
        "translations",
        "template",
        "migration",
        "compose",
        "workflow",
        "static",
        "public",
        "assets",
    ];
    let lower = path.to_ascii_lowercase();
    let is_hidden = path.split('/').any(|part| part.starts_with('.'));
    !is_code(path)
        && !is_hidden
        && !OTHERS.contains(&extension(&lower))
        && !NAMES.iter().any(|word| lower.contains(word))
}

/// Whether a test reads a file: by its name in quotes, or by its directory and a name that is put together.
fn reads(test: &Source, path: &str) -> bool {
    let ending = format!(".{}", extension(path));
    let parent = name(directory(path));
    let has_parts = || !parent.is_empty() && test.text.contains(parent) && test.text.contains(&ending);
    if !test.text.contains(name(path)) && !has_parts() {
        return false;
    }
    let is_name = |literal: &str| name(literal) == name(path);
    let is_parent = |literal: &str| !parent.is_empty() && name(literal.trim_end_matches('/')) == parent;
    let is_composed = |literal: &str| {
        let stars = with_stars(literal);
        name(&stars) == ending || name(&stars).contains('*') && part_matches(name(&stars), name(path))
    };
    let has = |is: &dyn Fn(&str) -> bool| quoted(&test.text).any(is);
    let in_one =
        |literal: &str| is_composed(literal) && name(directory(literal)) == parent && !parent.is_empty();
    has(&is_name) || has(&in_one) || has(&is_parent) && has(&is_composed)
}

/// Whether a product may put the name of a file together: it has the stem in quotes, or a text that ends as the file does.
fn may_name(text: &str, path: &str) -> bool {
    let ending = format!(".{}", extension(path));
    quoted(text).any(|literal| {
        let stars = with_stars(literal);
        name(literal) == stem(path) || name(&stars) == ending || stars.ends_with(&format!("*{ending}"))
    })
}

/// The texts in quotes, line by line, so that an apostrophe in one line does not turn all that follows around.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(literals)
}

/// Whether a file may be a snapshot: data, or code among what is written. Asked first, since to ask the tests takes long.
fn may_be_snapshot(path: &str) -> bool {
    const WRITTEN: [&str; 9] =
        ["out", "output", "outputs", "generated", "gen", "dist", "snap", "snaps", "shots"];
    const DOCUMENTS: [&str; 4] = ["README", "CHANGELOG", "LICENSE", "CONTRIBUTING"];
    let is_document = DOCUMENTS.iter().any(|document| path.starts_with(document));
    let is_written = || directory(path).split('/').any(|part| WRITTEN.contains(&part));
    !is_document && (!is_code(path) || is_written())
}

/// Whether a test gives a file to an assertion that compares with files, or the file's directory to a setting of snapshots.
fn names_snapshot(source: &Source, path: &str) -> bool {
    const FILES: [&str; 7] = [
        "toMatchFileSnapshot",
        "toMatchSpecificSnapshot",
        "toMatchFile(",
        "expect_file!",
        "assert_file_eq",
        "file_snapshot",
        "assertMatchesFileSnapshot",
    ];
    const DIRECTORIES: [&str; 3] = ["customSnapshotsDir", "snapshot_path", "snapshot_dir"];
    let here = directory(&source.path);
    let fits = |literal: &str, behind: &str| {
        let named = [here, ""].into_iter().filter_map(|root| join(root, literal));
        // A name of which nothing is known may be that of any file beside the test.
        let says = |named: &String| !named.is_empty() && (name(named) != "*" || directory(named) != here);
        named.filter(says).any(|named| matches(&format!("/{named}{behind}"), path))
    };
    let is_given = |word: &str, behind: &str| {
        let calls = source.text.match_indices(word);
        let mut arguments = calls.filter_map(|(at, _)| call(source.text.get(at + word.len()..)?));
        arguments.any(|arguments| {
            let literals: Vec<String> = literals(arguments).map(with_stars).collect();
            literals.iter().any(|literal| fits(literal, behind)) || fits(&literals.join("/"), behind)
        })
    };
    FILES.iter().any(|word| is_given(word, "")) || DIRECTORIES.iter().any(|word| is_given(word, "/**"))
}

/// The text of a call or an assignment: up to the end of its statement, or some lines.
fn call(text: &str) -> Option<&str> {
    let end = text.find(';').unwrap_or(text.len());
    let lines = text.match_indices('\n').nth(3).map_or(text.len(), |(at, _)| at);
    text.get(..end.min(lines))
}

fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'', '`']).skip(1).step_by(2)
}

/// A text with `*` for each part that is put in when it runs: `out/${name}.html`, `{name}.res`.
pub(crate) fn with_stars(literal: &str) -> String {
    let mut stars = String::new();
    let mut depth = 0_usize;
    for letter in literal.chars() {
        match letter {
            '{' => {
                depth += 1;
                stars = stars.trim_end_matches(['$', '#']).to_string();
                stars.push('*');
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => stars.push(letter),
            _ => {}
        }
    }
    stars
}
