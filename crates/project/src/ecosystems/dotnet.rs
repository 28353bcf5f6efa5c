//! .NET: a solution, or else a project file. The file is always named: `dotnet test` refuses to choose among several.

use fixpoint_vocabulary::Text;

use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;
use crate::quoting::shell_word;

/// Endings by preference: a solution knows its projects.
const ENDINGS: [&str; 5] = [".slnx", ".sln", ".csproj", ".fsproj", ".vbproj"];

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    let names = place.names();
    let of_ending = |ending: &&str| {
        let files: Vec<&String> = names
            .iter()
            .filter(|name| name.ends_with(*ending) && !name.chars().any(char::is_control))
            .collect();
        (!files.is_empty()).then_some(files)
    };
    let Some(files) = ENDINGS.iter().find_map(of_ending) else { return Seen::Nothing };
    let Some(chosen) = files.first() else { return Seen::Nothing };
    if files.len() > 1 {
        gathering.note(several(&place.path(chosen), files.len() - 1));
    }
    gathering.check(
        place,
        Proposal {
            purpose: Purpose::Test,
            ecosystem: "dotnet",
            command: format!("dotnet test {}", shell_word(chosen)),
            runner: None,
            because: vec![chosen.to_string()],
        },
    );
    Seen::Project
}

fn several(chosen: &str, others: usize) -> Text {
    Text::new(
        format!(
            "{chosen} was chosen among several solutions or projects; {others} beside it are not tested."
        ),
        format!(
            "複数のソリューションまたはプロジェクトから {chosen} を選びました。他の {others} 件はテストされません。"
        ),
    )
}
