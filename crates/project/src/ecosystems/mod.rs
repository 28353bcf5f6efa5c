//! Every ecosystem that is known, one file each: which files give it away, and which commands test and prepare it.
//!
//! An ecosystem proposes only what its files say. Refuses to ask whether a tool is installed: that is true of a
//! machine, and the answer is about a repository.

mod dotnet;
mod elixir;
mod go;
mod jvm;
pub(crate) mod make;
mod node;
mod php;
mod python;
mod ruby;
mod rust;

use crate::gathering::Gathering;
use crate::place::Place;

/// Whether a place is a project of some ecosystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A file of the ecosystem is there.
    Project,
    /// Nothing of it.
    Nothing,
}

/// Asks every ecosystem about a place.
pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    let looks: [fn(&Place<'_>, &mut Gathering) -> Seen; 11] = [
        rust::look,
        node::look,
        node::look_deno,
        python::look,
        go::look,
        jvm::look_maven,
        jvm::look_gradle,
        dotnet::look,
        ruby::look,
        php::look,
        elixir::look,
    ];
    let mut seen = Seen::Nothing;
    for look in looks {
        if look(place, gathering) == Seen::Project {
            seen = Seen::Project;
        }
    }
    seen
}
