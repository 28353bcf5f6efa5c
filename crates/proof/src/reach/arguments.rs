//! What becomes of the arguments of interpreters, test runners, loops and comparisons.
//!
//! Owns which argument is a script, which a test, which an expectation. Refuses to know how a script is read.

use super::Reach;
use super::programs::{
    RUNNERS, WRAPPERS_WITH_WORD, is_script, program, sounds_like_expectation, sounds_like_test,
};
use super::walk::{Place, find, load_script, module, run, start_script};
use crate::paths::{extension, join, part_matches};
use crate::tree::{Tree, is_directory};

pub(super) fn interpreter(
    reach: &mut Reach,
    base: &dyn Tree,
    name: &str,
    arguments: &[String],
    place: &Place,
    is_judged: bool,
) {
    if matches!(name, "node" | "nodejs") && arguments.iter().any(|word| word == "--test")
        || matches!(name, "bun" | "deno") && arguments.first().is_some_and(|word| word == "test")
    {
        return test_arguments(reach, base, arguments, place);
    }
    if let Some(at) =
        arguments.iter().position(|word| word == "-m").filter(|_| matches!(name, "python" | "pypy"))
    {
        let rest = arguments.get(at + 1..).unwrap_or_default();
        let Some(first) = rest.first() else { return };
        let is_program =
            RUNNERS.contains(&first.as_str()) || WRAPPERS_WITH_WORD.iter().any(|(known, _)| known == first);
        if is_program {
            return run(reach, base, rest, &mut place.clone(), is_judged, &[]);
        }
        if !is_judged || sounds_like_test(first) {
            let found = module(reach, base, place, first, &place.by);
            if let Some(path) = found {
                load_script(reach, base, &format!("//{path}"), place, "loaded by");
            }
        }
        if first == "nox" {
            nox(reach, base, place);
        }
        return;
    }
    let takes_value = ["-I", "-r", "-e", "-c", "--require", "--import", "--loader", "-W", "-X", "-L"];
    let mut skip = false;
    for word in arguments {
        let takes = takes_value.contains(&word.as_str()) || name == "php" && word == "-d";
        let is_value = std::mem::replace(&mut skip, takes);
        if matches!(word.as_str(), "-e" | "-c" | "--eval" | "-p" | "--print") {
            return;
        }
        if is_value || word.starts_with('-') || matches!(word.as_str(), "run" | "exec" | "task") {
            continue;
        }
        let bare = program(word).trim_end_matches(".js").trim_end_matches(".phar");
        if RUNNERS.contains(&bare) {
            // `php vendor/bin/phpunit checks`
            let behind = arguments.iter().skip_while(|other| *other != word).skip(1).cloned();
            start_script(reach, base, word, place, is_judged);
            return test_arguments(reach, base, &behind.collect::<Vec<_>>(), place);
        }
        if is_test_list(name, arguments) {
            return test_arguments(reach, base, arguments, place);
        }
        return start_script(reach, base, word, place, is_judged);
    }
}

/// What nox runs, and what that imports.
pub(super) fn nox(reach: &mut Reach, base: &dyn Tree, place: &Place) {
    load_script(reach, base, "noxfile.py", place, "loaded by");
}

/// `ruby -Itest a_test.rb`, `perl -Ilib t/a.t`.
fn is_test_list(name: &str, arguments: &[String]) -> bool {
    matches!(name, "ruby" | "perl")
        && arguments.iter().any(|word| matches!(word.as_str(), "-Itest" | "-Ispec" | "-Ilib:test"))
}

/// Files and directories that a test runner is given.
pub(super) fn test_arguments(reach: &mut Reach, base: &dyn Tree, arguments: &[String], place: &Place) {
    for word in arguments.iter().filter(|word| !word.starts_with('-')) {
        let path = word.split("::").next().unwrap_or(word);
        let without_line =
            path.rsplit_once(':').filter(|(_, line)| line.bytes().all(|byte| byte.is_ascii_digit()));
        let path = without_line.map_or(path, |(path, _)| path);
        if path.contains('*') {
            let glob = join(&place.directory, path).unwrap_or_default();
            let found = base.files().iter().filter(|file| crate::paths::matches(&format!("/{glob}"), file));
            reach.tests.extend(found.cloned());
            continue;
        }
        let Some(joined) = join(&place.directory, path) else { continue };
        if base.is_file(&joined) {
            reach.tests.insert(joined);
        } else if is_directory(base, &joined) {
            reach.test_directories.insert(joined);
        } else if extension(path).is_empty() {
            // `unittest` is given modules.
            let dotted =
                join(&place.directory, &format!("{}.py", path.replace('.', "/"))).unwrap_or_default();
            reach.tests.extend(Some(dotted).filter(|file| base.is_file(file)));
        } else {
            let found = find(base, place, path);
            if found.is_none() && place.depth == 0 {
                reach.named.insert(joined.clone());
            }
            let by_module = format!(
                "{}.py",
                path.split('.').take(path.split('.').count() - 1).collect::<Vec<_>>().join("/")
            );
            reach.tests.extend(found.or_else(|| find(base, place, &by_module)));
        }
    }
}

