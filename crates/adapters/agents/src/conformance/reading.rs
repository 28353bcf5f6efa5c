//! Rules about reading: chunks of any size, truncated output, noise between the lines.

use serde_json::Value;

use super::{Sample, Violation, ensure};
use crate::agent::{Agent, Turn};
use crate::progress::Progress;
use crate::sanitize::MAX_TEXT;
use crate::stream::{MAX_LINE, OutputStream};
use crate::transcript::Transcript;

/// Lines that are not events.
const NOISE: [&[u8]; 9] = [
    b"{\"type\":\"of.tomorrow\",\"news\":[1,{}]}",
    b"{\"type\":\"of_tomorrow\"}",
    b"{\"type\":",
    b"{\"type\":null}",
    b"null",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"\xff\xfe\xc3( not UTF-8",
    b"\x1b[31ma colour\x1b[0m",
    b"warning: something \xf0\x9f",
];

/// The output is truncated at every line break, and every so many bytes.
const CUT_EVERY: usize = 197;

/// How many parts of one line are replaced.
const PARTS_REPLACED: usize = 60;

pub(super) fn check(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    let whole = read(agent, sample, [sample.bytes.as_slice()]);
    texts_are_bounded(sample, &whole)?;
    usage_only_grows(sample, &whole)?;
    chunks_make_no_difference(agent, sample, &whole)?;
    truncated_output_is_a_prefix(agent, sample, &whole)?;
    noise_loses_nothing(agent, sample, &whole)?;
    any_form_is_survived(agent, sample)
}

/// Rules that do not depend on the rest of the output, so that one sample is enough.
pub(super) fn check_once(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    noise_is_passed_on(agent, sample)?;
    an_endless_line_is_survived(agent, sample)
}

type ReadOutput = (Vec<Progress>, Transcript);

fn stream(agent: &dyn Agent, sample: &Sample) -> OutputStream {
    let turn = Turn {
        program: agent.name(),
        arguments: &[],
        prompt: "",
        prompt_file: std::path::Path::new(""),
        session: sample.session.as_ref(),
        model: None,
        max_cost: None,
        allowed_commands: &[],
    };
    OutputStream::new(agent.reader(&turn))
}

fn read<'a>(agent: &dyn Agent, sample: &Sample, chunks: impl IntoIterator<Item = &'a [u8]>) -> ReadOutput {
    let mut stream = stream(agent, sample);
    let mut progress: Vec<Progress> = chunks.into_iter().flat_map(|chunk| stream.push(chunk)).collect();
    let (last, transcript) = stream.finish();
    progress.extend(last);
    (progress, transcript)
}

fn texts(progress: &Progress) -> Vec<&str> {
    match progress {
        Progress::Session(text)
        | Progress::Model(text)
        | Progress::Text(text)
        | Progress::Thinking(text)
        | Progress::Notice(text)
        | Progress::Error(text)
        | Progress::Line(text)
        | Progress::Finished { text, .. } => vec![text],
        Progress::ToolCall { id, name, summary } => vec![id, name, summary],
        Progress::ToolResult { id, summary, .. } => vec![id, summary],
        Progress::Usage(_) => vec![],
    }
}

fn texts_are_bounded(sample: &Sample, (progress, _): &ReadOutput) -> Result<(), Violation> {
    let has_control = |text: &str| text.chars().any(|letter| letter.is_control() && !"\n\t".contains(letter));
    let bad =
        progress.iter().find(|one| texts(one).iter().any(|text| text.len() > MAX_TEXT || has_control(text)));
    let rule = "texts are short and contain no control characters";
    ensure(bad.is_none().then_some(()), rule, &sample.name, || format!("{bad:?}"))
}

fn usage_only_grows(sample: &Sample, (progress, transcript): &ReadOutput) -> Result<(), Violation> {
    let reported: Vec<_> = progress
        .iter()
        .filter_map(|one| if let Progress::Usage(usage) = one { Some(*usage) } else { None })
        .collect();
    let numbers = |usage: &fixpoint_vocabulary::usage::Usage| {
        let tokens = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
        [tokens.to_vec(), vec![usage.output_tokens, usage.calls]].concat()
    };
    let grows = reported.iter().zip(reported.iter().skip(1)).all(|(before, after)| {
        numbers(before).iter().zip(numbers(after)).all(|(before, after)| *before <= after)
    });
    let rule = "each usage is the total so far, and the last is the transcript's";
    let holds = grows && reported.last().copied() == transcript.usage;
    ensure(holds.then_some(()), rule, &sample.name, || format!("{reported:?}, {:?}", transcript.usage))
}

fn chunks_make_no_difference(
    agent: &dyn Agent,
    sample: &Sample,
    whole: &ReadOutput,
) -> Result<(), Violation> {
    for size in [1, 2, 3, 7, 64, 4096] {
        let seen = read(agent, sample, sample.bytes.chunks(size));
        let found = || format!("in chunks of {size}: {seen:?}, as a whole: {whole:?}");
        ensure((seen == *whole).then_some(()), "chunks make no difference", &sample.name, found)?;
    }
    Ok(())
}

