//! Who may depend on whom, and on what: `ARCHITECTURE.md` is the list, and it must be complete.

use crate::workspace::{Crate, Workspace};

/// Dependencies between members that `ARCHITECTURE.md` does not name in its `edges` block, and names there that no
/// member has.
pub fn unnamed_edges(workspace: &Workspace) -> Vec<String> {
    let named = named_edges(&workspace.architecture);
    let actual: Vec<(String, String)> = workspace
        .crates
        .iter()
        .flat_map(|member| member.internal.iter().map(|other| (member.name.clone(), other.clone())))
        .collect();
    let unnamed = actual.iter().filter(|edge| !named.contains(edge)).map(|(from, to)| {
        format!("{from} depends on {to}, which ARCHITECTURE.md does not name: reconsider it, or name it with its reason")
    });
    let stale = named.iter().filter(|edge| !actual.contains(edge)).map(|(from, to)| {
        format!("ARCHITECTURE.md says that {from} depends on {to}, and it does not: remove the line")
    });
    unnamed.chain(stale).collect()
}

/// The lines `from -> to, to` of the block that begins with ```` ```edges ````.
fn named_edges(architecture: &str) -> Vec<(String, String)> {
    let block = architecture.lines().skip_while(|line| line.trim() != "```edges").skip(1);
    let lines = block.take_while(|line| line.trim() != "```");
    let edges = lines.filter_map(|line| line.split_once("->")).flat_map(|(from, to)| {
        let from = from.trim().to_string();
        to.split(',').map(|to| (from.clone(), to.trim().to_string())).collect::<Vec<_>>()
    });
    edges.collect()
}

/// Outside crates that have no line in the dependency table of `ARCHITECTURE.md`.
pub fn undocumented_dependencies(workspace: &Workspace) -> Vec<String> {
    let is_documented = |name: &str| {
        workspace
            .architecture
            .lines()
            .any(|line| line.starts_with('|') && line.contains(&format!("`{name}`")))
    };
    let used = |member: &Crate| {
        let names = member.external.iter().chain(&member.for_tests).cloned();
        names.map(|name| (member.name.clone(), name)).collect::<Vec<_>>()
    };
    let all = workspace.crates.iter().flat_map(used);
    all.filter(|(_, name)| !is_documented(name))
        .map(|(member, name)| {
            format!("{member} uses {name}, and ARCHITECTURE.md does not say why: add a line")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(architecture: &str, internal: &[&str], external: &[&str]) -> Workspace {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let member = Crate {
            name: "decide".to_string(),
            internal: owned(internal),
            external: owned(external),
            for_tests: vec![],
        };
        Workspace { crates: vec![member], sources: vec![], architecture: architecture.to_string() }
    }

    #[test]
    fn an_edge_must_be_named_and_a_named_one_must_exist() {
        let text = "intro\n```edges\ndecide -> vocabulary\n```\ndecide -> elsewhere";
        assert!(unnamed_edges(&workspace(text, &["vocabulary"], &[])).is_empty());
        assert_eq!(unnamed_edges(&workspace(text, &["vocabulary", "engine"], &[])).len(), 1);
        assert_eq!(unnamed_edges(&workspace(text, &[], &[])).len(), 1);
    }

    #[test]
    fn a_dependency_needs_its_line() {
        let text = "| `serde` | documents |\n`tokio` in prose";
        assert!(undocumented_dependencies(&workspace(text, &[], &["serde"])).is_empty());
        assert_eq!(undocumented_dependencies(&workspace(text, &[], &["serde", "tokio"])).len(), 1);
    }
}