/// `for t in checks/*.sh; do sh $t; done`
pub(super) fn for_loop(reach: &mut Reach, base: &dyn Tree, arguments: &[String], place: &Place) {
    for word in arguments.iter().skip(2) {
        let Some(glob) = join(&place.directory, word) else { continue };
        let may_run = |file: &str| is_script(file) || extension(file).is_empty();
        let fits = |file: &&String| may_run(file) && glob_fits(&glob, file);
        let found: Vec<String> = base.files().iter().filter(fits).cloned().collect();
        for file in found {
            load_script(reach, base, &format!("//{file}"), place, "run by");
        }
        if word.contains('*') && may_run(word) {
            reach.looked_for.insert(glob, format!("added; run by {}", place.by));
        }
    }
}

pub(crate) fn glob_fits(glob: &str, path: &str) -> bool {
    glob.split('/').count() == path.split('/').count()
        && glob.split('/').zip(path.split('/')).all(|(glob, part)| part_matches(glob, part))
}

/// `[ -f x ] && . x`: what is looked for and absent would be loaded if it were there.
pub(super) fn guard(reach: &mut Reach, base: &dyn Tree, arguments: &[String], place: &Place) {
    let is_question = |word: &str| matches!(word, "-f" | "-x" | "-e" | "-r" | "-s" | "-d");
    for pair in arguments.windows(2) {
        let [question, file] = pair else { continue };
        let Some(path) = join(&place.directory, file) else { continue };
        if is_question(question) && place.depth > 0 && is_script(file) && !base.is_file(&path) {
            reach.looked_for.insert(path, format!("added; {} looks for it", place.by));
        }
    }
}

/// What an output is compared with is a definition; the output is not.
pub(super) fn compare(
    reach: &mut Reach,
    base: &dyn Tree,
    arguments: &[String],
    place: &Place,
    outputs: &[String],
) {
    let operands: Vec<&String> =
        arguments.iter().filter(|word| !word.starts_with('-') || word.as_str() == "-").collect();
    let is_made = |word: &str| {
        word == "-"
            || word.starts_with("/dev/")
            || outputs.iter().any(|output| output == word)
            || find(base, place, word).is_none()
    };
    for (at, word) in operands.iter().enumerate() {
        let Some(path) = find(base, place, word) else {
            // To make what the check's own command compares with is the work.
            reach.named.extend(join(&place.directory, word).filter(|_| place.depth == 0));
            continue;
        };
        let others_made = operands.iter().enumerate().any(|(other, word)| other != at && is_made(word));
        let is_written = outputs.iter().any(|output| output == *word);
        if !is_written && (others_made || sounds_like_expectation(&path)) {
            reach.define(path, &format!("compared by {}", place.by));
        }
    }
}

/// `go run ./tools/check`: a program that tests, if its name says so.
pub(super) fn go_run(
    reach: &mut Reach,
    base: &dyn Tree,
    arguments: &[String],
    place: &Place,
    is_judged: bool,
) {
    let Some(target) = arguments.iter().skip(1).find(|word| !word.starts_with('-')) else { return };
    let is_test = join(&place.directory, target).is_some_and(|path| sounds_like_test(&path));
    if is_test && !is_judged {
        program_that_tests(reach, base, place, target);
    }
}

/// `cargo test --test name`; `cargo run --bin verify`, a program that tests if its name says so.
pub(super) fn cargo(
    reach: &mut Reach,
    base: &dyn Tree,
    arguments: &[String],
    place: &Place,
    is_judged: bool,
) {
    let pairs = arguments.windows(2).filter_map(|pair| Some((pair.first()?.as_str(), pair.get(1)?.as_str())));
    let assigned = arguments.iter().filter_map(|word| word.split_once('='));
    for (option, name) in pairs.chain(assigned) {
        let root = match option {
            "--test" => {
                reach.tests.extend(find(base, place, &format!("tests/{name}.rs")));
                continue;
            }
            "--bin" => "src/bin",
            "--example" => "examples",
            _ => continue,
        };
        if !is_judged && sounds_like_test(name) {
            program_that_tests(reach, base, place, &format!("{root}/{name}.rs"));
            program_that_tests(reach, base, place, &format!("{root}/{name}"));
        }
    }
}

/// A file, or all files of a directory.
fn program_that_tests(reach: &mut Reach, base: &dyn Tree, place: &Place, target: &str) {
    let Some(path) = join(&place.directory, target) else { return };
    let files: Vec<String> =
        crate::tree::below(base, &path).map(str::to_string).chain(find(base, place, target)).collect();
    for file in files {
        reach.define(file, &format!("run by {}", place.by));
    }
}