fn truncated_output_is_a_prefix(
    agent: &dyn Agent,
    sample: &Sample,
    whole: &ReadOutput,
) -> Result<(), Violation> {
    let is_end =
        |at: usize| sample.bytes.get(at.saturating_sub(1)..=at).is_some_and(|two| two.contains(&b'\n'));
    let cuts = (0..sample.bytes.len()).filter(|at| at % CUT_EVERY == 0 || is_end(*at));
    for cut in cuts {
        let start = sample.bytes.get(..cut).unwrap_or_default();
        let mut stream = stream(agent, sample);
        let progress = stream.push(start);
        let is_prefix = whole.0.starts_with(&progress);
        let rule = "truncated output is read as a prefix of the whole";
        ensure(is_prefix.then_some(()), rule, &sample.name, || format!("at {cut}: {progress:?}"))?;
        let session = progress
            .iter()
            .rev()
            .find_map(|one| if let Progress::Session(id) = one { Some(id.clone()) } else { None });
        let (_, transcript) = stream.finish();
        let kept = transcript.session.map(|session| session.id);
        let rule = "a session that was read is kept, however the output ends";
        let holds = session.is_none() || session == kept;
        ensure(holds.then_some(()), rule, &sample.name, || format!("at {cut}: {session:?}, {kept:?}"))?;
    }
    Ok(())
}

fn noise_loses_nothing(agent: &dyn Agent, sample: &Sample, whole: &ReadOutput) -> Result<(), Violation> {
    let mut noisy = Vec::new();
    for (line, noise) in sample.bytes.split_inclusive(|byte| *byte == b'\n').zip(NOISE.iter().cycle()) {
        noisy.extend_from_slice(noise);
        noisy.push(b'\n');
        noisy.extend_from_slice(line);
    }
    let (progress, transcript) = read(agent, sample, [noisy.as_slice()]);
    let mut rest = progress.iter();
    let missing = whole.0.iter().find(|one| !rest.any(|other| other == *one));
    let rule = "lines that are not events lose nothing";
    ensure(missing.is_none().then_some(()), rule, &sample.name, || format!("{missing:?}"))?;
    let kept = (&transcript.session, transcript.usage, transcript.tool_calls, &transcript.errors);
    let expected = (&whole.1.session, whole.1.usage, whole.1.tool_calls, &whole.1.errors);
    ensure((kept == expected).then_some(()), rule, &sample.name, || format!("{kept:?}"))
}

fn noise_is_passed_on(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    for noise in NOISE {
        let (progress, _) = read(agent, sample, [noise, b"\n".as_slice()]);
        let rule = "an unknown line is passed on";
        let found = || format!("{}: {progress:?}", String::from_utf8_lossy(noise));
        ensure((progress.len() == 1).then_some(()), rule, &sample.name, found)?;
    }
    Ok(())
}

/// Replaces every part of every event by a value of another type. The result does not matter, but its limits hold.
fn any_form_is_survived(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    let others = [Value::Null, Value::from(-7), Value::from("\u{1b}[2J"), Value::from(vec![1.5])];
    for line in sample.bytes.split(|byte| *byte == b'\n') {
        let Ok(event) = serde_json::from_slice::<Value>(line) else { continue };
        for part in parts(&event).iter().take(PARTS_REPLACED) {
            for other in &others {
                let mut changed = event.clone();
                if let Some(place) = changed.pointer_mut(part) {
                    *place = other.clone();
                }
                let seen = read(agent, sample, [changed.to_string().as_bytes()]);
                texts_are_bounded(sample, &seen)?;
                usage_only_grows(sample, &seen)?;
            }
        }
    }
    Ok(())
}

/// The pointers of all parts of a document.
fn parts(value: &Value) -> Vec<String> {
    let below = |name: String, part: &Value| {
        let inner = parts(part).into_iter().map(|path| format!("/{name}{path}")).collect::<Vec<_>>();
        [vec![format!("/{name}")], inner].concat()
    };
    match value {
        Value::Object(fields) => fields.iter().flat_map(|(name, part)| below(name.clone(), part)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(number, part)| below(number.to_string(), part)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    }
}

fn an_endless_line_is_survived(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    let long = [b"{\"type\":\"".as_slice(), &vec![b'x'; MAX_LINE + 10]].concat();
    let seen = read(agent, sample, long.chunks(1 << 16).chain([b"\n".as_slice(), &sample.bytes]));
    texts_are_bounded(sample, &seen)?;
    let alone = read(agent, sample, [sample.bytes.as_slice()]);
    let rest = seen.0.get(1..).unwrap_or_default();
    let rule = "what follows a truncated line is complete";
    ensure((rest == alone.0).then_some(()), rule, &sample.name, || format!("{rest:?}"))
}
