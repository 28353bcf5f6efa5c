//! Go: `go.mod`.

use super::Detected;
use crate::findings::{Findings, Proposal, Purpose};
use crate::project_directory::ProjectDirectory;

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists("go.mod") {
        return Detected::Nothing;
    }
    findings.check(
        dir,
        Proposal {
            purpose: Purpose::Test,
            ecosystem: "go",
            command: "go test ./...".to_string(),
            runner: Some("go_test"),
            because: vec!["go.mod".to_string()],
        },
    );
    Detected::Project
}
