//! A check that succeeds because `make` found nothing to do: it ran nothing, so it proves nothing.
//!
//! Owns what `make` prints then. Refuses output with anything else in it: that was printed by something that ran. Pure.

/// What `make` says where it ran nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Idle {
    /// A directory has the name of the target.
    Directory(String),
    /// Everything is made already.
    Made,
}

impl Idle {
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Directory(target) => format!(
                "`make` ran nothing, since the directory `{target}` has the name of the target: declare the target \
                 `.PHONY`, or give the command that it runs"
            ),
            Self::Made => "`make` found nothing to do, so it ran nothing".to_string(),
        }
    }
}

/// Whether an output says that nothing was run, and why.
pub(crate) fn idle(output: &str, is_directory: &dyn Fn(&str) -> bool) -> Option<Idle> {
    let mut found = None;
    for line in output.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let said = said_by_make(line)?;
        // A file that is dated in the future, even by a moment, is worth a warning.
        const FRAME: [&str; 4] = ["Entering directory", "Leaving directory", "Warning: ", "warning: "];
        let is_frame = FRAME.iter().any(|beginning| said.starts_with(beginning));
        if is_frame {
            continue;
        }
        let target = said.strip_suffix(" is up to date.").map(unquoted);
        let is_done = said.starts_with("Nothing to be done for ");
        match target {
            Some(target) if is_directory(target) => found = Some(Idle::Directory(target.to_string())),
            Some(_) => found = found.or(Some(Idle::Made)),
            None if is_done => found = found.or(Some(Idle::Made)),
            None => return None,
        }
    }
    found
}

/// What stands behind `make: ` or `gmake[1]: `.
fn said_by_make(line: &str) -> Option<&str> {
    let (program, said) = line.split_once(": ")?;
    let name = program.split('[').next()?;
    matches!(name, "make" | "gmake").then_some(said)
}

/// Older versions quote with a backtick.
fn unquoted(target: &str) -> &str {
    target.trim_matches(['\'', '`', '"'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_make_alone_is_idle() {
        let directory = Some(Idle::Directory("test".to_string()));
        for (output, expected) in [
            ("make: 'test' is up to date.\n", directory.clone()),
            ("make: `test' is up to date.\n", directory.clone()),
            (
                "make[1]: Entering directory '/p'\nmake[1]: 'test' is up to date.\nmake[1]: Leaving directory '/p'\n",
                directory.clone(),
            ),
            (
                "make: Warning: File 'Makefile' has modification time 0.4 s in the future\nmake: 'test' is up to date.\n\
                 make: warning:  Clock skew detected.  Your build may be incomplete.\n",
                directory,
            ),
            ("make: Warning: File 'Makefile' has modification time 0.4 s in the future\n", None),
            ("make: 'app' is up to date.\n", Some(Idle::Made)),
            ("make: Nothing to be done for 'all'.\n", Some(Idle::Made)),
            ("sh test/run.sh\nmake: 'test' is up to date.\n", None),
            ("make: Nothing to be done for 'all'.\n3 tests passed\n", None),
            ("make: *** No rule to make target 'x'.  Stop.\n", None),
            ("", None),
            ("everything is up to date.\n", None),
        ] {
            assert_eq!(idle(output, &|path| path == "test"), expected, "{output}");
        }
    }
}
