//! `fixpoint demo`: one whole run on a bundled sample, live, and told so that a stranger learns the product from it.
//!
//! The model's answers, the agent and the person are scripted, and it says so; all else is real. Invariant: success means
//! that everything on the list is on record, not that the program came to its end.

mod expected;
mod moments;
mod narration;
mod sample;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use fixpoint_vocabulary::Text;
use serde_json::{Value, json};

use self::expected::{Finished, Item};
use self::narration::{Narration, lines};
pub(super) use self::sample::Keeping;
use self::sample::Sample;
use crate::app_context::AppContext;
use crate::arguments::{Arguments, Command, DiffArguments, RunGoalArguments};
use crate::commands::{results, run_command};
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::text_layout::shell_word;

/// The goal, as vague as goals are.
const GOAL: &str = "Make the shop better";
/// What `fixpoint run` answers where a part is done and a part is not.
const PARTLY: u8 = 8;
/// What it answers when it was stopped.
const STOPPED: u8 = 130;
/// Lines of the diagnosis that are shown.
const DIAGNOSIS_LINES: usize = 40;

pub(super) fn run(
    form: Form,
    keeping: Keeping,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let began = Instant::now();
    let sample = Sample::new(keeping)?;
    let narration = Arc::new(Narration::in_lang(output.lang()));
    let alone = app.alone_in(&sample.shop(), sample.path()).with_demo_script(narration);
    let mut stage = Stage { form, keeping, output };
    stage.open()?;
    let code = stage.play(&alone)?;
    if code == STOPPED {
        stage.remind(&sample)?;
        return Ok(code);
    }
    let repository = Repository::look(&alone)?;
    let run = repository.find("latest")?;
    let finished = Finished::new(repository, run)?;
    let items = finished.items();
    let is_as_scripted = code == PARTLY && items.iter().all(|item| item.happened);
    let told = Told { finished: &finished, items: &items, code, took: began.elapsed() };
    match form {
        Form::Json => stage.sum_up(&told, &sample)?,
        Form::Text => stage.close(&told, &alone, &sample)?,
    }
    if !is_as_scripted {
        let missing: Vec<&str> = items.iter().filter(|item| !item.happened).map(|item| item.name).collect();
        app.notices.say(&format!(
            "this did not go as scripted; the run ended with exit code {code}, expected {PARTLY}; missing: {}",
            if missing.is_empty() { "nothing".to_string() } else { missing.join(", ") }
        ));
    }
    Ok(u8::from(!is_as_scripted))
}

/// What there is to tell in the end.
struct Told<'a> {
    finished: &'a Finished,
    items: &'a [Item],
    code: u8,
    took: Duration,
}

/// Where the demo is told.
struct Stage<'a> {
    form: Form,
    keeping: Keeping,
    output: &'a mut Output,
}

