//! `fixpoint demo loop`: two loops on a sample repository. The agents are scripted, and the demo says so; everything
//! else is real.

use std::fs;
use std::path::Path;

use fixpoint_vocabulary::Text;

use super::{Presenter, typed, write};
use crate::app_context::AppContext;
use crate::arguments::Command;
use crate::commands::loop_command;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::selected_checks::TASK;
use crate::text_layout::wrap;

const GOAL: &str = "sh tests/run.sh discount";
const GUARD: &str = "sh tests/run.sh";
/// Lines of the diagnosis that are shown.
const DIAGNOSIS_LINES: usize = 24;

/// The sample repository, and the agents next to it.
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
    let presenter = &mut Presenter { form, output };
    let introduction = Text::new(
        "Two loops on a small sample repository. The agents are scripted shell scripts. Everything else is real: git, \
         processes, checks, journal, decisions. Your files are not touched.",
        "小さなサンプルリポジトリでループを2つ実行します。エージェントは台本どおりに動くシェルスクリプトです。git、プロセス、\
         チェック、ジャーナル、判定はすべて本物です。あなたのファイルには触れません。",
    );
    say(presenter, &introduction, app)?;
    for scene in scenes() {
        let directory = tempfile::tempdir()
            .map_err(|source| Failure::Unwritable { path: std::env::temp_dir(), source })?;
        show(presenter, &scene, directory.path(), app)?;
    }
    presenter.line("")?;
    let next = Text::new(
        "Now try it in your own repository: fixpoint loop --until 'COMMAND THAT FAILS NOW' -- AGENT",
        "次はあなたのリポジトリで: fixpoint loop --until '今失敗するコマンド' -- エージェント",
    );
    say(presenter, &next, app)
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

fn say(presenter: &mut Presenter<'_>, text: &Text, app: &AppContext) -> Result<(), Failure> {
    presenter.lines(wrap(text.in_lang(app.lang), app.width(), "", ""))
}

fn show(presenter: &mut Presenter<'_>, scene: &Scene, place: &Path, app: &AppContext) -> Result<(), Failure> {
    set_up(place)?;
    presenter.line("")?;
    presenter.line(&format!("── {}", scene.title.in_lang(app.lang)))?;
    presenter.line(&format!("$ fixpoint loop --until '{GOAL}' --check '{GUARD}' -- sh {}", scene.agent))?;
    presenter.output.flush();
    let alone = app.alone_in(&place.join("till"), place);
    let agent = place.join(scene.agent).to_string_lossy().into_owned();
    let mut words = vec!["fixpoint", "loop", "--until", GOAL, "--check", GUARD];
    words.extend(["--prompt", "The discount is wrong."]);
    words.extend((presenter.form == Form::Json).then_some("--json"));
    words.extend(["--", "sh", &agent]);
    let Command::Loop(arguments) = typed(&words)? else {
        return Err(Failure::Internal("the command of the demo is not `loop`".into()));
    };
    loop_command::run(&arguments, &alone, presenter.output)?;
    let run = Repository::look(&alone)?.find("latest")?;
    let diagnosis = run.context(TASK).join("diagnosis.md");
    if diagnosis.is_file() {
        presenter.line("")?;
        presenter.line("$ head context/loop/diagnosis.md")?;
        presenter.head(&diagnosis, DIAGNOSIS_LINES)?;
    }
    presenter.line("")?;
    say(presenter, &scene.afterwards, app)
}

/// Makes the sample repository and the agents.
fn set_up(place: &Path) -> Result<(), Failure> {
    let objects = place.join("till/.git/objects");
    fs::create_dir_all(&objects).map_err(|source| Failure::Unwritable { path: objects, source })?;
    FILES.iter().chain(&REPOSITORY).try_for_each(|(name, content)| write(&place.join(name), content))
}
