//! .NET: a solution, or else a project file. The file is always named: `dotnet test` refuses to choose among several.

use fixpoint_vocabulary::Text;

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;
use crate::shell_quoting::shell_word;

/// Endings in order of preference: a solution knows its projects.
const ENDINGS: [&str; 5] = [".slnx", ".sln", ".csproj", ".fsproj", ".vbproj"];

/// Files that are named where several are left out, at most.
const MOST_NAMED: usize = 5;

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
        let others: Vec<&str> = files.iter().skip(1).take(MOST_NAMED).map(|name| name.as_str()).collect();
        findings.skip(dir, &others.join(", "), several(&dir.path(chosen)));
    }
    findings.setup(dir, &format!("dotnet restore {}", shell_word(chosen)));
    findings.test(dir, "dotnet", &format!("dotnet test {}", shell_word(chosen)), None, &[chosen]);
    Detected::Project
}

fn several(chosen: &str) -> Text {
    Text::new(
        format!("of several solutions or project files, only {chosen} is tested"),
        format!("複数のソリューションまたはプロジェクトのうち、{chosen} だけをテストするため"),
    )
}
