// Plans and runs twenty goals with a very small model as planner and judge; see README.md.
//
// Fails unless: no panic, a cause that matches the exit code or a valid plan, model calls and attempts within the announced
// bounds, the time limit, a journal that can be shown and replayed, a second `resume` with the same result and no request,
// and an unchanged repository.

import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { agents, goals, repositories } from "./goals.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const env = process.env;
const fixpoint = resolve(env.FIXPOINT ?? join(root, "target/debug/fixpoint"));
const resultsFile = resolve(env.RESULTS ?? "results.jsonl");
const wanted = new Set((env.GOALS ?? "").split(",").filter(Boolean).map(Number));
const onlyWays = (env.WAYS ?? "").split(",").filter(Boolean);
/** Seconds for one command; a run pauses by itself well before. */
const LIMIT = 900;
const WALL_TIME = Number(env.WALL_TIME ?? 120);

/** Exit codes by cause, as docs/exit-codes.md has them. */
const codes = new Map(readFileSync(join(root, "docs/exit-codes.md"), "utf8").split("\n")
    .map((line) => line.match(/^\| (\d+) \|[^|]*\|([^|]*)\|$/)).filter(Boolean)
    .flatMap(([, code, causes]) => [...causes.matchAll(/`(\w+)`/g)].map(([, cause]) => [cause, Number(code)])));

const scratch = mkdtempSync(join(tmpdir(), "small-model-"));
const environment = { PATH: env.PATH, HOME: join(scratch, "home"), LANG: "C.UTF-8", GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.org", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@example.org" };

/** The model's server, and how many requests it has had. */
class Server {
    requests = 0;
    written = 0;

    static async start(schema) {
        const server = new Server();
        server.child = spawn("nice", ["-n", env.NICE ?? "5", process.execPath, join(here, "server.mjs")],
            { env: { ...env, SCHEMA: schema }, stdio: ["ignore", "pipe", "inherit"] });
        server.port = await new Promise((found, failed) => {
            server.child.on("exit", () => failed(new Error("the model's server ended")));
            let rest = "";
            server.child.stdout.on("data", (data) => {
                const lines = (rest + data).split("\n");
                rest = lines.pop();
                for (const line of lines) {
                    const listening = line.match(/^listening on (\d+)/);
                    if (listening) {
                        found(Number(listening[1]));
                    } else {
                        const told = JSON.parse(line);
                        server.requests += told.asked ? 1 : 0;
                        server.written += told.completion_tokens ?? 0;
                    }
                }
            });
        });
        return server;
    }

    stop() {
        this.child.removeAllListeners("exit");
        this.child.kill();
    }
}

function git(directory, ...args) {
    const done = spawnSync("git", args, { cwd: directory, env: environment, encoding: "utf8" });
    return `${done.stdout}${done.stderr}`;
}

function make(directory, repository, port) {
    mkdirSync(directory, { recursive: true });
    if (repository.copy) {
        cpSync(join(root, repository.copy), directory, { recursive: true });
    }
    for (const [name, text] of Object.entries(repository.files ?? {})) {
        mkdirSync(dirname(join(directory, name)), { recursive: true });
        writeFileSync(join(directory, name), text);
    }
    const settings = {
        models: {
            planner: "small/smollm2", judge: "small/smollm2", reflector: "small/smollm2",
            endpoints: { small: { url: `http://127.0.0.1:${port}/v1` } },
            max_prompt_tokens: 4000, max_output_tokens: Number(env.MAX_OUTPUT ?? 150), timeout: 100,
        },
        budget: { wall_time: WALL_TIME },
        checks: repository.check ? [{ name: "tests", command: repository.check, kind: repository.kind ?? "guard" }] : [],
    };
    mkdirSync(join(environment.HOME, ".config/fixpoint"), { recursive: true });
    // JSON is YAML.
    writeFileSync(join(environment.HOME, ".config/fixpoint/config.yaml"), JSON.stringify(settings));
    if (repository.git !== false) {
        git(directory, "init", "-q", "-b", "main");
        if (repository.commit !== false) {
            git(directory, "add", "-A");
            git(directory, "commit", "-q", "-m", "first");
        }
    }
}

