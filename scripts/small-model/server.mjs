// Serves one very small language model as OpenAI chat completions, on loopback, with one thread.
//
//   MODEL_FILE=….gguf node server.mjs        prints its port, then one line of JSON for every request
//
//   PORT            0: any free port
//   CONTEXT         the context window in tokens (default 8192, the model's maximum)
//   SCHEMA          enforced: a schema is enforced by a grammar, as llama.cpp's server does it
//                   rejected: `response_format` is rejected with status 400, as by servers without grammars
//   MAX_TOKENS      the longest answer, whatever the request allows
//   TEMPERATURE, SEED
//   RECORD          a directory: every request and its answer are written there
//
// Error messages are those of llama.cpp's server. Requests are answered one after the other.

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { getLlama, LlamaCompletion, LlamaGrammar, LlamaLogLevel } from "node-llama-cpp";
import { grammarOf } from "./grammar.mjs";

const env = process.env;
const settings = {
    window: Number(env.CONTEXT ?? 8192),
    schema: env.SCHEMA ?? "enforced",
    most: Number(env.MAX_TOKENS ?? 8192),
    temperature: Number(env.TEMPERATURE ?? 0.8),
    seed: Number(env.SEED ?? 1),
};
const name = "smollm2-135m-instruct";

const llama = await getLlama({ gpu: false, build: "never", maxThreads: 1, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath: env.MODEL_FILE });
// A common prefix of two prompts is evaluated once, as in llama.cpp's server with its slots.
const SLOTS = 6;
const context = await model.createContext({ contextSize: settings.window, sequences: SLOTS, threads: 1 });
const slots = Array.from({ length: SLOTS }, () => {
    const sequence = context.getSequence();
    return { tokens: [], used: 0, sequence, completion: new LlamaCompletion({ contextSequence: sequence }) };
});

/** Evaluates a prompt in small pieces, so that a closed connection stops it soon. */
async function read(slot, tokens, gone) {
    await slot.sequence.adaptStateToTokens(tokens, false);
    while (slot.sequence.nextTokenIndex < tokens.length - 1 && !gone.aborted) {
        const from = slot.sequence.nextTokenIndex;
        await slot.sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(from, Math.min(from + 128, tokens.length - 1)));
    }
    gone.throwIfAborted();
}

/** The slot whose last prompt has the longest common prefix; else the least recently used one. */
function slotFor(tokens) {
    const alike = (slot) => {
        const differs = tokens.findIndex((token, at) => token !== slot.tokens[at]);
        return differs < 0 ? tokens.length : differs;
    };
    const [best] = slots.map((slot) => ({ slot, alike: alike(slot) }))
        .sort((one, two) => two.alike - one.alike || one.slot.used - two.slot.used);
    const slot = best.alike * 3 > tokens.length ? best.slot : slots.reduce((a, b) => (a.used <= b.used ? a : b));
    return Object.assign(slot, { tokens, used: number });
}

class Refusal extends Error {
    constructor(status, type, message, more = {}) {
        super(message);
        this.status = status;
        this.body = { error: { code: status, message, type, ...more } };
    }
}

/** The conversation in the chat format of this model. Special tokens inside messages stay text. */
function tokensOf(messages) {
    const special = (text) => model.tokenize(text, true);
    const turns = messages.flatMap(({ role, content }) => {
        const text = Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : String(content ?? "");
        return [...special("<|im_start|>"), ...model.tokenize(`${role}\n${text}`), ...special("<|im_end|>"),
            ...model.tokenize("\n")];
    });
    return [...turns, ...special("<|im_start|>"), ...model.tokenize("assistant\n")];
}

function grammarFor(format) {
    if (format === undefined || format === null || format.type === "text") {
        return undefined;
    }
    if (settings.schema === "rejected") {
        throw new Refusal(400, "invalid_request_error", "response_format is not supported by this server");
    }
    const schema = format.type === "json_schema" ? format.json_schema?.schema ?? {} : { type: "object" };
    try {
        return new LlamaGrammar(llama, { grammar: grammarOf(schema), trimWhitespaceSuffix: true });
    } catch (error) {
        throw new Refusal(400, "invalid_request_error", `the grammar cannot be made: ${error.message}`);
    }
}

/** A repeated request gets different answers, but the same ones in every session. */
const asked = new Map();
function seedOf(body) {
    const key = createHash("sha256").update(JSON.stringify(body)).digest();
    const times = (asked.get(key.toString("hex")) ?? 0) + 1;
    asked.set(key.toString("hex"), times);
    return (key.readUInt32LE(0) + times + settings.seed * 7919) % 2 ** 31;
}

