//! Go: `go.mod`.

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists("go.mod") {
        return Detected::Nothing;
    }
    findings.test(dir, "go", "go test ./...", Some("go_test"), &["go.mod"]);
    Detected::Project
}
