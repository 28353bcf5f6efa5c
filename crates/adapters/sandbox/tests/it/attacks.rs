//! Attacks from inside of the sandbox. None may reach the user's files, secrets, processes or services.

use fixpoint_ports::Purpose;
use fixpoint_sandbox::{Mechanism, NetworkAccess};

use crate::world::{SECRET, World, is_root};

/// One line of a shell each. `$ROOT` is the user's world, `$HOME` is in it.
const READS: &[&str] = &[
    "cat ~/.ssh/id_rsa",
    "cat ~/.netrc",
    "cat ~/.bash_history",
    "cat ~/.aws/credentials",
    "cat ~/.config/gh/hosts.yml",
    "cat ~/.config/google-chrome/Default/Cookies",
    "cat ~/.mozilla/firefox/x/logins.json",
    "cat ~/.local/share/keyrings/login.keyring",
    "cat ~/.gnupg/secring.gpg",
    "cat ~/.kube/config ~/.docker/config.json",
    "cat ~/.npmrc ~/.pypirc ~/.git-credentials",
    "cat ~/.cargo/credentials.toml",
    "cat ~/.claude/projects/other/session.jsonl",
    "cat ~/.codex/sessions/2026/rollout.jsonl",
    "cat ~/notes.txt",
    "cat $ROOT/repo/main.py",
    "cat $ROOT/repo/.git/hooks/pre-commit",
    "cat $ROOT/state/runs/other/journal",
    "cat $ROOT/cache/slots/other/tree/file",
    "grep -rs top-secret $HOME $ROOT/repo $ROOT/state $ROOT/cache",
    "find / -xdev -name id_rsa -exec cat {} + 2>/dev/null",
    "ln -s $HOME/.ssh/id_rsa link; cat link",
    "ln -s $ROOT up; cat up/home/notes.txt",
    "ln $HOME/notes.txt hard && cat hard",
    "cat ../home/notes.txt ../../*/home/notes.txt",
    "cat /proc/self/root$HOME/notes.txt",
    "cat /proc/self/cwd/../home/notes.txt",
    "cat /proc/1/root$HOME/notes.txt /proc/$PPID/root$HOME/notes.txt",
    "cat /proc/$VICTIM/environ | tr '\\0' '\\n'",
    "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done 2>/dev/null",
    "for p in /proc/[0-9]*; do cat $p/root$HOME/notes.txt; done 2>/dev/null",
    "for f in /proc/self/fd/* /proc/1/fd/*; do cat $f/notes.txt $f/../home/notes.txt; done 2>/dev/null",
    "tar cf - $HOME 2>/dev/null | strings",
    "cp -r $HOME copy 2>/dev/null; grep -rs top-secret copy",
    "git --git-dir=$ROOT/repo/.git log; cat $ROOT/repo/.git/config.worktree",
    "python3 -c \"print(open('$HOME/notes.txt').read())\"",
    "python3 -c \"import os; print(os.listdir('$HOME'), open('$ROOT/repo/main.py').read())\"",
    "python3 -c \"import ctypes; l=ctypes.CDLL(None); l.umount2(b'$HOME', 2); print(open('$HOME/notes.txt').read())\"",
    "umount -l $HOME; cat ~/notes.txt",
    "mount --bind / slot 2>/dev/null; cat slot$HOME/notes.txt",
    "unshare -Urm sh -c 'umount -l $HOME; cat $HOME/notes.txt; ls -A $HOME; cat /proc/1/root$HOME/notes.txt'",
    "unshare -Urm sh -c 'mount -o remount,rw /; mount -t tmpfs none /mnt; pivot_root . .; cat $HOME/notes.txt'",
    "chroot /proc/1/root cat $HOME/notes.txt",
    "nsenter -t 1 -m cat $HOME/notes.txt; nsenter -t $VICTIM -m cat $HOME/notes.txt",
    "mknod disk b 254 0 && strings disk | grep -m1 top-secret",
    "debugfs -R 'cat $HOME/notes.txt' /dev/vda 2>/dev/null",
    "cat /etc/shadow /etc/gshadow | grep -c : | grep -v '^0$' && echo top-secret-4711",
];

