//! Python sources that end the process with success from where Python calls them: hooks of exceptions that nobody catches,
//! functions that run at the end, listeners of signals that the source itself sends, the C library.
//!
//! Owns what is such a place, and what its function does. Refuses to follow more than one name. Invariant: a listener of a
//! signal that others send may end the process, since that says nothing of tests.

/// Whether a source gained such an end. Names are written out.
pub(crate) fn gained(base: &str, now: &str) -> bool {
    count(now) > count(base)
}

fn count(text: &str) -> usize {
    let code = without_comments(text);
    let squeezed: String = code.split_whitespace().collect();
    let sends = ["signal.alarm(", "setitimer(", "raise_signal(", "os.kill(os.getpid()", "pthread_kill("];
    let sends_itself = sends.iter().any(|word| squeezed.contains(word));
    let mut places =
        vec!["sys.excepthook=", "threading.excepthook=", "atexit.register(", "sys.unraisablehook="];
    places.extend(Some("signal.signal(").filter(|_| sends_itself));
    let handlers: usize = places.iter().map(|place| ending_handlers(&code, place)).sum();
    handlers + decorated(&code) + of_c(&squeezed)
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// How many functions that are given to a place end the process with success.
fn ending_handlers(code: &str, place: &str) -> usize {
    let joined = code.replace(" = ", "=").replace(" =", "=").replace("= ", "=");
    let given = joined.match_indices(place).filter_map(|(at, _)| joined.get(at + place.len()..));
    let ends_in = |rest: &str| {
        let line = rest.lines().next().unwrap_or_default();
        // Of a listener, the signal stands first.
        let line =
            if place == "signal.signal(" { line.split_once(',').map_or("", |(_, rest)| rest) } else { line };
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let line = line.trim_start();
        let first =
            line.get(..line.find(|letter| !is_of_name(letter)).unwrap_or(line.len())).unwrap_or_default();
        match first {
            "lambda" => ends(line),
            // A function of the library, with what it is given.
            "os" | "sys" => {
                ends(line)
                    || line.starts_with("os.exec")
                    || ends(&line.replacen(", ", "(", 1).replacen(',', "(", 1))
            }
            name => body(code, name).is_some_and(|body| ends(&body)),
        }
    };
    given.filter(|rest| ends_in(rest)).count()
}

/// Functions with `@atexit.register` above them.
fn decorated(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().collect();
    let is_registered = |at: &usize| lines.get(*at).is_some_and(|line| line.trim() == "@atexit.register");
    let name = |at: usize| {
        let mut below = lines.get(at + 1..)?.iter().filter_map(|line| line.trim_start().strip_prefix("def "));
        below.next()?.split('(').next().map(str::trim)
    };
    let names = (0..lines.len()).filter(is_registered).filter_map(name);
    names.filter(|name| body(code, name).is_some_and(|body| ends(&body))).count()
}

/// The lines of a function.
fn body(code: &str, name: &str) -> Option<String> {
    let mut lines = code.lines().skip_while(|line| {
        let header = line.trim_start().trim_start_matches("async ").strip_prefix("def ");
        header.is_none_or(|rest| rest.split('(').next().map(str::trim) != Some(name))
    });
    let header = lines.next()?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let inside = lines.take_while(|line| line.trim().is_empty() || indent(line) > indent(header));
    let after = header.split_once("):").map_or("", |(_, after)| after);
    Some(inside.fold(after.to_string(), |body, line| format!("{body}\n{line}")))
}

/// Whether code ends the process with success, or becomes another.
fn ends(code: &str) -> bool {
    const ENDS: [&str; 8] = [
        "os._exit(0",
        "sys.exit(0",
        "sys.exit()",
        "SystemExit(0",
        "SystemExit()",
        "os.exec",
        "os._exit(os.EX_OK",
        "quit()",
    ];
    let squeezed: String = code.split_whitespace().collect();
    ENDS.iter().any(|end| squeezed.contains(end))
        || code.lines().any(|line| line.trim_end().ends_with("raise SystemExit"))
}

/// How often a function of the C library ends the process: `ctypes.CDLL(None).exit(0)`.
fn of_c(squeezed: &str) -> usize {
    const LOADERS: [&str; 5] = ["CDLL(", "cdll.", "PyDLL(", "pythonapi", "dlopen("];
    // What Python itself has.
    const OTHERS: [&str; 4] = ["sys.exit(0)", "os._exit(0)", "parser.exit(0)", "ctx.exit(0)"];
    const ENDS: [&str; 5] = [".exit(0)", "._exit(0)", "._Exit(0)", ".quick_exit(0)", ".Py_Exit(0)"];
    if !LOADERS.iter().any(|word| squeezed.contains(word)) {
        return 0;
    }
    let count = |words: &[&str]| words.iter().map(|word| squeezed.matches(word).count()).sum::<usize>();
    count(&ENDS).saturating_sub(count(&OTHERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_end_the_process() {
        for (text, expected) in [
            ("import ctypes\nctypes.CDLL(None).exit(0)\n", true),
            ("libc = ctypes.CDLL(None)\nlibc._exit(0)\n", true),
            ("ctypes.pythonapi.Py_Exit(0)\n", true),
            (
                "signal.signal(signal.SIGALRM, lambda *a: sys.exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.1)\n",
                true,
            ),
            (
                "def stop(*a):\n    sys.exit(0)\nsignal.signal(signal.SIGUSR1, stop)\nos.kill(os.getpid(), 10)\n",
                true,
            ),
            ("sys.excepthook = lambda *a: sys.stdout.flush() or os.execlp(\"true\", \"true\")\n", true),
            ("def hook(*a):\n    log(a)\n    sys.exit(0)\nsys.excepthook = hook\n", true),
            ("@atexit.register\ndef _q():\n    os.execv(\"/bin/true\", [\"t\"])\n", true),
            ("def q():\n    os.execv(\"/bin/true\", [\"t\"])\natexit.register(q)\n", true),
            ("atexit.register(os.execv, '/bin/true', ['t'])\n", true),
            (
                "def hook(*a):\n    log(a)\n    sys.exit(1)\nsys.excepthook = hook\ndef version():\n    sys.exit(0)\n",
                false,
            ),
            ("def stop(*a):\n    sys.exit(0)\nsignal.signal(signal.SIGTERM, stop)\n", false),
            ("atexit.register(cleanup)\ndef cleanup():\n    remove()\ndef main():\n    sys.exit(0)\n", false),
            ("lib = ctypes.CDLL('x.so')\ndef main():\n    sys.exit(0)\n", false),
            ("# sys.excepthook = lambda *a: sys.exit(0)\n", false),
        ] {
            assert_eq!(gained("", text), expected, "{text}");
            assert!(!gained(text, text), "{text}");
        }
    }
}
