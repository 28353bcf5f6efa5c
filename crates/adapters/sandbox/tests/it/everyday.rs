//! What must keep working in the sandbox.

use std::fs;

use fixpoint_ports::{AccessKind, ExitCause, Purpose, RefusedAccess};
use fixpoint_sandbox::{Mechanism, NetworkAccess, SandboxPolicy};

use crate::world::World;

fn both() -> impl Iterator<Item = World> {
    [Mechanism::Namespaces, Mechanism::Landlock]
        .into_iter()
        .filter_map(|mechanism| World::new(mechanism, None))
}

#[test]
fn a_program_works_in_its_workspace() {
    for world in both() {
        let line = "echo more >> file && cat file && t=$(mktemp) && echo x > $t && python3 -c 'print(6*7)' && git --version";
        let (exit, output) = world.run(Purpose::Check, line);
        assert_eq!(exit.cause, ExitCause::Exited(0), "{:?}\n{output}", world.mechanism);
        assert!(output.starts_with("work\nmore\n42\ngit version"), "{output}");
        assert_eq!(fs::read_to_string(world.root.join("slot/file")).unwrap(), "work\nmore\n");
    }
}

#[test]
fn ends_are_passed_on() {
    for world in both() {
        for (line, expected) in [
            ("exit 7", ExitCause::Exited(7)),
            ("exit 125", ExitCause::Exited(125)),
            ("kill -9 $$", ExitCause::Signalled(9)),
            ("kill -TERM $$; sleep 5", ExitCause::Signalled(15)),
            ("kill -SEGV $$; sleep 5", ExitCause::Signalled(11)),
        ] {
            let (exit, output) = world.run(Purpose::Check, line);
            assert_eq!(exit.cause, expected, "{:?} {line}\n{output}", world.mechanism);
        }
    }
}

#[test]
fn nothing_survives_the_program() {
    let Some(world) = World::new(Mechanism::Namespaces, None) else { return };
    let mark = format!("77{}", std::process::id());
    let (exit, _) = world.run(Purpose::Check, &format!("setsid sleep {mark} & (sleep {mark} &) ; exit 3"));
    assert_eq!(exit.cause, ExitCause::Exited(3));
    let is_left = |entry: &fs::DirEntry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(&mark)
    };
    assert!(!fs::read_dir("/proc").unwrap().flatten().any(|entry| is_left(&entry)));
}

#[test]
fn tools_can_be_used_and_changes_of_their_caches_are_private() {
    let Some(world) = World::new(Mechanism::Namespaces, None) else { return };
    let line = "cat ~/.cargo/registry/crate && echo x > ~/.cargo/registry/new && cat ~/.cargo/registry/new";
    let (exit, output) = world.run(Purpose::SetUp, line);
    assert_eq!((exit.cause, output.as_str()), (ExitCause::Exited(0), "public\nx\n"));
    assert!(!world.root.join("home/.cargo/registry/new").exists());
}

#[test]
fn what_set_up_wrote_to_its_home_is_there_for_checks_and_stays_as_it_was() {
    let Some(world) = World::new(Mechanism::Namespaces, None) else { return };
    let kept = world.root.join("cache/sandbox/kept");
    let processes = world.processes();
    let run = |line: &str, home: Option<&std::path::Path>, before: Option<&std::path::Path>| {
        let mut invocation = world.invocation(Purpose::SetUp, line);
        invocation.access.home = home.map(std::path::Path::to_path_buf);
        invocation.access.home_before = before.map(std::path::Path::to_path_buf);
        let mut printed = Vec::new();
        fixpoint_ports::Processes::run(
            &processes,
            &invocation,
            &fixpoint_ports::Cancel::default(),
            &mut |bytes| {
                printed.extend_from_slice(bytes);
            },
        )
        .unwrap();
        String::from_utf8(printed).unwrap()
    };
    assert_eq!(run("echo a > ~/made; echo b > ~/.cargo/registry/fetched", Some(&kept), None), "");
    let look = "cat ~/made ~/.cargo/registry/fetched; echo bad > ~/made; rm ~/.cargo/registry/fetched";
    assert_eq!(run(look, None, Some(&kept)), "a\nb\n");
    assert_eq!(run(look, None, Some(&kept)), "a\nb\n", "checks do not change it");
}