impl Stage<'_> {
    fn line(&mut self, line: &str) -> Result<(), Failure> {
        match self.form {
            Form::Text => self.output.line(line),
            Form::Json => Ok(()),
        }
    }

    fn say(&mut self, en: impl Into<String>, ja: impl Into<String>) -> Result<(), Failure> {
        let said = lines(&Text::new(en.into(), ja.into()), self.output.lang());
        said.iter().try_for_each(|line| self.line(line))
    }

    fn title(&mut self, en: &'static str, ja: &'static str) -> Result<(), Failure> {
        let title = Text::new(en, ja);
        let title = format!("── {} ──", title.in_lang(self.output.lang()));
        self.line("")?;
        self.line(&title)
    }

    fn open(&mut self) -> Result<(), Failure> {
        self.title("Fixpoint: coding agents that converge", "Fixpoint: 収束するコーディングエージェント")?;
        self.say(
            "One whole run on a small bundled repository, live. The answers of the model, the agent and the person are \
             SCRIPTED. Everything else is real: the engine, git, processes, checks, the journal, every verdict. No key, \
             no network, nothing of yours is touched. It takes less than a minute.",
            "小さな付属リポジトリでの実行全体を、その場でお見せします。モデルの回答、エージェント、人の返事は台本どおり\
             です。それ以外（エンジン、git、プロセス、チェック、ジャーナル、すべての判定）は本物です。キーもネットワークも\
             不要で、あなたのファイルには触れません。1分もかかりません。",
        )?;
        self.line("")?;
        self.line(&format!("$ fixpoint run '{GOAL}' -- sh ../agent.sh"))?;
        self.output.finish()
    }

    /// The run, as a person would have typed it.
    fn play(&mut self, alone: &AppContext) -> Result<u8, Failure> {
        let mut nobody = Output::discarding(self.output.lang());
        let output = match self.form {
            Form::Text => &mut *self.output,
            Form::Json => &mut nobody,
        };
        let code = run_command::run(&typed()?, alone, output)?;
        self.output.finish()?;
        Ok(code)
    }

    fn close(&mut self, told: &Told<'_>, alone: &AppContext, sample: &Sample) -> Result<(), Failure> {
        self.delivered(told, alone)?;
        self.hopeless(told)?;
        self.list(told)?;
        self.remind(sample)?;
        self.your_turn()
    }

    fn delivered(&mut self, told: &Told<'_>, alone: &AppContext) -> Result<(), Failure> {
        self.title("What was delivered", "納品されたもの")?;
        let code = told.code;
        let Some(branch) = told.finished.branch() else {
            return self.say(
                format!("Nothing: the run ended with exit code {code}."),
                format!("何もありません。終了コードは{code}です。"),
            );
        };
        self.say(
            format!(
                "The branch {branch} in the sample; the working tree is as it was. The run ended with exit code {code}: \
                 partly done, because of the one task that cannot be."
            ),
            format!(
                "サンプル内のブランチ {branch} です。作業ツリーはそのままです。終了コードは{code}（一部完了）。\
                 一つのタスクが不可能だからです。"
            ),
        )?;
        self.line("$ fixpoint diff --stat")?;
        let of_run = told.finished.run.id.to_string();
        let arguments = DiffArguments { run: of_run, attempt: None, stat: true, json: false };
        results::diff(&arguments, &alone.without_notices(), self.output)
    }

    fn hopeless(&mut self, told: &Told<'_>) -> Result<(), Failure> {
        let (Some(task), Some(path)) = (told.finished.hopeless(), told.finished.diagnosis()) else {
            return Ok(());
        };
        let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
        self.title("Why one task was stopped", "一つのタスクが止まった理由")?;
        self.line(&format!("$ head -{DIAGNOSIS_LINES} context/{task}/diagnosis.md"))?;
        text.lines().take(DIAGNOSIS_LINES).try_for_each(|line| self.line(&format!("  {line}")))
    }

    fn list(&mut self, told: &Told<'_>) -> Result<(), Failure> {
        self.title("What you saw, and what shows it of any run", "見たものと、後で確かめるコマンド")?;
        let lang = self.output.lang();
        for item in told.items {
            let mark = if item.happened { "✓" } else { "✗" };
            self.line(&format!(" {mark} fixpoint {:8} {}", item.shown_by, item.what.in_lang(lang)))?;
        }
        let ledger = told.finished.folded.run.ledger();
        let (spent, used) = (ledger.spent(), ledger.models + ledger.agents);
        let (calls, attempts, tokens) = (spent.model_calls, spent.attempts, used.tokens());
        let seconds = told.took.as_secs_f64();
        self.say(
            format!(
                "It took {calls} questions to the model (about {tokens} tokens, $0.00: they are scripted), {attempts} \
                 attempts of agents, {seconds:.1} seconds. A budget stops a run before it is exceeded: --budget usd=2"
            ),
            format!(
                "モデルへの質問{calls}回（約{tokens}トークン、台本なので$0.00）、エージェントの試行{attempts}回、\
                 {seconds:.1}秒。予算は超える前に止めます: --budget usd=2"
            ),
        )
    }

    /// What is left of the sample, if anything.
    fn remind(&mut self, sample: &Sample) -> Result<(), Failure> {
        match self.keeping {
            Keeping::Nothing => self
                .say("The sample is removed, and its run with it.", "サンプルと実行の記録は削除されます。"),
            Keeping::Everything => {
                self.title("Kept, to look around", "残してあります")?;
                let quoted = |path: &Path| shell_word(&path.to_string_lossy());
                self.line(&format!(
                    "  cd {} && export HOME={}",
                    quoted(&sample.shop()),
                    quoted(sample.path())
                ))?;
                ["list", "show", "explain", "history", "diff", "logs"]
                    .iter()
                    .try_for_each(|command| self.line(&format!("  fixpoint {command}")))
            }
        }
    }

    fn your_turn(&mut self) -> Result<(), Failure> {
        self.title("Try it on your own repository", "次はあなたのリポジトリで")?;
        let steps = [
            ("fixpoint doctor", "which models and agents are here", "使えるモデルとエージェントを確認"),
            ("fixpoint init", "find the checks and write them down", "チェックを見つけて書き留める"),
            ("fixpoint run 'YOUR GOAL' --budget usd=2", "from a goal to a branch", "目標からブランチまで"),
            ("fixpoint loop --until 'A COMMAND THAT FAILS NOW'", "one task, one agent", "一つのタスクだけ"),
            ("fixpoint demo --list", "more demos", "ほかのデモ"),
        ];
        let lang = self.output.lang();
        for (command, en, ja) in steps {
            let text = Text::new(en, ja);
            self.line(&format!("  {command:50} # {}", text.in_lang(lang)))?;
        }
        Ok(())
    }

    /// Everything in one object.
    fn sum_up(&mut self, told: &Told<'_>, sample: &Sample) -> Result<(), Failure> {
        let lang = self.output.lang();
        let finished = told.finished;
        let mut summary = finished.summary(lang);
        summary.branch = finished.branch();
        let item = |item: &Item| json!({ "name": item.name, "what": item.what.in_lang(lang), "happened": item.happened });
        let items: Vec<Value> = told.items.iter().map(item).collect();
        let kept = match self.keeping {
            Keeping::Nothing => None,
            Keeping::Everything => Some(sample.path().to_string_lossy().into_owned()),
        };
        self.output.json(&json!({
            "demo": super::WHOLE,
            "as_scripted": told.items.iter().all(|item| item.happened) && told.code == PARTLY,
            "exit_code_of_run": told.code,
            "items": items,
            "seconds": told.took.as_secs_f64(),
            "kept": kept,
            "run": summary,
        }))
    }
}

/// What a person would have typed.
fn typed() -> Result<RunGoalArguments, Failure> {
    let words = ["fixpoint", "run", GOAL, "--", "sh", "../agent.sh"];
    let arguments = Arguments::try_parse_from(words).map_err(|error| Failure::Internal(error.to_string()))?;
    if let Command::Run(arguments) = arguments.command {
        Ok(*arguments)
    } else {
        Err(Failure::Internal("the demo does not type a run".into()))
    }
}
