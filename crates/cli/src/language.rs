//! Which language messages are in: `--lang`, else `FIXPOINT_LANG`, else the locale.

use std::ffi::OsString;

use clap::ValueEnum;
pub(crate) use fixpoint_runs::say;
use fixpoint_vocabulary::Lang;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LangArgument {
    En,
    Ja,
}

/// What is wrong with `FIXPOINT_LANG`, if it is set.
pub(crate) fn problem(environment: &[(OsString, OsString)]) -> Option<String> {
    let (_, value) = environment.iter().find(|(key, value)| key == "FIXPOINT_LANG" && !value.is_empty())?;
    let value = value.to_string_lossy();
    let is_known = ["en", "ja", "C", "POSIX"].iter().any(|known| value.starts_with(known));
    (!is_known).then(|| format!("fixpoint: warning: FIXPOINT_LANG={value}: expected en or ja"))
}

/// The language asked for, or that of the locale. `LC_ALL` wins over `LC_MESSAGES`, and that over `LANG`.
pub(crate) fn choose(asked: Option<LangArgument>, environment: &[(OsString, OsString)]) -> Lang {
    let variable = |name: &str| {
        let found = environment.iter().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| value.to_string_lossy())
    };
    match asked {
        Some(LangArgument::En) => Lang::En,
        Some(LangArgument::Ja) => Lang::Ja,
        None => {
            let locale = ["FIXPOINT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(variable);
            if locale.is_some_and(|locale| locale.starts_with("ja")) { Lang::Ja } else { Lang::En }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_locale() {
        let environment = |pairs: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
            pairs.iter().map(|(key, value)| (key.into(), value.into())).collect()
        };
        let japanese = environment(&[("LANG", "ja_JP.UTF-8")]);
        assert_eq!(choose(None, &japanese), Lang::Ja);
        assert_eq!(choose(Some(LangArgument::En), &japanese), Lang::En);
        assert_eq!(choose(None, &environment(&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "C")])), Lang::En);
        assert_eq!(choose(None, &environment(&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "")])), Lang::Ja);
        assert_eq!(choose(None, &environment(&[("LANG", "C"), ("FIXPOINT_LANG", "ja")])), Lang::Ja);
        assert_eq!(choose(None, &[]), Lang::En);
    }
}
