//! Prints how well fingerprints hold over every recorded output, perturbed: `cargo run --example fingerprint_table`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "an example for people, over recorded files"
)]

#[path = "../tests/fixtures/mod.rs"]
mod fixtures;
#[path = "../tests/table/mod.rs"]
mod table;

fn main() {
    let rows = table::measure();
    println!("{}", table::render(&rows));
    for wrong in rows.values().flat_map(|row| &row.wrong) {
        println!("{wrong}");
    }
}
