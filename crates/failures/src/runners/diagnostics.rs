//! Diagnostics on one line: gcc, clang and their linkers, javac, tsc, MSBuild, and rustc's short form.
//!
//! Owns `file:line:column: error: …` and its kin, also in other languages. The source line that gcc prints below belongs to
//! the diagnostic. Files of script languages are not compiled: what is said of them is left to `general/`.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Read, Step, javac, place};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug)]
pub(crate) struct Diagnostic {
    draft: Option<FingerprintParts>,
    below: javac::Below,
}

/// How compilers begin an error; longer ones first.
const ERRORS: [&str; 23] = [
    "fatal error",
    "error",
    "致命的エラー",
    "エラー",
    "schwerwiegender Fehler",
    "Fehler",
    "erreur fatale",
    "erreur",
    "error fatal",
    "errore fatale",
    "errore",
    "erro fatal",
    "erro",
    "致命错误",
    "错误",
    "致命錯誤",
    "錯誤",
    "치명적 오류",
    "오류",
    "фатальная ошибка",
    "ошибка",
    "błąd krytyczny",
    "błąd",
];

/// How linkers say that a symbol is missing.
const REFERENCES: [&str; 4] = [
    "undefined reference to ",
    "nicht definierter Verweis auf ",
    "référence indéfinie vers ",
    "référence à « ",
];

/// What makes a line worth a closer look: an error in any language, a missing symbol, or a failed assertion.
const WORDS: [&str; 16] = [
    "erreur",
    "Fehler",
    "エラー",
    "erro",
    "错误",
    "錯誤",
    "오류",
    "ошибка",
    "błąd",
    "undefined reference to ",
    "Verweis auf ",
    "référence ",
    "定義されていない参照",
    ": Failure",
    ": FAILED:",
    ": failed: ",
];

/// Whether any of the words of this reader, and of those that report positions as it does, is in the line.
pub(crate) fn is_worth_a_look(line: &str) -> bool {
    // Nearly every line of a long output comes by here, and nearly none is meant.
    static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        // Only this way of matching is searched for with wide registers.
        AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(WORDS).ok()
    });
    FINDER.as_ref().is_some_and(|finder| finder.is_match(line))
}

pub(crate) fn begin(line: &str) -> Option<Diagnostic> {
    let draft =
        typescript(line).or_else(|| msbuild(line)).or_else(|| compiler(line)).or_else(|| linker(line));
    draft.map(|draft| Diagnostic { draft: Some(draft), below: javac::Below::default() })
}

impl Diagnostic {
    pub(crate) fn runner(&self) -> Runner {
        self.draft.as_ref().map_or(Runner::Gcc, |draft| draft.runner)
    }
}

impl Read for Diagnostic {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let Some(draft) = &mut self.draft else { return Step::Refused };
        // The first line is the one this reader was made from.
        if draft.signature.is_empty() {
            draft.signature.clone_from(&draft.message);
            return Step::Taken;
        }
        if draft.runner == Runner::Javac {
            if self.below.line(line, draft) {
                return Step::Taken;
            }
            self.finish(out);
            return Step::Refused;
        }
        let trimmed = line.trim_start();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let source = trimmed.get(digits..).and_then(|rest| rest.strip_prefix(" | "));
        if let Some(source) =
            source.filter(|_| digits > 0 && line.starts_with(' ') && draft.runner == Runner::Gcc)
        {
            draft.source.push('\n');
            draft.source.push_str(source.trim());
            self.finish(out);
            return Step::Ended;
        }
        self.finish(out);
        Step::Refused
    }

    fn finish(&mut self, out: &mut Collector) {
        if let Some(draft) = self.draft.take() {
            out.failed(draft);
        }
    }
}

/// `broken.ts(5,7): error TS2322: …` and `broken.ts:8:7 - error TS2322: …`
fn typescript(line: &str) -> Option<FingerprintParts> {
    let (location, rest) = line.cut(": error TS").or_else(|| line.cut(" - error TS"))?;
    let (code, message) = rest.cut(": ")?;
    let (file, number) = match location.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((file, position)) => (file, position.split(',').next()?.parse().ok()),
        None => place(location).map(|(file, line, _)| (file, Some(line)))?,
    };
    let mut draft =
        FingerprintParts::new(Runner::Tsc, Kind::Compile).message(message).at(Some((file, number)));
    draft.source = format!("TS{code}");
    Some(draft)
}

