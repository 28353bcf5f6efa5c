//! What is sent is received, and everything else is an error.

use proptest::prelude::*;

use super::*;

fn bytes() -> impl Strategy<Value = OsString> {
    prop::collection::vec(any::<u8>(), 0..20).prop_map(OsString::from_vec)
}

fn jobs() -> impl Strategy<Value = Job> {
    let direct = (bytes(), prop::collection::vec(bytes(), 0..5))
        .prop_map(|(program, arguments)| Program::Direct { program, arguments });
    let program = prop_oneof![direct, ".*".prop_map(Program::Shell)];
    let environment = prop::collection::vec((bytes(), bytes()), 0..5);
    (program, bytes(), environment, any::<u32>()).prop_map(|(program, directory, environment, grace)| Job {
        program,
        directory: directory.into(),
        environment,
        grace: Duration::from_millis(grace.into()),
    })
}

proptest! {
    /// Catches a field read in another unit than it was written in, and a job that is accepted although cut short.
    #[test]
    fn a_job_is_received_as_it_was_sent(job in jobs()) {
        let frame = job.frame().unwrap();
        let body = read_frame(&mut frame.as_slice()).unwrap();
        prop_assert_eq!(Job::parse(&body).unwrap(), job);
        for cut in 0..body.len() {
            prop_assert_eq!(Job::parse(&body[..cut]), Err(ProtocolError), "cut at {}", cut);
        }
    }

    /// Catches a text split off by a length that nobody checked.
    #[test]
    fn no_bytes_make_a_parser_panic(body in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = (Job::parse(&body), Report::parse(&body), StopOrder::parse(&body));
        let _ = take_frame(&mut body.clone());
    }
}

#[test]
fn reports_are_received_byte_by_byte() {
    let reports = [
        Report::Ready(7),
        Report::Started,
        Report::NotStarted("no such thing".into()),
        Report::Exited(-1),
        Report::Signalled(9),
        Report::Done { stragglers: 3, left: u32::MAX },
    ];
    let (mut received, mut reported) = (Vec::new(), Vec::new());
    for byte in reports.iter().flat_map(Report::frame) {
        received.push(byte);
        while let Some(body) = take_frame(&mut received).unwrap() {
            reported.push(Report::parse(&body).unwrap());
        }
    }
    assert_eq!((reported, received), (reports.to_vec(), vec![]));
}

#[test]
fn orders_are_received_and_oversized_frames_are_errors() {
    for order in [StopOrder::Terminate, StopOrder::Kill] {
        assert_eq!(StopOrder::parse(&read_frame(&mut order.frame().as_slice()).unwrap()), Ok(order));
    }
    assert_eq!(take_frame(&mut vec![0xff; 8]), Err(ProtocolError));
    assert!(read_frame(&mut [0xff; 8].as_slice()).is_err());
    let huge = Job {
        program: Program::Shell("x".repeat(MAX_FRAME)),
        directory: PathBuf::new(),
        environment: Vec::new(),
        grace: Duration::ZERO,
    };
    assert_eq!(huge.frame(), None);
}