/** Runs the program; resolves to its output, exit code and seconds. Not `spawnSync`: the server's output must be read. */
function call(directory, args) {
    return new Promise((done) => {
        const began = Date.now();
        const child = spawn(fixpoint, args, { cwd: directory, env: environment, stdio: ["ignore", "pipe", "pipe"] });
        const late = setTimeout(() => child.kill("SIGKILL"), LIMIT * 1000);
        const out = { stdout: "", stderr: "" };
        child.stdout.on("data", (data) => { out.stdout += data; });
        child.stderr.on("data", (data) => { out.stderr += data; });
        child.on("close", (code) => {
            clearTimeout(late);
            done({ ...out, code, seconds: (Date.now() - began) / 1000 });
        });
    });
}

const json = (text) => { try { return JSON.parse(text); } catch { return undefined; } };
const lines = (text) => text.split("\n").filter(Boolean).map(json);

/** What is wrong with an accepted plan. */
function faultsOfPlan(tasks) {
    const ids = tasks.map((task) => task.id);
    const faults = [];
    if (tasks.length === 0) {
        faults.push("a plan without tasks");
    }
    if (new Set(ids).size !== ids.length) {
        faults.push("two tasks with the same id");
    }
    const open = new Map(tasks.map((task) => [task.id, new Set(task.dependencies ?? [])]));
    for (let before = -1; before !== open.size;) {
        before = open.size;
        for (const [id, needs] of open) {
            if ([...needs].every((need) => ids.includes(need) && !open.has(need))) {
                open.delete(id);
            }
        }
    }
    if (open.size > 0) {
        faults.push(`tasks that can never start: ${[...open.keys()].join(", ")}`);
    }
    if (tasks.some((task) => !String(task.description ?? "").trim())) {
        faults.push("a task without a description");
    }
    return faults;
}

