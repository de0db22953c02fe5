//! The JSON Schema of rule files, generated from the rules' parameters.

use serde_json::{Map, Value, json};

use super::document::ORIGIN;
use super::scope::Aspect;
use super::{custom, exceptions, settings};
use elephant_base::severity::Severity;
use elephant_catalogue::Catalogue;
use elephant_rule::finding::Provenance;
use elephant_rule::params::Key;

/// The schema of one document in a rule file, as JSON text.
#[must_use]
pub fn text(catalogue: Catalogue) -> String {
    format!("{:#}\n", schema(catalogue))
}

/// The schema of one document in a rule file (draft 7, which editors support best).
#[must_use]
pub(crate) fn schema(catalogue: Catalogue) -> Value {
    let rules = catalogue.rules().map(|rule| (rule.id, rule.title, (rule.keys)(), true));
    let settings = settings::ALL.iter().map(|known| (known.id, known.title, (known.keys)(), false));
    let mut known = Vec::new();
    let mut branches = Vec::new();
    for (id, title, keys, judges) in rules.chain(settings) {
        known.push(json!({"const": id, "description": title}));
        branches.push(json!({
            "if": {"properties": {"rule": {"const": id}}, "required": ["rule"]},
            "then": {"properties": properties(keys, judges), "additionalProperties": false},
        }));
    }
    let mut of_several = properties(&[], true);
    if let Value::Object(head) = &mut of_several {
        let origin = json!({"description": "only rules of this origin", "enum": Provenance::WORDS});
        head.insert(ORIGIN.to_owned(), origin);
    }
    let several = json!({"pattern": "[*?/]", "description": "all rules whose ids match a glob or /a regular expression/"});
    branches.push(json!({
        "if": {"properties": {"rule": several}, "required": ["rule"]},
        "then": {"properties": of_several, "additionalProperties": false},
    }));
    let mut of_definition = custom::properties();
    if let Value::Object(head) = properties(&[], true) {
        of_definition.extend(head);
    }
    branches.push(json!({
        "if": {"anyOf": [{"required": ["values"]}, {"required": ["thresholds"]}, {"required": ["examples"]}]},
        "then": {"properties": of_definition, "additionalProperties": false},
    }));
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A document of an elephant-rs rule file",
        "description": "Omitted keys keep their built-in values. A file may contain several documents, separated by ---.",
        "type": ["object", "null"],
        "if": {"type": "object", "required": ["suppress"]},
        "then": suppression(),
        "else": {
            "if": {"type": "object", "required": ["identify"]},
            "then": identity(),
            "else": {
                "if": {"type": "object", "required": [exceptions::KEY]},
                "then": exceptions::schema(),
                "else": {
                    "required": ["rule"],
                    "properties": {
                        "rule": {"description": "the rule that the document is about", "type": "string", "anyOf": [{"oneOf": known}, several, {"pattern": "^[a-z]"}]},
                    },
                    "allOf": branches,
                },
            },
        },
    })
}

fn properties(keys: &[Key], judges: bool) -> Value {
    let mut properties = Map::new();
    properties.insert("rule".to_owned(), json!({}));
    if judges {
        properties.insert("for".to_owned(), scope());
        let enabled = json!({"description": "whether the rule runs", "type": "boolean"});
        properties.insert("enabled".to_owned(), enabled);
        let levels = Severity::ALL.map(Severity::name);
        let cap = json!({"description": "the highest severity of its findings", "enum": levels});
        properties.insert("max_severity".to_owned(), cap);
    }
    for key in keys {
        let doc = key.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let mut schema = (key.schema)();
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), doc.clone().into());
        }
        properties.insert(key.name.to_owned(), schema.clone());
        if let Some(was) = key.was {
            let note = format!("{doc} This is now called {}.", key.name);
            properties
                .insert(was.to_owned(), json!({"allOf": [schema], "deprecated": true, "description": note}));
        }
    }
    Value::Object(properties)
}

fn pattern(description: &str) -> Value {
    json!({"description": description, "type": "string"})
}

/// The applications that a document applies to.
fn scope() -> Value {
    let one = pattern("a word, a glob such as etl-*, or a regular expression such as /^etl-\\d+$/");
    let fits = json!({"anyOf": [one, {"type": "integer"}, {"type": "array", "minItems": 1, "items": one}]});
    let aspects: Map<String, Value> =
        Aspect::ALL.into_iter().map(|aspect| (aspect.key().to_owned(), fits.clone())).collect();
    json!({
        "description": "the applications that the document applies to; all conditions must hold; the most specific document wins",
        "type": "object", "properties": aspects, "additionalProperties": false,
    })
}

/// Where the identity of jobs is read.
fn identity() -> Value {
    let sources = |what: &str| {
        let description = format!(
            "settings with {what}, each alone or with a /regular expression/ whose group is the value"
        );
        json!({"description": description, "type": "array", "items": {"type": "string"}})
    };
    json!({
        "description": "the settings by which a run belongs to a job, flow, task and owner",
        "required": ["identify"],
        "anyOf": [{"required": ["job"]}, {"required": ["flow"]}, {"required": ["task"]}],
        "additionalProperties": false,
        "properties": {
            "identify": pattern("the name of the scheduler"),
            "job": sources("the job"),
            "flow": sources("the flow"),
            "run": sources("the run of the flow or job"),
            "task": sources("the task of the flow"),
            "owner": sources("the owner"),
            "link": {"description": "addresses with fields or settings in braces", "type": "array", "items": {"type": "string"}},
        },
    })
}

fn suppression() -> Value {
    json!({
        "description": "findings that were reviewed and accepted",
        "required": ["suppress", "reason"],
        "additionalProperties": false,
        "properties": {
            "suppress": pattern("the rule's id, or a pattern of ids"),
            "for": scope(),
            "application": pattern("the application's id, or a pattern"),
            "subject": pattern("the subject of the findings: map, reduce, stage 3.0, executor 7, driver, application; or a pattern"),
            "reason": pattern("why these findings are accepted"),
            "until": {"description": "the last day", "type": "string", "format": "date", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
        },
    })
}
