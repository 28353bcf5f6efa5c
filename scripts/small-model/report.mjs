// Writes docs/small-model.md from the results of try.mjs.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { goals } from "./goals.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const order = ["plan", "run", "one"];
const results = readFileSync(process.env.RESULTS, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line))
    .sort((one, two) => one.goal - two.goal || order.indexOf(one.command) - order.indexOf(two.command));
const runtime = JSON.parse(readFileSync(join(here, "package.json"), "utf8")).dependencies["node-llama-cpp"];
const count = (items) => items.reduce((all, item) => all.set(item, (all.get(item) ?? 0) + 1), new Map());
const sum = (name) => results.reduce((all, result) => all + (result[name] ?? 0), 0);
const cell = (text) => text.replace(/[\u202a-\u202e\u200b\u0007]/g, "�").replace(/\s+/g, " ").replaceAll("|", "\\|");
const short = (text) => (text.length > 70 ? `${[...cell(text)].slice(0, 68).join("")} …` : cell(text));
const faults = results.filter((result) => result.faults.length > 0);
const planned = results.filter((result) => result.cause !== "usage" && result.command !== "one");
const causes = [...count(results.map((result) => `\`${result.cause}\` (exit ${result.code})`))]
    .sort((one, two) => two[1] - one[1]);
/** Why there is no plan, by the output of `explain`. */
const why = ({ explained }) => {
    const said = (explained?.evidence ?? []).join(" ");
    const kinds = [["did not answer within", "no answer in time"], ["cut", "cut off by the token limit"],
        ["no JSON", "no JSON"], ["found nothing", "a part missing"]];
    return kinds.find(([words]) => said.includes(words))?.[1] ?? "something else";
};
const reasons = [...count(results.filter((result) => result.cause === "model_unavailable").map(why))]
    .sort((one, two) => two[1] - one[1]).map(([reason, times]) => `${reason} ${times}`).join(", ");
const worst = results.filter((result) => result.bound).map((result) => result.calls / result.bound);
const names = { plan: "`plan`", run: "`run`", one: "`run --no-plan`" };

console.log(readFileSync(join(here, "introduction.md"), "utf8").trimEnd());
console.log(`
## Results

${results.length} commands over ${goals.length} goals, ${sum("calls")} requests to the model, ${sum("tokens")} output tokens,
${Math.round(sum("seconds") / 60)} minutes, with one thread on a busy machine (node-llama-cpp ${runtime}).

| result | commands |
|---|---|
${causes.map(([cause, times]) => `| ${cause} | ${times} |`).join("\n")}

- Violations of the checks above: ${faults.length === 0 ? "none" : faults.length}.
- Commands that asked for a plan: ${planned.length}; plans that passed the structure check: ${
    planned.filter((result) => result.plans > 0).length}; accepted by the judge: ${
    planned.filter((result) => result.accepted).length}.
- Reasons for \`model_unavailable\`, by the last answer: ${reasons}.
- Tasks done: ${results.flatMap((result) => result.proofs ?? []).length}; branches: ${
    results.filter((result) => result.branch).length}; agent attempts: ${sum("attempts")}.
- The most model calls of a command, as a share of its announced bound: ${(Math.max(0, ...worst) * 100).toFixed(1)} %.

| goal | repository | command | schema | exit | result | calls | bound | output tokens | seconds |
|---|---|---|---|---|---|---|---|---|---|
${results.map((result) => {
        const goal = goals.find((goal) => goal.number === result.goal);
        const words = result.command === "plan" ? `${goal.number}. ${short(goal.text)}` : `${goal.number}.`;
        return `| ${words} | ${result.repository} | ${names[result.command]} | ${result.schema} | ${result.code} | ${result.cause} | `
            + `${result.calls} | ${result.bound ?? ""} | ${result.tokens} | ${result.seconds} |`;
    }).join("\n")}`);
for (const { goal, command, faults: found } of faults) {
    console.log(`\n- ${goal} \`${command}\`: ${found.map(cell).join("; ")}`);
}
