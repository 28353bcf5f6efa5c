//! `fixpoint demo`: worked decisions, told so that a newcomer learns from them what the product does.
//!
//! Every scene asks the real decision the question that `fixpoint decide KIND --example` prints, and shows the
//! answer. Nothing is scripted but the questions; nothing is read or written.

mod looping;
mod scenes;

use fixpoint_vocabulary::Text;
use serde_json::json;

use self::scenes::{SCENES, Scene};
use super::decide;
use crate::arguments::DemoArguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::surroundings::Surroundings;

/// The name of the demo that runs a loop.
const LOOP: &str = "loop";

pub(crate) fn run(
    arguments: &DemoArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.list {
        return list(output);
    }
    if arguments.scene.as_deref() == Some(LOOP) {
        return looping::run(arguments.json.into(), surroundings, output);
    }
    for scene in chosen(arguments.scene.as_deref())? {
        let question = scene.kind.example();
        let answer =
            decide::answer(scene.kind, question.as_bytes(), output.lang()).map_err(Failure::Internal)?;
        let question = serde_json::from_str(question)?;
        if arguments.json {
            output.json(&json!({ "scene": scene.name, "question": question, "answer": answer }))?;
        } else {
            tell(scene, &(scene.show)(&question, &answer), output)?;
        }
    }
    if !arguments.json && arguments.scene.is_none() {
        epilogue(output)?;
    }
    Ok(())
}

fn list(output: &mut Output) -> Result<(), Failure> {
    let lang = output.lang();
    let looped =
        Text::new("two loops with scripted agents, live", "台本どおりのエージェントによるループ、実演");
    output.line(&format!("{LOOP:10}  {}", looped.in_lang(lang)))?;
    for scene in &SCENES {
        output.line(&format!("{:10}  {}", scene.name, (scene.title)().in_lang(lang)))?;
    }
    Ok(())
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Scene>, Failure> {
    let Some(name) = name else { return Ok(SCENES.iter().collect()) };
    match SCENES.iter().find(|scene| scene.name == name) {
        Some(scene) => Ok(vec![scene]),
        None => {
            let names: Vec<&str> =
                std::iter::once(LOOP).chain(SCENES.iter().map(|scene| scene.name)).collect();
            Err(Failure::BadInput(format!("there is no scene `{name}`; there are: {}", names.join(", "))))
        }
    }
}

fn tell(scene: &Scene, shown: &[String], output: &mut Output) -> Result<(), Failure> {
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
        "These were the product's own decisions, asked from outside; `fixpoint decide --help` has them all.",
        "以上はすべて製品自身の判定です。一覧は `fixpoint decide --help` を参照してください。",
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
