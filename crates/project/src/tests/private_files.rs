//! Which files are copied into a workspace.

use super::{found_with, notes};

#[test]
fn only_environments_that_git_ignores_are_copied() {
    let files = [
        ("go.mod", ""),
        (".env", ""),
        (".env.example", ""),
        (".env.local", ""),
        (".env.production", ""),
        (".envrc", ""),
        (".env.d/a", ""),
    ];
    let ignored = [".env", ".env.example", ".env.local", ".envrc", ".env.d/", ".env.d/a"];
    let found = found_with(&files, &ignored);
    assert_eq!(found.copy, [".env", ".env.local"]);
    assert_eq!(notes(&found), Vec::<&str>::new());
}

#[test]
fn below_the_root_they_are_copied_only_for_projects() {
    let files = [("api/go.mod", ""), ("api/.env", ""), ("notes/.env", "")];
    let found = found_with(&files, &["api/.env", "notes/.env"]);
    assert_eq!(found.copy, ["api/.env"]);
}

#[test]
fn a_file_that_may_contain_a_token_is_only_noted() {
    let files = [("go.mod", ""), (".npmrc", "")];
    let found = found_with(&files, &[".npmrc"]);
    assert_eq!(found.copy, Vec::<String>::new());
    assert!(notes(&found)[0].starts_with(".npmrc is ignored by git and often contains a token"), "{found:?}");
    assert_eq!(notes(&found_with(&files, &[])), Vec::<&str>::new());
}