#[test]
fn more_can_be_permitted_or_hidden() {
    for world in both() {
        let notes = world.root.join("home/notes.txt");
        let mut processes = world.processes();
        processes.policy = SandboxPolicy {
            read: vec![notes.clone()],
            write: vec![world.root.join("repo")],
            ..processes.policy
        };
        let line = "cat ~/notes.txt && echo new > $ROOT/repo/new && cat ~/.netrc";
        let (exit, output) = world.run_with(&processes, Purpose::Check, line);
        assert_ne!(exit.cause, ExitCause::Exited(0));
        assert!(output.starts_with(crate::world::SECRET), "{output}");
        assert_eq!(fs::read_to_string(world.root.join("repo/new")).unwrap(), "new\n");
        let refused = RefusedAccess { kind: AccessKind::Read, path: world.root.join("home/.netrc") };
        assert_eq!(exit.refused, [refused]);
    }
    let Some(world) = World::new(Mechanism::Namespaces, None) else { return };
    let mut processes = world.processes();
    processes.policy.hide = vec!["/usr/share".into()];
    assert_eq!(world.run_with(&processes, Purpose::Check, "ls /usr/share").1, "");
}

#[test]
fn an_agent_keeps_its_sign_in_and_renews_it() {
    let Some(world) = World::new(Mechanism::Namespaces, None) else { return };
    let sign_in = world.root.join("home/.claude/.credentials.json");
    fs::write(&sign_in, "old").unwrap();
    let (_, output) = world
        .run(Purpose::Agent, "cat ~/.claude/.credentials.json; echo -n new > ~/.claude/.credentials.json");
    assert_eq!((output.as_str(), fs::read_to_string(&sign_in).unwrap().as_str()), ("old", "new"));
    let (_, output) =
        world.run(Purpose::Check, "cat ~/.claude/.credentials.json; echo bad > ~/.claude/.credentials.json");
    assert!(output.contains("No such file"), "{output}");
    assert_eq!(fs::read_to_string(&sign_in).unwrap(), "new", "only the agent may");
}

#[test]
fn a_loopback_interface_of_its_own() {
    let Some(mut world) = World::new(Mechanism::Namespaces, None) else { return };
    world.network = NetworkAccess::Loopback;
    let line = "python3 -c \"import socket; s=socket.create_server(('127.0.0.1',0)); \
                c=socket.create_connection(s.getsockname()); print('connected')\"; \
                python3 -c \"import socket; socket.create_connection(('127.0.0.1', $PORT), 2)\"";
    let (_, output) = world.run(Purpose::Check, line);
    assert!(output.starts_with("connected\n") && output.contains("refused"), "{output}");
    assert!(!world.was_reached());
}

#[test]
fn a_sandbox_of_the_agent_works_inside() {
    let Some(world) = World::new(Mechanism::Namespaces, None) else { return };
    let line = "unshare -Urmpf --mount-proc sh -c 'mount -t tmpfs none /tmp && echo nested'";
    let (exit, output) = world.run(Purpose::Agent, line);
    assert_eq!((exit.cause, output.as_str()), (ExitCause::Exited(0), "nested\n"));
}

#[test]
fn a_program_that_does_not_exist_is_not_started() {
    for world in both() {
        let mut invocation = world.invocation(Purpose::Check, "");
        invocation.program =
            fixpoint_ports::Program::Direct { program: "no-such-program".into(), arguments: Vec::new() };
        let exit = fixpoint_ports::Processes::run(
            &world.processes(),
            &invocation,
            &fixpoint_ports::Cancel::default(),
            &mut |_| {},
        )
        .unwrap();
        let ExitCause::NotStarted(reason) = exit.cause else { panic!("{exit:?}") };
        assert!(reason.contains("`no-such-program` was not found"), "{reason}");
    }
}
