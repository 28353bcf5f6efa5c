// Turns a JSON Schema into a grammar of llama.cpp, as its own server does: properties in the order of the schema, optional
// ones may be left out, nothing else is allowed. Output is on one line, to save tokens.

const BASICS = String.raw`
ws ::= " "?
char ::= [^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4})
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
number ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?
boolean ::= "true" | "false"
null ::= "null"
any ::= string | number | boolean | null | any-object | any-array
any-object ::= "{" ws (string ":" ws any ("," ws string ":" ws any)*)? ws "}"
any-array ::= "[" ws (any ("," ws any)*)? ws "]"
`;

export function grammarOf(schema) {
    const rules = [];
    let count = 0;
    const rule = (body) => {
        const name = `r${count++}`;
        rules.push(`${name} ::= ${body}`);
        return name;
    };
    const literal = (value) => JSON.stringify(JSON.stringify(value));
    const either = (names) => rule(names.join(" | "));

    const object = (schema) => {
        const properties = Object.entries(schema.properties ?? {});
        if (properties.length === 0) {
            return "any-object";
        }
        const required = new Set(schema.required ?? []);
        const pairs = properties.map(([name, value]) => `${literal(name)} ":" ws ${visit(value)}`);
        // What may follow property number `at`, depending on whether one was already written.
        const rest = new Map();
        const from = (at, written) => {
            if (at === pairs.length) {
                return '""';
            }
            const key = `${at} ${written}`;
            if (!rest.has(key)) {
                const here = `${written ? '"," ws ' : ""}${pairs[at]} ws ${from(at + 1, true)}`;
                const without = required.has(properties[at][0]) ? [] : [from(at + 1, written)];
                rest.set(key, either([here, ...without]));
            }
            return rest.get(key);
        };
        return rule(`"{" ws ${from(0, false)} "}"`);
    };
    const array = (schema) => {
        const item = schema.items === undefined ? "any" : visit(schema.items);
        return rule(`"[" ws (${item} ("," ws ${item})*)? ws "]"`);
    };
    const visit = (schema) => {
        const options = schema.anyOf ?? schema.oneOf;
        if (options) {
            return either(options.map(visit));
        }
        if ("const" in schema) {
            return rule(literal(schema.const));
        }
        if (schema.enum) {
            return either(schema.enum.map(literal));
        }
        if (Array.isArray(schema.type)) {
            return either(schema.type.map((type) => visit({ ...schema, type })));
        }
        switch (schema.type) {
            case "object": return object(schema);
            case "array": return array(schema);
            case "string": case "integer": case "number": case "boolean": case "null": return schema.type;
            case undefined: return schema.properties ? object(schema) : "any";
            default: throw new Error(`a schema with the type ${JSON.stringify(schema.type)}`);
        }
    };
    return `root ::= ${visit(schema)}\n${rules.join("\n")}\n${BASICS}`;
}
