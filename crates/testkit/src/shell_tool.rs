//! Turning a command line into a call of an agent's shell tool.
//!
//! Owns the names and schemas of such tools. Refuses tools that take no command line. Invariant: the arguments contain
//! every field that the tool's schema requires.

use serde_json::{Map, Value, json};

use crate::question::OfferedTool;

/// Known names of the tool, the most common first.
const NAMES: [&str; 7] =
    ["Bash", "exec_command", "shell_command", "shell", "local_shell", "bash", "run_shell_command"];

const ARGUMENTS: [&str; 3] = ["cmd", "command", "script"];

/// The built-in shell tool of the responses protocol.
pub(crate) const LOCAL_SHELL: &str = "local_shell";

/// The tool and its arguments, if one of the tools runs commands.
pub(crate) fn call_for(command: &str, tools: &[OfferedTool]) -> Option<(String, Value)> {
    let known = NAMES.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name));
    let tool = known.or_else(|| tools.iter().find(|tool| argument(tool).is_some()))?;
    if tool.name == LOCAL_SHELL && tool.parameters.is_null() {
        return Some((tool.name.clone(), json!({"command": in_shell(command)})));
    }
    let name = argument(tool)?;
    let schema = tool.parameters.pointer(&format!("/properties/{name}"));
    let as_list = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str) == Some("array");
    let mut arguments = Map::new();
    arguments.insert(name.to_string(), if as_list { json!(in_shell(command)) } else { json!(command) });
    for required in tool.parameters.get("required").and_then(Value::as_array).into_iter().flatten() {
        let Some(required) = required.as_str() else { continue };
        let schema = tool.parameters.pointer(&format!("/properties/{required}"));
        arguments.entry(required).or_insert_with(|| filler(schema.unwrap_or(&Value::Null)));
    }
    Some((tool.name.clone(), Value::Object(arguments)))
}

fn argument(tool: &OfferedTool) -> Option<&'static str> {
    let properties = tool.parameters.get("properties")?;
    ARGUMENTS.into_iter().find(|name| properties.get(name).is_some())
}

fn in_shell(command: &str) -> [&str; 3] {
    ["bash", "-lc", command]
}

/// A harmless value for a required field.
fn filler(schema: &Value) -> Value {
    if let Some(first) = schema.pointer("/enum/0") {
        return first.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(false),
        Some("number" | "integer") => json!(10_000),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("run the command"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, parameters: Value) -> OfferedTool {
        OfferedTool { name: name.to_string(), parameters }
    }

    #[test]
    fn the_call_matches_the_schema_of_the_tool() {
        let text = json!({"type": "string"});
        let table = [
            (tool("Bash", json!({"properties": {"command": text}})), json!({"command": "true"})),
            (
                tool("exec_command", json!({"properties": {"cmd": text, "tty": {}}, "required": ["cmd"]})),
                json!({"cmd": "true"}),
            ),
            (
                tool("shell", json!({"properties": {"command": {"type": "array"}}})),
                json!({"command": ["bash", "-lc", "true"]}),
            ),
            (tool("local_shell", Value::Null), json!({"command": ["bash", "-lc", "true"]})),
            (
                tool(
                    "run",
                    json!({"properties": {"script": text, "why": text, "wait": {"type": "integer"}, "quiet":
                    {"type": "boolean"}, "how": {"enum": ["now"]}}, "required": ["script", "why", "wait", "quiet", "how"]}),
                ),
                json!({"script": "true", "why": "run the command", "wait": 10_000, "quiet": false, "how": "now"}),
            ),
        ];
        for (tool, arguments) in table {
            let other = tool_that_reads();
            let found = call_for("true", &[other, tool.clone()]);
            assert_eq!(found, Some((tool.name, arguments)));
        }
    }

    fn tool_that_reads() -> OfferedTool {
        tool("Read", json!({"properties": {"path": {"type": "string"}}}))
    }

    #[test]
    fn without_a_shell_tool_there_is_no_call() {
        assert_eq!(call_for("true", &[tool_that_reads()]), None);
        assert_eq!(call_for("true", &[]), None);
    }
}
