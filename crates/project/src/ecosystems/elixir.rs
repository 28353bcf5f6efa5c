//! Elixir: `mix.exs`.

use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    if !place.exists("mix.exs") {
        return Seen::Nothing;
    }
    gathering.setup(place, "mix deps.get");
    gathering.check(
        place,
        Proposal {
            purpose: Purpose::Test,
            ecosystem: "elixir",
            command: "mix test".to_string(),
            runner: None,
            because: vec!["mix.exs".to_string()],
        },
    );
    Seen::Project
}
