//! What is promised about reading: any pieces, any cut, any noise.

use serde_json::Value;

use super::{Sample, Violation, ensure};
use crate::agent::{Agent, Permissions, Turn, TurnLimits, User};
use crate::progress::Progress;
use crate::shortening::LONGEST_TEXT;
use crate::stream::{LONGEST_LINE, Stream};
use crate::transcript::Transcript;

/// Lines that no agent means.
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

/// Cuts at which the stream is also ended lie this far apart, beside those around the ends of lines.
const CUTS_APART: usize = 197;

/// Parts of one line that are replaced by something else.
const PARTS_REPLACED: usize = 60;

pub(super) fn uphold(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    let whole = read(agent, sample, [sample.bytes.as_slice()]);
    texts_are_bounded(sample, &whole)?;
    usage_only_grows(sample, &whole)?;
    pieces_make_no_difference(agent, sample, &whole)?;
    a_cut_stream_is_a_beginning(agent, sample, &whole)?;
    noise_takes_nothing_away(agent, sample, &whole)?;
    any_shape_is_survived(agent, sample)
}

/// What depends little on what else is in the stream, so that one stream is enough.
pub(super) fn uphold_once(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    noise_is_passed_on(agent, sample)?;
    a_line_without_end_is_survived(agent, sample)
}

type Seen = (Vec<Progress>, Transcript);

fn stream(agent: &dyn Agent, sample: &Sample) -> Stream {
    let turn = Turn {
        program: agent.name(),
        extra: &[],
        prompt: "",
        prompt_file: std::path::Path::new(""),
        session: sample.session.as_ref(),
        model: None,
        limits: TurnLimits::default(),
        permissions: Permissions::default(),
        may_run: &[],
        user: User::default(),
    };
    Stream::new(agent.reader(&turn))
}

fn read<'a>(agent: &dyn Agent, sample: &Sample, pieces: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let mut stream = stream(agent, sample);
    let mut progress: Vec<Progress> = pieces.into_iter().flat_map(|piece| stream.push(piece)).collect();
    let (last, transcript) = stream.end();
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

fn texts_are_bounded(sample: &Sample, (progress, _): &Seen) -> Result<(), Violation> {
    let steers = |text: &str| text.chars().any(|letter| letter.is_control() && !"\n\t".contains(letter));
    let bad =
        progress.iter().find(|one| texts(one).iter().any(|text| text.len() > LONGEST_TEXT || steers(text)));
    let promise = "texts are bounded and steer no terminal";
    ensure(bad.is_none().then_some(()), promise, &sample.name, || format!("{bad:?}"))
}

fn usage_only_grows(sample: &Sample, (progress, transcript): &Seen) -> Result<(), Violation> {
    let told: Vec<_> = progress
        .iter()
        .filter_map(|one| if let Progress::Usage(usage) = one { Some(*usage) } else { None })
        .collect();
    let numbers = |usage: &fixpoint_vocabulary::usage::Usage| {
        let tokens = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
        [tokens.to_vec(), vec![usage.output_tokens, usage.calls]].concat()
    };
    let grows = told.iter().zip(told.iter().skip(1)).all(|(before, after)| {
        numbers(before).iter().zip(numbers(after)).all(|(before, after)| *before <= after)
    });
    let promise = "each usage is all of it so far, and the last is the transcript's";
    let kept = grows && told.last().copied() == transcript.usage;
    ensure(kept.then_some(()), promise, &sample.name, || format!("{told:?}, {:?}", transcript.usage))
}

fn pieces_make_no_difference(agent: &dyn Agent, sample: &Sample, whole: &Seen) -> Result<(), Violation> {
    for size in [1, 2, 3, 7, 64, 4096] {
        let seen = read(agent, sample, sample.bytes.chunks(size));
        let found = || format!("in pieces of {size}: {seen:?}, as a whole: {whole:?}");
        ensure((seen == *whole).then_some(()), "pieces make no difference", &sample.name, found)?;
    }
    Ok(())
}

fn a_cut_stream_is_a_beginning(agent: &dyn Agent, sample: &Sample, whole: &Seen) -> Result<(), Violation> {
    let is_end =
        |at: usize| sample.bytes.get(at.saturating_sub(1)..=at).is_some_and(|two| two.contains(&b'\n'));
    let cuts = (0..sample.bytes.len()).filter(|at| at % CUTS_APART == 0 || is_end(*at));
    for cut in cuts {
        let beginning = sample.bytes.get(..cut).unwrap_or_default();
        let mut stream = stream(agent, sample);
        let progress = stream.push(beginning);
        let is_beginning = whole.0.starts_with(&progress);
        let promise = "a stream that was cut is a beginning of the whole";
        ensure(is_beginning.then_some(()), promise, &sample.name, || format!("at {cut}: {progress:?}"))?;
        let session = progress
            .iter()
            .rev()
            .find_map(|one| if let Progress::Session(id) = one { Some(id.clone()) } else { None });
        let (_, transcript) = stream.end();
        let kept = transcript.session.map(|session| session.id);
        let promise = "a session that was seen is kept, however the stream ends";
        let holds = session.is_none() || session == kept;
        ensure(holds.then_some(()), promise, &sample.name, || format!("at {cut}: {session:?}, {kept:?}"))?;
    }
    Ok(())
}

fn noise_takes_nothing_away(agent: &dyn Agent, sample: &Sample, whole: &Seen) -> Result<(), Violation> {
    let mut noisy = Vec::new();
    for (line, noise) in sample.bytes.split_inclusive(|byte| *byte == b'\n').zip(NOISE.iter().cycle()) {
        noisy.extend_from_slice(noise);
        noisy.push(b'\n');
        noisy.extend_from_slice(line);
    }
    let (progress, transcript) = read(agent, sample, [noisy.as_slice()]);
    let mut rest = progress.iter();
    let missing = whole.0.iter().find(|one| !rest.any(|other| other == *one));
    let promise = "lines nobody means take nothing away";
    ensure(missing.is_none().then_some(()), promise, &sample.name, || format!("{missing:?}"))?;
    let kept = (&transcript.session, transcript.usage, transcript.tool_calls, &transcript.errors);
    let expected = (&whole.1.session, whole.1.usage, whole.1.tool_calls, &whole.1.errors);
    ensure((kept == expected).then_some(()), promise, &sample.name, || format!("{kept:?}"))
}

fn noise_is_passed_on(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    for noise in NOISE {
        let (progress, _) = read(agent, sample, [noise, b"\n".as_slice()]);
        let promise = "a line that is not understood is passed on";
        let found = || format!("{}: {progress:?}", String::from_utf8_lossy(noise));
        ensure((progress.len() == 1).then_some(()), promise, &sample.name, found)?;
    }
    Ok(())
}

/// Every part of every event replaced by something of another kind. What it says then is anybody's guess; that it
/// says it within its bounds is not.
fn any_shape_is_survived(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
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

/// Where the parts of a document are.
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

fn a_line_without_end_is_survived(agent: &dyn Agent, sample: &Sample) -> Result<(), Violation> {
    let long = [b"{\"type\":\"".as_slice(), &vec![b'x'; LONGEST_LINE + 10]].concat();
    let seen = read(agent, sample, long.chunks(1 << 16).chain([b"\n".as_slice(), &sample.bytes]));
    texts_are_bounded(sample, &seen)?;
    let alone = read(agent, sample, [sample.bytes.as_slice()]);
    let rest = seen.0.get(1..).unwrap_or_default();
    let promise = "what follows a line that was cut is whole";
    ensure((rest == alone.0).then_some(()), promise, &sample.name, || format!("{rest:?}"))
}
