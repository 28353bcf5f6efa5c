//! `fixpoint demo loop`: two loops on a sample repository. The agents are scripted and say so; all else is real.

use std::fs;
use std::path::Path;

use clap::Parser;
use fixpoint_vocabulary::Text;

use crate::app_context::AppContext;
use crate::arguments::{Arguments, Command, LoopArguments};
use crate::commands::loop_command;
use crate::failure::Failure;
use crate::output::{Form, Output};

/// The sample repository, and the agents beside it.
const FILES: [(&str, &str); 4] = [
    ("till/shop.sh", include_str!("../../../demo/shop.sh")),
    ("till/tests/run.sh", include_str!("../../../demo/tests/run.sh")),
    ("stuck.sh", include_str!("../../../demo/stuck.sh")),
    ("hasty.sh", include_str!("../../../demo/hasty.sh")),
];

/// A repository without a commit, which is all a working tree needs.
const REPOSITORY: [(&str, &str); 3] = [
    ("till/.git/HEAD", "ref: refs/heads/main\n"),
    ("till/.git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"),
    ("till/.git/refs/heads/.keep", ""),
];

struct Scene {
    title: Text,
    agent: &'static str,
    afterwards: Text,
}

pub(crate) fn run(form: Form, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let mut stage = Stage { form, app, output };
    stage.say(&Text::new(
        "Two loops on a small sample repository. The agents are scripted: shell scripts that play a part. Everything \
         else is real: git, processes, checks, the journal, the verdicts. Nothing of yours is touched.",
        "小さなサンプルリポジトリでループを二つ実行します。エージェントは台本どおりのシェルスクリプトです。git、プロセス、\
         チェック、ジャーナル、判定はすべて本物です。あなたのファイルには触れません。",
    ))?;
    for scene in scenes() {
        let directory = tempfile::tempdir()
            .map_err(|source| Failure::Unwritable { path: std::env::temp_dir(), source })?;
        stage.play(&scene, directory.path())?;
    }
    stage.line("")?;
    stage.say(&Text::new(
        "Your turn, in a repository of yours: fixpoint loop --until 'COMMAND THAT FAILS NOW' -- YOUR AGENT",
        "次はあなたのリポジトリで: fixpoint loop --until '今失敗するコマンド' -- エージェント",
    ))
}

fn scenes() -> [Scene; 2] {
    [
        Scene {
            title: Text::new(
                "1. An agent that goes in circles: each time another number, another time stamp, and the same failure",
                "1. 同じところを回るエージェント: 毎回違う数値と時刻、しかし同じ失敗",
            ),
            agent: "stuck.sh",
            afterwards: Text::new(
                "It was stopped after four attempts, not after a night. The failure has one fingerprint, however its \
                 words change.",
                "一晩ではなく4回で止まりました。言葉が変わっても失敗の指紋は一つです。",
            ),
        },
        Scene {
            title: Text::new(
                "2. An agent that claims: it breaks something, then removes the test, and says \"done\" each time",
                "2. 「完了」と言うエージェント: 壊し、テストを消し、そのたびに完了と言う",
            ),
            agent: "hasty.sh",
            afterwards: Text::new(
                "Its word counted for nothing, the evidence did. What failed before the work began (the printed price) \
                 is known and blocks nobody.",
                "言葉ではなく証拠が決めました。以前から失敗していたテスト(印字)は既知として扱われます。",
            ),
        },
    ]
}

/// Where the scenes are told, unless only their results are wanted.
struct Stage<'a> {
    form: Form,
    app: &'a AppContext,
    output: &'a mut Output,
}

impl Stage<'_> {
    fn line(&mut self, line: &str) -> Result<(), Failure> {
        match self.form {
            Form::Text => self.output.line(line),
            Form::Json => Ok(()),
        }
    }

    fn say(&mut self, text: &Text) -> Result<(), Failure> {
        let lang = self.output.lang();
        self.line(text.in_lang(lang))
    }

    fn play(&mut self, scene: &Scene, place: &Path) -> Result<(), Failure> {
        set_up(place)?;
        self.line("")?;
        self.line(&format!("── {}", scene.title.in_lang(self.output.lang())))?;
        self.line(&format!(
            "$ fixpoint loop --until 'sh tests/run.sh discount' --check 'sh tests/run.sh' -- sh {}",
            scene.agent
        ))?;
        self.output.finish()?;
        let app = self.app.alone_in(&place.join("till"), place);
        loop_command::run(&typed(scene, place, self.form)?, &app, self.output)?;
        self.show_diagnosis(place)?;
        self.line("")?;
        self.say(&scene.afterwards)
    }

    /// The diagnosis as it was written, if one was.
    fn show_diagnosis(&mut self, place: &Path) -> Result<(), Failure> {
        let Some(file) = find(&place.join(".local/state"), "diagnosis.md") else { return Ok(()) };
        let text = fs::read_to_string(&file).map_err(|source| Failure::Unreadable { path: file, source })?;
        self.line("")?;
        self.line("$ head context/loop/diagnosis.md")?;
        text.lines().take(DIAGNOSIS_LINES).try_for_each(|line| self.line(&format!("  {line}")))
    }
}

/// Makes the sample repository and the agents.
fn set_up(place: &Path) -> Result<(), Failure> {
    let objects = place.join("till/.git/objects");
    fs::create_dir_all(&objects).map_err(|source| Failure::Unwritable { path: objects, source })?;
    for (name, content) in FILES.iter().chain(&REPOSITORY) {
        let path = place.join(name);
        let written =
            fs::create_dir_all(path.parent().unwrap_or(place)).and_then(|()| fs::write(&path, content));
        written.map_err(|source| Failure::Unwritable { path, source })?;
    }
    Ok(())
}

/// What a person would have typed.
fn typed(scene: &Scene, place: &Path, form: Form) -> Result<LoopArguments, Failure> {
    let agent = place.join(scene.agent).to_string_lossy().into_owned();
    let mut words =
        vec!["fixpoint", "loop", "--until", "sh tests/run.sh discount", "--check", "sh tests/run.sh"];
    words.extend(["--prompt", "The discount is wrong."]);
    if form == Form::Json {
        words.push("--json");
    }
    words.extend(["--", "sh", &agent]);
    let arguments = Arguments::try_parse_from(words).map_err(|error| Failure::Internal(error.to_string()))?;
    if let Command::Loop(arguments) = arguments.command {
        Ok(*arguments)
    } else {
        Err(Failure::Internal("the demo does not type a loop".into()))
    }
}

/// Lines of the diagnosis that are shown.
const DIAGNOSIS_LINES: usize = 24;

/// The first file of a name in a tree that this program made.
fn find(directory: &Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = fs::read_dir(directory).ok()?.flatten();
    let mut directories = Vec::new();
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => directories.push(entry.path()),
            Ok(_) if entry.file_name() == name => return Some(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
    directories.iter().find_map(|directory| find(directory, name))
}
