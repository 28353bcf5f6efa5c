//! `fixpoint demo`: a complete run on a bundled sample, two loops, or single decisions, explained for newcomers.
//!
//! A scene about a decision computes the real answer to the question that `fixpoint decide KIND --example` prints.

mod loop_demo;
mod scenes;
mod whole;

use fixpoint_vocabulary::Text;
use serde_json::json;

use self::scenes::{SCENES, Scene};
use self::whole::Keeping;
use super::decide;
use crate::app_context::AppContext;
use crate::arguments::DemoArguments;
use crate::failure::Failure;
use crate::output::Output;

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
        epilogue(output)?;
    }
    Ok(())
}

fn list(output: &mut Output) -> Result<(), Failure> {
    let lang = output.lang();
    let demos = [
        (
            WHOLE,
            Text::new(
                "a complete run, from an unclear goal to a branch (the default)",
                "曖昧な目標からブランチまでの実行全体（既定）",
            ),
        ),
        (LOOP, Text::new("two loops with scripted agents", "台本どおりに動くエージェントの2つのループ")),
        (DECISIONS, Text::new("all decisions below, one after the other", "以下の判定すべて")),
    ];
    for (name, what) in demos {
        output.line(&format!("{name:10}  {}", what.in_lang(lang)))?;
    }
    for scene in &SCENES {
        output.line(&format!("{:10}  {}", scene.name, (scene.title)().in_lang(lang)))?;
    }
    Ok(())
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
    output.line(&format!("── {} ──", (scene.title)().in_lang(lang)))?;
    output.say(&(scene.story)())?;
    output.line("")?;
    for line in shown {
        output.line(&format!("    {line}"))?;
    }
    output.line("")?;
    output.say(&(scene.moral)())?;
    let kind = scene.kind.name();
    output.line(&format!("  $ fixpoint decide {kind} --example | fixpoint decide {kind} --pretty"))?;
    output.line("")
}

fn epilogue(output: &mut Output) -> Result<(), Failure> {
    output.say(&Text::new(
        "These answers were computed by Fixpoint's own code. `fixpoint decide --help` lists all decisions.",
        "以上の答えはすべて Fixpoint 自身のコードで計算したものです。判定の一覧は `fixpoint decide --help` にあります。",
    ))
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
