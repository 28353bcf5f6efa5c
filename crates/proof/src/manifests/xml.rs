//! XML manifests: `pom.xml` and the project files of .NET.
//!
//! Owns their elements with their places, and which of them are product. Refuses to evaluate conditions. Invariant: an
//! element that is in no list is a definition.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::Mix;

/// Elements that hold others of both kinds.
const GROUPS: [&str; 5] = ["properties", "dependencies", "PropertyGroup", "ItemGroup", "Choose"];
const PRODUCT: &[&str] = &[
    "modelVersion",
    "groupId",
    "artifactId",
    "version",
    "name",
    "description",
    "url",
    "inceptionYear",
    "packaging",
    "licenses",
    "developers",
    "contributors",
    "organization",
    "scm",
    "issueManagement",
    "ciManagement",
    "distributionManagement",
    "dependencyManagement",
    "dependency",
    "PackageReference",
    "ProjectReference",
    "PackageVersion",
    "FrameworkReference",
    "Content",
    "EmbeddedResource",
    "Folder",
    "TargetFramework",
    "TargetFrameworks",
    "OutputType",
    "RootNamespace",
    "AssemblyName",
    "Version",
    "VersionPrefix",
    "VersionSuffix",
    "Authors",
    "Company",
    "Product",
    "Description",
    "Copyright",
    "PackageId",
    "PackageTags",
    "PackageLicenseExpression",
    "PackageProjectUrl",
    "RepositoryUrl",
    "PackageReadmeFile",
    "ImplicitUsings",
    "LangVersion",
    "UserSecretsId",
    "GenerateDocumentationFile",
    "AssemblyVersion",
    "FileVersion",
    "IsPackable",
    "ApplicationIcon",
    "Title",
    "RuntimeIdentifiers",
    "AllowUnsafeBlocks",
];
/// Words in the names of properties of maven that decide what is tested.
const TESTING: [&str; 14] = [
    "test",
    "skip",
    "surefire",
    "failsafe",
    "jacoco",
    "checkstyle",
    "argline",
    "pmd",
    "spotbugs",
    "enforcer",
    "fail",
    "lint",
    "coverage",
    "sonar",
];

/// An element of the root, or of one of its groups.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unit {
    group: Option<String>,
    name: String,
    range: Range<usize>,
    /// Its opening tag, which tells it from others of its name.
    tag: String,
}

struct Document {
    units: Vec<Unit>,
    /// Where the root's closing tag begins.
    end: usize,
}

fn read(text: &str) -> Option<Document> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<(String, usize, String)> = Vec::new();
    let mut units = Vec::new();
    let mut end = None;
    loop {
        let start = usize::try_from(reader.buffer_position()).ok()?;
        let event = reader.read_event().ok()?;
        let after = usize::try_from(reader.buffer_position()).ok()?;
        let tag = || text.get(start..after).unwrap_or_default().to_string();
        match event {
            Event::Start(element) => {
                let name = String::from_utf8_lossy(element.local_name().as_ref()).into_owned();
                open.push((name, start, tag()));
            }
            Event::Empty(element) => {
                let name = String::from_utf8_lossy(element.local_name().as_ref()).into_owned();
                units.extend(unit(&open, name, start..after, tag()));
            }
            Event::End(_) => {
                let (name, begin, tag) = open.pop()?;
                if open.is_empty() {
                    end = Some(start);
                } else {
                    units.extend(unit(&open, name, begin..after, tag));
                }
            }
            Event::Eof => break,
            Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
    open.is_empty().then_some(())?;
    Some(Document { units, end: end? })
}

/// An element that is taken as one: a child of the root that is no group, or a child of a group.
fn unit(open: &[(String, usize, String)], name: String, range: Range<usize>, tag: String) -> Option<Unit> {
    let is_group = |name: &str| GROUPS.contains(&name);
    match open {
        [_] if !is_group(&name) => Some(Unit { group: None, name, range, tag }),
        [_, (group, _, group_tag)] if is_group(group) => {
            Some(Unit { group: Some(group_tag.trim().to_string()), name, range, tag })
        }
        _ => None,
    }
}

fn is_product(unit: &Unit, text: &str) -> bool {
    let lower = unit.name.to_ascii_lowercase();
    let content = text.get(unit.range.clone()).unwrap_or_default();
    let of_maven = unit.group.as_deref().is_some_and(|group| group.starts_with("<properties"));
    let is_build =
        content.contains("systemPath") || content.contains("Remove=") || content.contains("Update=");
    if of_maven {
        return !TESTING.iter().any(|word| lower.contains(word));
    }
    let is_compiled = unit.name == "Compile" && !content.contains("Remove=");
    (PRODUCT.contains(&unit.name.as_str()) || is_compiled) && !is_build
}

/// What tells units apart: a dependency by what it names, another by its tag.
fn key(unit: &Unit, text: &str) -> String {
    let content: String = text.get(unit.range.clone()).unwrap_or_default().split_whitespace().collect();
    let named = |tag: &str| {
        let open = format!("<{tag}>");
        content.split_once(&open).and_then(|(_, rest)| rest.split('<').next()).unwrap_or_default().to_string()
    };
    match unit.name.as_str() {
        "dependency" => format!("dependency {}:{}", named("groupId"), named("artifactId")),
        _ => format!(
            "{} {}",
            unit.group.as_deref().unwrap_or_default(),
            unit.tag.trim_end_matches('>').trim_end_matches('/').trim()
        ),
    }
}

/// The attempt's manifest with the base's definitions; nothing if one of them cannot be read.
pub(super) fn mixed(base: &str, now: &str) -> Option<Mix> {
    let (before, after) = (read(base)?, read(now)?);
    let content = |text: &str, unit: &Unit| text.get(unit.range.clone()).unwrap_or_default().to_string();
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let mut changed = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    let mut units = after.units.clone();
    units.sort_by_key(|unit| unit.range.start);
    for unit in &units {
        let own_key = key(unit, now);
        let old = before.units.iter().find(|old| key(old, base) == own_key);
        let is_definition = !is_product(unit, now) || old.is_some_and(|old| !is_product(old, base));
        let old_text = old.map(|old| content(base, old)).unwrap_or_default();
        if is_definition && squeezed(&old_text) != squeezed(&content(now, unit)) {
            changed.push(format!("<{}>", unit.name));
            text.push_str(now.get(at..unit.range.start)?);
            text.push_str(&old_text);
            at = unit.range.end;
        }
    }
    let lost = before.units.iter().filter(|old| {
        let own_key = key(old, base);
        !is_product(old, base) && !after.units.iter().any(|unit| key(unit, now) == own_key)
    });
    text.push_str(now.get(at..after.end)?);
    for unit in lost {
        changed.push(format!("<{}>", unit.name));
        let inner = content(base, unit);
        let name = |group: &str| {
            group.trim_start_matches('<').split([' ', '>']).next().unwrap_or_default().to_string()
        };
        match &unit.group {
            Some(group) if text.contains(group.as_str()) => {
                text = text.replacen(group.as_str(), &format!("{group}\n    {inner}"), 1);
            }
            Some(group) => text.push_str(&format!("  {group}{inner}</{}>\n", name(group))),
            None => text.push_str(&format!("  {inner}\n")),
        }
    }
    text.push_str(now.get(after.end..)?);
    if changed.is_empty() {
        return Some(Mix::Product);
    }
    changed.sort();
    changed.dedup();
    Some(Mix::Parts { text: text.into_bytes(), changed })
}
