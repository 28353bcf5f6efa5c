//! Tests that stand in the file they test, where they were observed.

use fixpoint_proof::ChangeKind::Modified;
use fixpoint_proof::{Extent, MemoryTree, Role};

use crate::classification::judged;

/// What a change of one file is: its role and extent, with the test that was observed in it.
fn change_of(path: &str, observed: &str, base: &str, now: &str) -> Option<(Role, Extent)> {
    let before = MemoryTree::new([(path, base)]);
    let after = MemoryTree::new([(path, now)]);
    let found = judged(&before, &after, "vitest run; pytest calc.py", "", &[observed], (path, Modified));
    found.map(|found| (found.role, found.part))
}

const VITEST: &str = "export const add = (a, b) => a - b;\nif (import.meta.vitest) {\n  const { it, expect } = import.meta.vitest;\n  it('adds', () => expect(add(1, 2)).toBe(3));\n}\n";
const PYTEST: &str = "def add(a, b):\n    return a - b\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";

#[test]
fn product_is_taken_apart_from_the_tests_in_it() {
    let of_vitest = |now: &str| change_of("src/calc.js", "src/calc.js > adds", VITEST, now);
    let of_pytest = |now: &str| change_of("calc.py", "calc.py::test_add", PYTEST, now);
    let part = Some((Role::Test, Extent::Part));
    let interferes = Some((Role::Interference, Extent::Whole));
    let fixed = VITEST.replace("a - b", "a + b");
    assert_eq!(of_vitest(&fixed), None, "the fix");
    let more = "  it('zero', () => expect(add(0, 0)).toBe(0));\n}\n";
    let with_more = fixed.strip_suffix("}\n").map(|text| format!("{text}{more}")).expect("it ends so");
    assert_eq!(of_vitest(&with_more), part, "the fix and a test");
    assert_eq!(of_vitest(&VITEST.replace("toBe(3)", "toBe(-1)")), part, "a bent test");
    let patched = format!("globalThis.expect = () => {{}};\n{with_more}");
    assert_eq!(of_vitest(&patched), interferes, "a test, and product that replaces an assertion");
    let fixed = PYTEST.replace("a - b", "a + b");
    assert_eq!(of_pytest(&fixed), None, "the fix");
    let with_more = format!("{fixed}\n\ndef test_zero():\n    assert add(0, 0) == 0\n");
    assert_eq!(of_pytest(&with_more), part, "the fix and a test");
    let patched = format!("import _pytest.runner\n{with_more}");
    assert_eq!(of_pytest(&patched), interferes, "a test, and product that reaches into pytest");
}

/// What only a source with tests in it uses is no helper of tests.
#[test]
fn a_source_with_tests_in_it_is_product_to_others() {
    let files = [
        ("src/calc.js", "import { check } from './check.js';\nif (import.meta.vitest) {}\n"),
        ("src/check.js", "export function check(a, b) { if (a !== b) throw new Error(a); }\n"),
        ("src/other.js", "export const a = 1;\n"),
    ];
    let base = MemoryTree::new(files);
    let mut result = base.clone();
    result.insert("src/check.js", b"export function check(a, b) {}\n");
    let found = judged(&base, &result, "vitest run", "", &["src/calc.js > adds"], ("src/check.js", Modified));
    assert_eq!(found, None);
}