/// `/w/Calc.cs(12,20): error CS0103: … [/w/Sample.csproj]`, `/w/Sample.csproj : error NU1101: … [/w/Sample.sln]`
fn msbuild(line: &str) -> Option<FingerprintParts> {
    let (location, rest) = line.cut(": error ")?;
    let (code, message) = rest.cut(": ")?;
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = code.get(letters..).unwrap_or_default();
    let is_code = letters > 0 && digits.len() >= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let location = location.trim();
    let (file, number) = match location.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((file, position)) => (file, position.split(',').next()?.parse().ok()),
        None => (location, None),
    };
    // The project that was built, and for what.
    let message = message.cut_last(" [").filter(|_| message.ends_with(']')).map_or(message, |(said, _)| said);
    if !is_code || file.contains(['"', '|', '\t']) {
        return None;
    }
    let mut draft =
        FingerprintParts::new(Runner::DotnetTest, Kind::Compile).message(message).at(Some((file, number)));
    draft.source = code.to_string();
    Some(draft)
}

/// `broken.c:3:37: error: …`, `src/lib.rs:15:13: error[E0425]: …`, `main.c:3:5: エラー: …`
fn compiler(line: &str) -> Option<FingerprintParts> {
    let (file, number, rest) = place(line)?;
    let is_file = !file.is_empty() && !file.contains(['\t', '|', '"']) && !file.starts_with(' ');
    let rest = rest.strip_prefix(": ").filter(|_| is_file)?;
    let rest = ERRORS.iter().find_map(|error| rest.strip_prefix(error))?;
    let (code, message) = match rest.strip_prefix('[') {
        Some(coded) => coded.cut("]: ")?,
        None => ("", [": ", " : ", "\u{a0}: ", "：", ":"].iter().find_map(|colon| rest.strip_prefix(colon))?),
    };
    let runner = compiler_of(file)?;
    let kind = if message.ends_with(']') && message.has("[-Werror") { Kind::Lint } else { Kind::Compile };
    let mut draft =
        FingerprintParts::new(runner, kind).message(message.trim_start()).at(Some((file, Some(number))));
    draft.source = code.to_string();
    Some(draft)
}

/// The compiler of a file, by its ending; none if such files are not compiled.
fn compiler_of(file: &str) -> Option<Runner> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "rs" => Some(Runner::Rustc),
        "java" => Some(Runner::Javac),
        "py" | "pyi" | "rb" | "sh" | "bash" | "zsh" | "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "pl"
        | "pm" | "php" | "lua" | "yml" | "yaml" | "json" | "toml" | "md" | "css" | "scss" | "html"
        | "sql" | "tf" | "ex" | "exs" | "go" => None,
        _ => Some(Runner::Gcc),
    }
}

/// `missing.c:(.text+0xf): undefined reference to 'add'`
fn linker(line: &str) -> Option<FingerprintParts> {
    let at = REFERENCES.iter().find_map(|reference| line.find(reference));
    // In Japanese the symbol stands before the words.
    let at =
        at.or_else(|| line.position_of("定義されていない参照").and_then(|_| Some(line.rfind(": ")? + 2)))?;
    let message = line.get(at..)?;
    let before = line.get(..at)?.trim_end_matches([' ', ':']);
    let object = before.rsplit(": ").next()?.split(":(").next()?;
    let file = object.split(':').next()?;
    let file = file.rsplit('/').next().filter(|_| file.ends_with(".o")).unwrap_or(file);
    // Names of objects are drawn at random where a compiler links at once.
    let file = (!file.ends_with(".o")).then_some((file, None));
    let mut draft = FingerprintParts::new(Runner::Gcc, Kind::Compile).message(message).at(file);
    draft.source = message.to_string();
    Some(draft)
}
