//! `fixpoint demo`: a complete run on a bundled sample, two loops, or single decisions, explained for newcomers.
//!
//! A scene about a decision computes the real answer to the question that `fixpoint decide KIND --example` prints.

mod loop_demo;
mod scenes;
mod whole;

use std::fs;
use std::path::Path;

use clap::Parser;
use fixpoint_vocabulary::Text;
use serde_json::json;

use self::scenes::{SCENES, Scene};
use self::whole::Keeping;
use super::decide;
use crate::app_context::AppContext;
use crate::arguments::{Arguments, Command, DemoArguments};
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};

const WHOLE: &str = "whole";
const LOOP: &str = "loop";
const DECISIONS: &str = "decisions";

pub(crate) fn run(arguments: &DemoArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    if arguments.list {
        return list(output).map(|()| 0);
    }
    let name = arguments.scene.as_deref().unwrap_or(WHOLE);
    if name == WHOLE {
        let keeping = if arguments.keep { Keeping::Everything } else { Keeping::Nothing };
        return whole::run(arguments.json.into(), keeping, app, output);
    }
    if arguments.keep {
        return Err(Failure::BadInput(format!(
            "--keep works only with the demo `{WHOLE}`, not with `{name}`"
        )));
    }
    if name == LOOP {
        return loop_demo::run(arguments.json.into(), app, output).map(|()| 0);
    }
    decisions(name, arguments, output).map(|()| 0)
}

/// Prints the text of a demo; with `--json`, nothing.
struct Presenter<'a> {
    form: Form,
    output: &'a mut Output,
}

impl Presenter<'_> {
    fn line(&mut self, line: &str) -> Result<(), Failure> {
        match self.form {
            Form::Text => self.output.line(line),
            Form::Json => Ok(()),
        }
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = String>) -> Result<(), Failure> {
        lines.into_iter().try_for_each(|line| self.line(&line))
    }

    /// The beginning of a file, indented.
    fn head(&mut self, path: &Path, lines: usize) -> Result<(), Failure> {
        let text = fs::read_to_string(path)
            .map_err(|source| Failure::Unreadable { path: path.to_path_buf(), source })?;
        self.lines(text.lines().take(lines).map(|line| format!("  {line}")))
    }
}

/// The command that a person would have typed.
fn typed(words: &[&str]) -> Result<Command, Failure> {
    let arguments = Arguments::try_parse_from(words).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(arguments.command)
}

/// Writes a file of a sample, with its directories.
fn write(path: &Path, content: &str) -> Result<(), Failure> {
    let written = fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| fs::write(path, content));
    written.map_err(|source| Failure::Unwritable { path: path.to_path_buf(), source })
}

fn decisions(name: &str, arguments: &DemoArguments, output: &mut Output) -> Result<(), Failure> {
    for scene in chosen(name)? {
        let question = scene.kind.example();
        let answer =
            decide::answer(scene.kind, question.as_bytes(), output.lang()).map_err(Failure::Internal)?;
        let question = serde_json::from_str(question)?;
        if arguments.json {
            output.json(&json!({ "scene": scene.name, "question": question, "answer": answer }))?;
        } else {
            print(scene, &(scene.show)(&question, &answer), output)?;
        }
    }
    if !arguments.json && name == DECISIONS {
        output.say(&Text::new(
            "These answers were computed by Fixpoint's own code. `fixpoint decide --help` lists all decisions.",
            "以上の答えはすべて Fixpoint 自身のコードで計算したものです。判定の一覧は `fixpoint decide --help` にあります。",
        ))?;
    }
    Ok(())
}

fn list(output: &mut Output) -> Result<(), Failure> {
    let lang = output.lang();
    let whole = (
        "a complete run, from an unclear goal to a branch (the default)",
        "曖昧な目標からブランチまでの実行全体（既定）",
    );
    let demos = [
        (WHOLE, whole),
        (LOOP, ("two loops with scripted agents", "台本どおりに動くエージェントの2つのループ")),
        (DECISIONS, ("all decisions below, one after the other", "以下の判定すべて")),
    ];
    let scenes = SCENES.iter().map(|scene| (scene.name, scene.title));
    let line = |(name, (en, ja)): (&str, (&str, &str))| format!("{name:10}  {}", say(lang, en, ja));
    output.lines(demos.into_iter().chain(scenes).map(line))
}

fn chosen(name: &str) -> Result<Vec<&'static Scene>, Failure> {
    if name == DECISIONS {
        return Ok(SCENES.iter().collect());
    }
    match SCENES.iter().find(|scene| scene.name == name) {
        Some(scene) => Ok(vec![scene]),
        None => {
            let own = [WHOLE, LOOP, DECISIONS].into_iter();
            let names: Vec<&str> = own.chain(SCENES.iter().map(|scene| scene.name)).collect();
            Err(Failure::BadInput(format!("unknown demo `{name}`; available: {}", names.join(", "))))
        }
    }
}

fn print(scene: &Scene, shown: &[String], output: &mut Output) -> Result<(), Failure> {
    let lang = output.lang();
    let in_lang = |(en, ja): (&str, &str)| say(lang, en, ja);
    output.line(&format!("── {} ──", in_lang(scene.title)))?;
    output.line(&in_lang(scene.story))?;
    output.line("")?;
    output.lines(shown.iter().map(|line| format!("    {line}")))?;
    output.line("")?;
    output.line(&in_lang(scene.moral))?;
    let kind = scene.kind.name();
    output.line(&format!("  $ fixpoint decide {kind} --example | fixpoint decide {kind} --pretty"))?;
    output.line("")
}

#[cfg(test)]
mod tests {
    use super::scenes::SCENES;

    #[test]
    fn scenes_have_distinct_names() {
        for (n, scene) in SCENES.iter().enumerate() {
            assert!(SCENES[..n].iter().all(|other| other.name != scene.name), "{}", scene.name);
        }
    }
}