async function answer(body, gone, say) {
    const tokens = tokensOf(body.messages ?? []);
    if (tokens.length >= settings.window) {
        const message = `request (${tokens.length} tokens) exceeds the available context size `
            + `(${settings.window} tokens), try increasing it`;
        throw new Refusal(400, "exceed_context_size_error", message,
            { n_prompt_tokens: tokens.length, n_ctx: settings.window });
    }
    const grammar = grammarFor(body.response_format);
    const wanted = body.max_completion_tokens ?? body.max_tokens ?? settings.most;
    const room = settings.window - tokens.length - 1;
    const maxTokens = Math.max(1, Math.min(wanted, settings.most, room));
    let written = 0;
    const slot = slotFor(tokens);
    await read(slot, tokens, gone);
    const result = await slot.completion.generateCompletionWithMeta(tokens, {
        maxTokens, grammar, seed: seedOf(body), temperature: settings.temperature, topK: 40, topP: 0.95,
        signal: gone, stopOnAbortSignal: true, disableContextShift: true,
        onToken: (some) => { written += some.length; },
        onTextChunk: say,
    });
    const finish = result.metadata.stopReason === "maxTokens" ? "length" : "stop";
    const usage = { prompt_tokens: tokens.length, completion_tokens: written, total_tokens: tokens.length + written };
    return { text: result.response, finish, usage };
}

let arrived = 0;
let number = 0;
let last = Promise.resolve();

async function complete(request, response, body) {
    const began = Date.now();
    const id = `chatcmpl-${++number}`;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const stream = body.stream === true;
    const event = (choice, usage) => response.write(`data: ${JSON.stringify({
        id, object: "chat.completion.chunk", model: name, choices: choice ? [choice] : [], ...(usage ? { usage } : {}),
    })}\n\n`);
    const say = (words) => {
        if (!stream) {
            return;
        }
        if (!response.headersSent) {
            response.writeHead(200, { "content-type": "text/event-stream" });
        }
        event({ index: 0, delta: { content: words } });
    };
    let told;
    try {
        const { text, finish, usage } = await answer(body, gone.signal, say);
        told = { status: 200, finish, ...usage };
        if (stream) {
            say("");
            event({ index: 0, delta: {}, finish_reason: finish });
            if (body.stream_options?.include_usage) {
                event(undefined, usage);
            }
            response.end("data: [DONE]\n\n");
        } else {
            const choices = [{ index: 0, finish_reason: finish, message: { role: "assistant", content: text } }];
            response.writeHead(200, { "content-type": "application/json" });
            response.end(JSON.stringify({ id, object: "chat.completion", model: name, choices, usage }));
        }
        record(id, body, { text, finish, usage });
    } catch (error) {
        const status = error instanceof Refusal ? error.status : 500;
        const document = error.body ?? { error: { code: 500, message: String(error.message), type: "server_error" } };
        told = { status, said: document.error.message };
        if (response.headersSent) {
            response.end(`data: ${JSON.stringify(document)}\n\n`);
        } else {
            response.writeHead(status, { "content-type": "application/json" });
            response.end(JSON.stringify(document));
        }
    }
    console.log(JSON.stringify({ id, ...told, gone: gone.signal.aborted && !response.writableFinished,
        form: body.response_format?.json_schema?.name, ms: Date.now() - began }));
}

function record(id, body, reply) {
    if (env.RECORD) {
        mkdirSync(env.RECORD, { recursive: true });
        writeFileSync(join(env.RECORD, `${id}.json`), JSON.stringify({ body, reply }, null, 1));
    }
}

const server = createServer((request, response) => {
    const give = (status, document) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(document));
    };
    if (request.method === "GET" && request.url === "/v1/models") {
        return give(200, { object: "list", data: [{ id: name, object: "model" }] });
    }
    if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
        return give(404, { error: { code: 404, message: "File Not Found", type: "not_found_error" } });
    }
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
        let body;
        try {
            body = JSON.parse(Buffer.concat(pieces).toString("utf8"));
        } catch (error) {
            return give(400, { error: { code: 400, message: error.message, type: "invalid_request_error" } });
        }
        console.log(JSON.stringify({ asked: ++arrived }));
        last = last.then(() => (response.destroyed ? undefined : complete(request, response, body)));
    });
});
server.listen(Number(env.PORT ?? 0), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
