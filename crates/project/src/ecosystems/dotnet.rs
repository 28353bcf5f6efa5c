//! .NET: a solution, or else a project file. The file is always named: `dotnet test` refuses to choose among several.

use fixpoint_vocabulary::Text;

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;
use crate::shell_quoting::shell_word;

/// Endings in order of preference: a solution knows its projects.
const ENDINGS: [&str; 5] = [".slnx", ".sln", ".csproj", ".fsproj", ".vbproj"];

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let names = dir.names();
    let of_ending = |ending: &&str| {
        let files: Vec<&String> = names
            .iter()
            .filter(|name| name.ends_with(*ending) && !name.chars().any(char::is_control))
            .collect();
        (!files.is_empty()).then_some(files)
    };
    let Some(files) = ENDINGS.iter().find_map(of_ending) else { return Detected::Nothing };
    let Some(chosen) = files.first() else { return Detected::Nothing };
    if files.len() > 1 {
        findings.note(several(&dir.path(chosen), files.len() - 1));
    }
    findings.test(dir, "dotnet", &format!("dotnet test {}", shell_word(chosen)), None, &[chosen]);
    Detected::Project
}

fn several(chosen: &str, others: usize) -> Text {
    Text::new(
        format!("Of several solutions or project files, only {chosen} is tested; not tested: {others}."),
        format!(
            "複数のソリューションまたはプロジェクトのうち、テストするのは {chosen} だけです(対象外: {others} 件)。"
        ),
    )
}
