//! Same failure, same fingerprint; different failure, different fingerprint: over every recorded output, perturbed.
//!
//! `cargo test -p fixpoint-failures --test fingerprints -- --nocapture` prints the table.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests read recorded files, take them apart and print a table"
)]

mod fixtures;
mod table;

#[test]
fn fingerprints_stay_and_differ_as_they_must() {
    let rows = table::measure();
    println!("{}", table::render(&rows));
    let mut wrong = String::new();
    for (runner, row) in &rows {
        if table::percent(row.same) < 99.0 || table::percent(row.different) < 99.0 {
            wrong.push_str(&format!(
                "{runner}:\n{}\n",
                row.wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
