//! The JSON Schema of documents that define a rule.

use serde_json::{Map, Value, json};

/// The keys of a definition.
pub(crate) fn properties() -> Map<String, Value> {
    let expression = || json!({"type": ["string", "number", "boolean"]});
    let cutoffs = || {
        let cutoff = json!({"type": ["string", "number"]});
        let list = json!({"type": "array", "items": cutoff, "minItems": 4, "maxItems": 4});
        json!({"anyOf": [list, {"enum": ["off", "never"]}]})
    };
    let threshold = json!({
        "anyOf": [cutoffs(), {
            "type": "object",
            "properties": {
                "rising": cutoffs(),
                "falling": cutoffs(),
                "decimals": {"type": "integer", "minimum": 0, "maximum": 15},
            },
            "additionalProperties": false,
        }],
    });
    let advice = advice();
    let example = example();
    let keys = json!({
        "title": text("the rule's display name"),
        "engine": {"description": "the engine whose applications it judges", "enum": ["any", "mapreduce", "spark", "tez"]},
        "over": {
            "description": "the subjects; each is judged separately",
            "enum": ["application", "map", "reduce", "stage", "executor", "job", "query", "operator"],
        },
        "when": text("a condition; if it does not hold, the rule does not apply"),
        "description": text("the rule's page in Markdown"),
        "values": {
            "description": "a name and an expression each; a value can use those above it",
            "type": "object", "additionalProperties": expression(),
        },
        "thresholds": {
            "description": "cut-offs for low, moderate, severe, critical, by the value's name",
            "type": "object", "additionalProperties": threshold,
        },
        "severity": text("min(a, b) if all thresholds must be passed, max(a, b) if one is enough"),
        "score_tasks": {"description": "the number of tasks in the score", "type": ["string", "number"]},
        "message": text("one sentence; {…} contains an expression"),
        "advice": {"description": "what the user should change", "anyOf": [advice, {"type": "array", "items": advice}]},
        "examples": {"description": "inputs with the expected results", "type": "array", "items": example},
    });
    match keys {
        Value::Object(keys) => keys,
        _ => Map::new(),
    }
}

fn text(meaning: &str) -> Value {
    json!({"description": meaning, "type": "string"})
}

/// A line of advice.
fn advice() -> Value {
    let expression = || json!({"type": ["string", "number", "boolean"]});
    json!({
        "anyOf": [{"type": "string"}, {
            "type": "object",
            "required": ["text"],
            "properties": {
                "when": expression(),
                "text": {"type": "string"},
                "set": {
                    "description": "settings with the values that the advice proposes; {…} contains an expression, digits only",
                    "type": "object", "additionalProperties": expression(),
                },
            },
            "additionalProperties": false,
        }],
    })
}

/// The expected result of a rule.
fn example() -> Value {
    let severities = ["none", "low", "moderate", "severe", "critical", "not-evaluated", "not-applicable"];
    json!({
        "type": "object",
        "required": ["severity"],
        "properties": {
            "name": text("what the example shows"),
            "values": {"description": "values that replace those that the rule would compute", "type": "object"},
            "history": text("a history, relative to the rule file"),
            "subject": text("the subject, such as map or stage 3.0"),
            "application": text("the application's id"),
            "severity": {"enum": severities},
        },
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::read::KEYS;

    #[test]
    fn every_key_has_a_schema() {
        let properties = super::properties();
        assert_eq!(properties.keys().map(String::as_str).collect::<Vec<_>>(), KEYS);
    }
}