async function attempt(goal, command, schema, server) {
    const directory = join(scratch, `${goal.number}-${command}-${schema}`);
    rmSync(environment.HOME, { recursive: true, force: true });
    make(directory, repositories[goal.repository], server.port);
    const faults = [];
    const must = (holds, what) => { if (!holds) { faults.push(what); } };
    const file = join(scratch, "goal.txt");
    writeFileSync(file, goal.text);
    const state = () => git(directory, "status", "--porcelain") + git(directory, "stash", "list") + git(directory, "branch", "--list", "main", "-v");
    const before = state();
    const bounds = json((await call(directory, ["plan", "--bounds", "--json", "--file", file])).stdout);
    const asked = server.requests;
    const wrote = server.written;
    const agent = ["--", "sh", "-c", agents[goal.agent]];
    const words = { plan: ["plan"], run: ["run"], one: ["run", "--no-plan"] }[command];
    const done = await call(directory, [...words, "--json", "--file", file, ...(command === "plan" ? [] : agent)]);
    const calls = server.requests - asked;
    const result = { goal: goal.number, repository: goal.repository, command, schema, code: done.code, calls,
        tokens: server.written - wrote, seconds: Math.round(done.seconds), bound: bounds?.model_calls };
    must(!/panicked/.test(done.stderr), "a panic");
    must(done.seconds < LIMIT, "the time limit");
    const summary = json(done.stdout);
    const refusal = goal.refusal ?? repositories[goal.repository].refusal;
    if (refusal) {
        result.cause = "usage";
        must(done.code === 2 && refusal.test(done.stderr), `exit ${done.code}: ${done.stderr.slice(0, 200)}`);
        return { ...result, faults };
    }
    if (!summary?.run) {
        result.cause = "none";
        must(false, `no summary, exit ${done.code}: ${done.stderr.slice(-400)}`);
        return { ...result, faults };
    }
    const planned = command === "plan" && done.code === 0;
    result.cause = planned ? "valid plan" : summary.cause;
    if (!planned) {
        must(codes.get(summary.cause) === done.code, `cause ${summary.cause} with exit code ${done.code}`);
    }
    must(bounds && calls <= bounds.model_calls, `${calls} model calls, announced ${bounds?.model_calls}`);
    must(bounds && (summary.cost?.attempts ?? 0) <= bounds.agent_attempts, "more attempts than announced");
    const plans = lines((await call(directory, ["history", "--type", "plan", "--json"])).stdout);
    result.plans = plans.length;
    result.tasks = summary.tasks?.length ?? 0;
    result.attempts = summary.cost?.attempts ?? 0;
    result.accepted = summary.plan?.accepted ?? undefined;
    result.proofs = (summary.tasks ?? []).filter((task) => task.state === "DONE").map((task) => task.proof);
    result.branch = Boolean(summary.branch);
    if (planned) {
        const tasks = plans.at(-1)?.plan?.task_decomposition?.subtasks ?? [];
        faults.push(...faultsOfPlan(tasks));
    }
    for (const told of [["show", "--json"], ["history", "--json"], ["explain", "--json"], ["status", "--json"], ["replay"],
        ["explain", "--lang", "ja"]]) {
        const said = await call(directory, told);
        must(said.code === 0 && !/panicked/.test(said.stderr), `${told.join(" ")}: exit ${said.code} ${said.stderr.slice(0, 200)}`);
        if (told[0] === "explain" && told[1] === "--json") {
            result.explained = json(said.stdout);
        }
    }
    // A paused run may continue; a finished one ends the same way, without a request.
    if (summary.status !== "paused") {
        const again = server.requests;
        const resumed = await call(directory, ["resume", "--json"]);
        must(resumed.code === done.code, `resume ends with ${resumed.code}: ${resumed.stderr.slice(-200)}`);
        must(server.requests === again, "resume of a finished run asked the model");
    } else if (summary.cause === "budget") {
        const again = server.requests;
        const resumed = await call(directory, ["resume", "--json"]);
        must(resumed.code === 6, `resume without more budget ends with ${resumed.code}: ${resumed.stderr.slice(-200)}`);
        must(server.requests === again, "resume without more budget asked the model");
    }
    must(state() === before, `the repository was changed: ${state()}`);
    if (env.KEEP) {
        mkdirSync(env.KEEP, { recursive: true });
        const base = join(env.KEEP, `${goal.number}-${command}-${schema}`);
        writeFileSync(`${base}.err`, done.stderr);
        writeFileSync(`${base}.json`, JSON.stringify(summary, null, 1));
    }
    return { ...result, faults };
}

/** A goal is planned with one server and run with the other; some are also run as one task, so that the judge is asked. */
function waysOf(goal) {
    const [one, other] = goal.number % 2 === 1 ? ["enforced", "rejected"] : ["rejected", "enforced"];
    const all = [`plan/${one}`, `run/${other}`, ...(goal.judged ? [`one/${one}`] : [])];
    return all.filter((way) => onlyWays.length === 0 || onlyWays.includes(way.split("/")[0]));
}

let failed = 0;
const chosen = goals.filter((goal) => wanted.size === 0 || wanted.has(goal.number));
const servers = { enforced: await Server.start("enforced"), rejected: await Server.start("rejected") };
for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => {
        Object.values(servers).forEach((server) => server.stop());
        process.exit(130);
    });
}
try {
    for (const kind of ["run", "one", "plan"]) {
        for (const [goal, way] of chosen.flatMap((goal) => waysOf(goal).map((way) => [goal, way]))) {
            const [command, schema] = way.split("/");
            if (command !== kind) {
                continue;
            }
            const result = await attempt(goal, command, schema, servers[schema]);
            appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
            failed += result.faults.length;
            console.log(`${goal.number} ${way}: exit ${result.code} ${result.cause}, ${result.calls} calls, `
                + `${result.seconds} s${result.faults.map((fault) => `\n    FAULT ${fault}`).join("")}`);
        }
    }
} finally {
    Object.values(servers).forEach((server) => server.stop());
}
rmSync(scratch, { recursive: true, force: true });
process.exit(failed > 0 ? 1 : 0);
