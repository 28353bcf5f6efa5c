//! `fixpoint demo loop`: two loops on a sample repository. The agents are scripted, and the demo says so; everything
//! else is real.

use std::fs;
use std::path::Path;

use clap::Parser;
use fixpoint_vocabulary::Text;

use crate::app_context::AppContext;
use crate::arguments::{Arguments, Command, LoopArguments};
use crate::commands::loop_command;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::text_layout::wrap;

/// The sample repository, and the agents beside it.
const FILES: [(&str, &str); 4] = [
    ("till/shop.sh", include_str!("../../../demo/shop.sh")),
    ("till/tests/run.sh", include_str!("../../../demo/tests/run.sh")),
    ("stuck.sh", include_str!("../../../demo/stuck.sh")),
    ("hasty.sh", include_str!("../../../demo/hasty.sh")),
];

/// A repository without a commit: `loop` needs none.
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
    let mut presenter = Presenter { form, app, output };
    presenter.say(&Text::new(
        "Two loops on a small sample repository. The agents are scripted shell scripts. Everything else is real: git, \
         processes, checks, journal, decisions. Your files are not touched.",
        "小さなサンプルリポジトリでループを2つ実行します。エージェントは台本どおりに動くシェルスクリプトです。git、プロセス、\
         チェック、ジャーナル、判定はすべて本物です。あなたのファイルには触れません。",
    ))?;
    for scene in scenes() {
        let directory = tempfile::tempdir()
            .map_err(|source| Failure::Unwritable { path: std::env::temp_dir(), source })?;
        presenter.run(&scene, directory.path())?;
    }
    presenter.line("")?;
    presenter.say(&Text::new(
        "Now try it in your own repository: fixpoint loop --until 'COMMAND THAT FAILS NOW' -- AGENT",
        "次はあなたのリポジトリで: fixpoint loop --until '今失敗するコマンド' -- エージェント",
    ))
}

fn scenes() -> [Scene; 2] {
    [
        Scene {
            title: Text::new(
                "1. An agent that goes in circles: new numbers and time stamps each time, but the same failure",
                "1. 堂々巡りするエージェント: 数値と時刻は毎回違うが、失敗は同じ",
            ),
            agent: "stuck.sh",
            afterwards: Text::new(
                "It was stopped after four attempts instead of running all night. The failure keeps its fingerprint, even \
                 if its message changes.",
                "一晩中ではなく4回の試行で停止しました。メッセージが変わっても、失敗のフィンガープリントは同じです。",
            ),
        },
        Scene {
            title: Text::new(
                "2. An agent that claims success: it breaks something, deletes the test, and says \"done\" each time",
                "2. 完了したと主張するエージェント: 何かを壊し、テストを削除し、そのたびに「完了」と言う",
            ),
            agent: "hasty.sh",
            afterwards: Text::new(
                "The checks decided, not the agent's claim. The test that failed before the work began (printed prices) is \
                 known and was tolerated.",
                "エージェントの主張ではなくチェックが決めました。以前から失敗していたテスト（価格の印字）は既知として許容されます。",
            ),
        },
    ]
}

/// Prints the demo; with `--json`, only the results.
struct Presenter<'a> {
    form: Form,
    app: &'a AppContext,
    output: &'a mut Output,
}

impl Presenter<'_> {
    fn line(&mut self, line: &str) -> Result<(), Failure> {
        match self.form {
            Form::Text => self.output.line(line),
            Form::Json => Ok(()),
        }
    }

    fn say(&mut self, text: &Text) -> Result<(), Failure> {
        let lines = wrap(text.in_lang(self.output.lang()), self.app.width(), "", "");
        lines.iter().try_for_each(|line| self.line(line))
    }

    fn run(&mut self, scene: &Scene, place: &Path) -> Result<(), Failure> {
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

    /// The diagnosis, if one was written.
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
        Err(Failure::Internal("the command of the demo is not `loop`".into()))
    }
}

/// Lines of the diagnosis that are shown.
const DIAGNOSIS_LINES: usize = 24;

/// The first file with this name in a directory tree.
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
