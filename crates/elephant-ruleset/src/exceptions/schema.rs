//! The schema of a document of exceptions, for editors.

use elephant_base::severity::Severity;
use elephant_container_log::{Fault, Origin, Part};
use serde_json::{Value, json};

/// The schema of a document `exceptions: […]`.
pub(in super::super) fn schema() -> Value {
    let text = |description: &str| json!({"description": description, "type": "string"});
    let texts = |description: &str| json!({"description": description, "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    let source = json!({"enum": Origin::ALL.map(Origin::name)});
    json!({
        "description": "rules that tell the kinds of exceptions in logs",
        "required": [super::KEY],
        "additionalProperties": false,
        "properties": {
            super::KEY: {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["kind", "regex", "example"],
                    "additionalProperties": false,
                    "properties": {
                        "kind": {"description": "the stable id", "type": "string", "pattern": "^[a-z0-9-]+$"},
                        "priority": {"description": "smaller ones come first; 50 if left out", "type": "integer"},
                        "source": {
                            "description": "the processes whose logs it is about; all if left out",
                            "anyOf": [source, {"type": "array", "items": source}],
                        },
                        "regex": text("what the part must contain; named groups are the facts of the remedy"),
                        "match": {
                            "description": "the first line, that of the innermost cause (if left out), or all lines",
                            "enum": Part::ALL.map(Part::name),
                        },
                        "fault": {"description": "whose fault it is; user if left out", "enum": Fault::ALL.map(Fault::name)},
                        "severity": {"description": "how bad it is", "enum": Severity::ALL.map(Severity::name)},
                        "remedy": text("what to do, with named groups in braces"),
                        "example": texts("a line that it must tell"),
                        "not": texts("a line that it must not tell"),
                    },
                },
            },
        },
    })
}