const WRITES: &[&str] = &[
    "echo x >> ~/.bashrc",
    "echo x >> ~/.profile; echo x > ~/.ssh/authorized_keys",
    "mkdir -p ~/.config/autostart && echo x > ~/.config/autostart/x.desktop",
    "mkdir -p ~/.local/bin && echo x > ~/.local/bin/git",
    "echo x > ~/.claude/settings.json",
    "echo x > ~/.cargo/config.toml; rm -rf ~/.cargo/registry",
    "rm -rf $ROOT/repo $HOME/* $ROOT/state $ROOT/cache/slots",
    "echo x > $ROOT/repo/main.py",
    "echo x > $ROOT/repo/.git/hooks/post-commit",
    "echo '[core] fsmonitor=/bin/true' >> $ROOT/repo/.git/config",
    "echo x > $ROOT/repo/.git/objects/x",
    "echo x > $ROOT/cache/slots/other/tree/file",
    "echo x > /etc/cron.d/x; echo x > /etc/profile.d/x.sh; echo x > /usr/local/bin/git",
    "ln -s $HOME/.bashrc link; echo x >> link; cp -f file link",
    "ln -s $ROOT/repo/.git/hooks hooks; echo x > hooks/pre-push",
    "echo x > /tmp/../$HOME/.bashrc; echo x > /proc/1/root$HOME/.bashrc",
    "python3 -c \"import os; os.rename('file', '$HOME/notes.txt')\"",
    "mv $HOME $ROOT/gone; mkdir -p $ROOT/new",
    "chmod -R 777 $HOME $ROOT/repo; chown -R 1 $HOME",
    "dd if=/dev/zero of=$HOME/notes.txt bs=1 count=1 conv=notrunc",
    "truncate -s 0 $ROOT/repo/main.py; touch $ROOT/state/x",
    "unshare -Urm sh -c 'mount -o remount,rw /usr; echo x > /usr/local/bin/x; mount -o remount,rw,bind $ROOT/repo/.git/objects; echo x > $ROOT/repo/.git/objects/y'",
];

const PROCESSES: &[&str] = &[
    "kill -9 $VICTIM",
    "kill -9 -1",
    "python3 -c \"import os,signal; os.kill($VICTIM, signal.SIGKILL)\"",
    "gdb -p $VICTIM -batch -ex 'call kill(getpid(), 9)' 2>/dev/null",
    "pkill -9 sleep; killall -9 sleep",
];

const CONNECTIONS: &[&str] = &[
    "python3 -c \"import socket; socket.create_connection(('127.0.0.1', $PORT), 2)\"",
    "python3 -c \"import socket; s=socket.socket(socket.AF_UNIX); s.connect('$HOME/agent.sock')\"",
    "bash -c 'echo x > /dev/tcp/127.0.0.1/'$PORT",
    "curl -s -m 2 http://127.0.0.1:$PORT/; curl -s -m 2 http://localhost:$PORT/",
];

/// Mechanisms and users to attack as.
fn worlds() -> Vec<World> {
    let users = if is_root() { vec![None, Some(1000)] } else { vec![None] };
    let mechanisms = [Mechanism::Namespaces, Mechanism::Landlock];
    let each = users.into_iter().flat_map(|user| mechanisms.map(|mechanism| (mechanism, user)));
    each.filter_map(|(mechanism, user)| World::new(mechanism, user)).collect()
}

/// Attacks each world, as an agent and as a check, and compares what is there afterwards.
fn attack(lines: &[&str], network: NetworkAccess) {
    for mut world in worlds() {
        world.network = network;
        let before = world.snapshot();
        for line in lines {
            for purpose in [Purpose::Agent, Purpose::Check] {
                let name = format!("{:?}, {purpose:?}: {line}", world.mechanism);
                let (_, output) = world.run(purpose, line);
                // Landlock alone cannot hide an agent's earlier sessions from the same agent.
                let is_own = line.contains(".claude/projects")
                    && (world.mechanism, purpose) == (Mechanism::Landlock, Purpose::Agent);
                assert!(is_own || !output.contains(SECRET), "{name}\n{output}");
                assert_eq!(world.snapshot(), before, "{name}\n{output}");
                assert!(world.is_victim_alive(), "{name}");
                let is_socket = line.contains("AF_UNIX") && world.mechanism == Mechanism::Landlock;
                let was_reached = world.was_reached();
                assert!(network == NetworkAccess::On || is_socket || !was_reached, "{name}\n{output}");
            }
        }
    }
}

#[test]
fn secrets_cannot_be_read() {
    attack(READS, NetworkAccess::On);
}

#[test]
fn the_users_files_cannot_be_written() {
    attack(WRITES, NetworkAccess::On);
}

#[test]
fn other_processes_cannot_be_stopped() {
    attack(PROCESSES, NetworkAccess::On);
}

#[test]
fn without_a_network_nothing_is_reached() {
    attack(CONNECTIONS, NetworkAccess::Off);
}

#[test]
fn a_socket_of_the_user_is_not_there_even_with_a_network() {
    // Landlock alone does not know sockets in files.
    for world in worlds().into_iter().filter(|world| world.mechanism == Mechanism::Namespaces) {
        let line = CONNECTIONS[1];
        let (_, output) = world.run(Purpose::Agent, line);
        assert!(!world.was_reached(), "{:?}\n{output}", world.mechanism);
    }
}
