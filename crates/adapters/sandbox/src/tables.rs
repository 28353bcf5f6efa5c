//! The tables of what is visible, as data.

/// What a row of `system.txt` or `home.txt` says about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    Read,
    Tool,
    Hide,
    Private,
    Return,
}

impl Row {
    fn named(name: &str) -> Option<Self> {
        match name {
            "read" => Some(Self::Read),
            "tool" => Some(Self::Tool),
            "hide" => Some(Self::Hide),
            "private" => Some(Self::Private),
            "return" => Some(Self::Return),
            _ => None,
        }
    }
}

const SYSTEM: &str = include_str!("../data/system.txt");
const HOME: &str = include_str!("../data/home.txt");
const AGENTS: &str = include_str!("../data/agents.txt");

fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Absolute paths.
pub(crate) fn system() -> impl Iterator<Item = (Row, &'static str)> {
    rows(SYSTEM)
        .filter_map(|row| row.split_once('\t'))
        .filter_map(|(what, path)| Some((Row::named(what)?, path)))
}

/// Paths below the home directory.
pub(crate) fn home() -> impl Iterator<Item = (Row, &'static str)> {
    rows(HOME)
        .filter_map(|row| row.split_once('\t'))
        .filter_map(|(what, path)| Some((Row::named(what)?, path)))
}

/// Paths below the home directory that an agent keeps its own files in.
pub(crate) fn of_agent(agent: &str) -> impl Iterator<Item = (Row, &'static str)> {
    rows(AGENTS).filter_map(move |row| {
        let (name, rest) = row.split_once('\t')?;
        let (what, path) = rest.split_once('\t')?;
        (name == agent).then_some((Row::named(what)?, path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let count = |table: &'static str| rows(table).count();
        assert_eq!((system().count(), home().count()), (count(SYSTEM), count(HOME)));
        let agents: std::collections::BTreeSet<&str> =
            rows(AGENTS).filter_map(|row| row.split('\t').next()).collect();
        let of_agents: usize = agents.iter().map(|agent| of_agent(agent).count()).sum();
        assert_eq!(of_agents, count(AGENTS));
        assert!(system().all(|(_, path)| path.starts_with('/')));
        assert!(home().all(|(_, path)| !path.starts_with('/') && !path.contains("..")));
    }
}
