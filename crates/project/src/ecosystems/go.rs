//! Go: `go.mod`.

use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    if !place.exists("go.mod") {
        return Seen::Nothing;
    }
    gathering.check(
        place,
        Proposal {
            purpose: Purpose::Test,
            ecosystem: "go",
            command: "go test ./...".to_string(),
            runner: Some("go_test"),
            because: vec!["go.mod".to_string()],
        },
    );
    Seen::Project
}
