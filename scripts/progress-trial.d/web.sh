# JavaScript tools for the trial. The packages are a link that is part of the repository.

p_values_js() {
    ln -s "$TRIAL_TOOLS/node_modules" node_modules
    echo '{ "name": "shop", "version": "1.0.0", "private": true }' >package.json
    for i in $(each); do echo "exports.v$i = \"bad\";"; done >shop.js
}
BAD='shop.js|"bad"|s/"bad"/"ok"/'
# tests_js FILE HEAD PASSING TEST: one passing test and one test for each item, N is its number.
tests_js() {
    { printf "$2\n$3\n"; for i in $(each); do printf "${4//N/$i}\n"; done; } >"$1"
}
EXPECT='test("item N", () => { expect(shop.vN).toBe("ok"); });'
p_jest() { p_values_js; tests_js shop.test.js 'const shop = require("./shop");' 'test("fine", () => {});' "$EXPECT"; }
tool jest p_jest "$BAD" 'jest' 'jest --version'
tool jest_tail p_jest "$BAD" "bash -c 'set -o pipefail; jest 2>&1 | tail -6'" 'jest --version'
p_vitest() { p_values_js; tests_js shop.test.mjs 'import shop from "./shop.js";\nimport { expect, test } from "vitest";' 'test("fine", () => {});' "$EXPECT"; }
tool vitest p_vitest "$BAD" 'vitest run' 'vitest --version'
tool vitest_tail p_vitest "$BAD" "bash -c 'set -o pipefail; vitest run 2>&1 | tail -8'" 'vitest --version'
p_mocha() { p_values_js; mkdir test; tests_js test/shop.js 'const assert = require("assert");\nconst shop = require("../shop");' 'it("fine", () => {});' 'it("item N", () => { assert.strictEqual(shop.vN, "ok"); });'; }
tool mocha p_mocha "$BAD" 'mocha' 'mocha --version'
p_jasmine() { p_values_js; mkdir spec; tests_js spec/shop.spec.js 'const shop = require("../shop");' 'it("fine", () => { expect(1).toBe(1); });' 'it("item N", () => { expect(shop.vN).toBe("ok"); });'; }
tool jasmine p_jasmine "$BAD" 'jasmine --random=false "spec/*.spec.js"' 'jasmine version'
p_ava() { p_values_js; tests_js shop.test.mjs 'import test from "ava";\nimport shop from "./shop.js";' 'test("fine", (t) => t.pass());' 'test("item N", (t) => { t.is(shop.vN, "ok"); });'; }
tool ava p_ava "$BAD" 'ava shop.test.mjs' 'ava --version'
p_tape() { p_values_js; tests_js shop.test.js 'const test = require("tape");\nconst shop = require("./shop");' 'test("fine", (t) => { t.pass("fine"); t.end(); });' 'test("item N", (t) => { t.equal(shop.vN, "ok", "is ok"); t.end(); });'; }
tool tape p_tape "$BAD" 'tape shop.test.js' "node -p 'require(\"$TRIAL_TOOLS/node_modules/tape/package.json\").version'"
p_node() { p_values_js; tests_js shop.test.js 'const assert = require("node:assert");\nconst { test } = require("node:test");\nconst shop = require("./shop");' 'test("fine", () => {});' 'test("item N", () => { assert.strictEqual(shop.vN, "ok"); });'; }
tool node_test p_node "$BAD" 'node --test shop.test.js' 'node --version'
p_bun() { p_values_js; tests_js shop.test.js 'import { expect, test } from "bun:test";\nimport shop from "./shop.js";' 'test("fine", () => {});' "$EXPECT"; }
tool bun p_bun "$BAD" 'bun test' 'bun --version'
tool bun_tail_plain p_bun "$BAD" 'bun test 2>&1 | tail -5' 'bun --version'
tool bun_tail p_bun "$BAD" "bash -c 'set -o pipefail; bun test 2>&1 | tail -5'" 'bun --version'
p_deno() {
    for i in $(each); do echo "export const v$i = \"bad\";"; done >shop.js
    tests_js shop.test.ts 'import * as shop from "./shop.js";' 'Deno.test("fine", () => {});' 'Deno.test("item N", () => {\n    if (String(shop.vN) !== "ok") throw new Error("item is " + shop.vN);\n});'
}
tool deno p_deno "$BAD" 'deno test --no-check -A' 'deno --version'
# Every failure costs it a new worker, which is slow: twelve problems are enough.
p_playwright() {
    local PROBLEMS=$((PROBLEMS < 12 ? PROBLEMS : 12))
    p_values_js
    tests_js shop.spec.mjs 'import { expect, test } from "@playwright/test";\nimport shop from "./shop.js";' 'test("fine", () => {});' "$EXPECT"
    printf 'export default { reporter: "list", workers: 1 };\n' >playwright.config.mjs
    echo test-results/ >.gitignore
}
tool playwright p_playwright "$BAD" 'playwright test' 'playwright --version'
p_pnpm() {
    p_values_js && rm node_modules
    printf 'packages:\n  - "packages/*"\n' >pnpm-workspace.yaml
    for package in a b; do
        mkdir -p packages/$package
        echo "{ \"name\": \"$package\", \"version\": \"1.0.0\", \"scripts\": { \"test\": \"node --test --test-reporter=spec\" } }" >packages/$package/package.json
    done
    tests_js packages/a/shop.test.js 'const assert = require("node:assert");\nconst { test } = require("node:test");\nconst shop = require("../../shop");' 'test("fine", () => {});' 'test("item N", () => { assert.strictEqual(shop.vN, "ok"); });'
    printf 'require("node:test").test("b is fine", () => {});\n' >packages/b/b.test.js
}
tool pnpm_plain p_pnpm "$BAD" 'pnpm -r test' 'pnpm --version'
tool pnpm_recursive p_pnpm "$BAD" 'pnpm -r --no-bail test' 'pnpm --version'
tool concurrently p_node "$BAD" "concurrently 'node --test --test-reporter=spec shop.test.js' 'node -e 1'" 'concurrently --version'
tool turbo_prefix p_jest "$BAD" "bash -c 'set -o pipefail; jest 2>&1 | sed \"s/^/web:test: /\"'" 'jest --version'

p_eslint() { for i in $(each); do printf 'function item%d(a) {\n    return a == %d;\n}\n' "$i" "$i"; done >shop.js; printf 'export default [{ rules: { eqeqeq: "error" } }];\n' >eslint.config.mjs; }
tool eslint p_eslint 'shop.js| == |s/ == / === /' 'eslint shop.js' 'eslint --version'
tool biome p_biome 'shop.js| == |s/ == / === /' 'biome lint --max-diagnostics=none shop.js' 'biome --version'
p_biome() { p_eslint; sed -i 's/^function/export function/' shop.js; }
p_tsc() { for i in $(each); do echo "export const item$i: number = \"text\";"; done >shop.ts; }
tool tsc p_tsc 'shop.ts|"text"|s/"text"/1/' 'tsc --noEmit --pretty false shop.ts' 'tsc --version'
