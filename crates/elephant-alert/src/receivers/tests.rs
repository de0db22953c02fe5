//! Each message against the form and the limits that its receiver publishes.

use serde_json::{Value, json};

use super::testing::{HOSTILE, alert_with, with_lineage};
use super::{Body, message};
use crate::lineage::{Lineage, Parent};
use crate::{Alert, AlertFile};
use elephant_rule::params::RuleFile;

const RECEIVERS: &str = "
receivers:
  chat: {slack: {url_env: SLACK}}
  pager: {alertmanager: {url: 'http://am:9093/', resolve_after: 12h}}
  bus: {cloudevents: {url: 'http://bus/in'}}
  lineage: {openlineage: {url: 'http://marquez:5000', namespace: prod}}
  mail: {mail: {to: [a@example.com, b@example.com], from: elephant@example.com}}
routes: [{to: [chat, pager, bus, lineage, mail], severity: low}]
";

fn file() -> AlertFile {
    AlertFile::of(RuleFile { name: "alerts.yaml".to_owned(), text: RECEIVERS.to_owned() }).unwrap()
}

/// What a receiver gets.
fn body(receiver: &str, alert: &Alert) -> Body {
    let file = file();
    let receiver = file.receivers.iter().find(|known| known.name == receiver).unwrap();
    message(receiver, alert).body
}

fn json_for(receiver: &str, alert: &Alert) -> Value {
    serde_json::from_str(body(receiver, alert).content()).unwrap()
}

/// Short, usual, empty, long and hostile texts, with few and many troubles.
fn alerts() -> Vec<Alert> {
    let long = "𝄞<&>".repeat(5000);
    let texts = ["nightly", "", HOSTILE, &long];
    texts.iter().flat_map(|text| [1, 30].map(|troubles| alert_with(text, troubles))).collect()
}

#[track_caller]
fn fits(schema: &Value, value: &Value) {
    let validator = jsonschema::options().should_validate_formats(true).build(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn the_same_alert_gives_the_same_bytes() {
    for alert in alerts() {
        for receiver in ["chat", "pager", "bus", "lineage", "mail"] {
            assert_eq!(body(receiver, &alert), body(receiver, &alert));
        }
        // It waits in the store as JSON.
        let stored = serde_json::to_string(&alert).unwrap();
        assert_eq!(serde_json::from_str::<Alert>(&stored).unwrap(), alert);
    }
}

/// Slack's reference of blocks and of text objects: types, required fields and limits.
fn slack_schema() -> Value {
    let text = |kind: &str, most: u32, flag: &str| {
        json!({ "type": "object", "required": ["type", "text"], "additionalProperties": false, "properties": {
            "type": { "const": kind }, "text": { "type": "string", "minLength": 1, "maxLength": most },
            flag: { "type": "boolean" } } })
    };
    let block = |kind: &str, properties: Value| {
        json!({ "type": "object", "required": ["type"], "additionalProperties": false, "properties": properties,
            "allOf": [{ "properties": { "type": { "const": kind } } }] })
    };
    let mrkdwn = |most| text("mrkdwn", most, "verbatim");
    json!({ "type": "object", "required": ["text", "blocks"], "properties": {
        "text": { "type": "string", "minLength": 1, "maxLength": 40_000 },
        "blocks": { "type": "array", "minItems": 1, "maxItems": 50, "items": { "oneOf": [
            block("header", json!({ "type": {}, "text": text("plain_text", 150, "emoji") })),
            block("section", json!({ "type": {}, "text": mrkdwn(3000),
                "fields": { "type": "array", "minItems": 1, "maxItems": 10, "items": mrkdwn(2000) } })),
            block("context", json!({ "type": {},
                "elements": { "type": "array", "minItems": 1, "maxItems": 10, "items": mrkdwn(3000) } })),
        ] } },
        "unfurl_links": { "const": false }, "unfurl_media": { "const": false },
    }, "additionalProperties": false })
}

#[test]
fn slack_gets_blocks_within_its_limits() {
    for alert in alerts() {
        fits(&slack_schema(), &json_for("chat", &alert));
    }
}

#[test]
fn names_are_no_links_mentions_or_commands_in_slack() {
    let text = body("chat", &alert_with(HOSTILE, 2)).content().to_owned();
    for sign in ["<!", "<@", "<https://evil", "\u{1b}", "\u{202e}"] {
        assert!(!text.contains(sign), "{sign}: {text}");
    }
    let blocks = json_for("chat", &alert_with(HOSTILE, 2));
    let mut texts = Vec::new();
    collect(&blocks, &mut texts);
    for (kind, text, verbatim) in texts {
        let own = text.replace("<https://e.example.com/application/app%2D1|Page of the application>", "");
        assert!(!own.contains('<') && !own.contains('>'), "{own}");
        assert!(kind != "mrkdwn" || verbatim, "an address in {own} would be a link");
        // The block of settings ends where it should.
        assert!(matches!(own.matches("```").count(), 0 | 2), "{own}");
    }
    assert!(blocks["text"].as_str().unwrap().contains("&lt;!channel&gt;"));
}

/// All text objects: type, text, and whether it is verbatim.
fn collect(value: &Value, texts: &mut Vec<(String, String, bool)>) {
    match value {
        Value::Object(fields) => {
            if let (Some(Value::String(kind)), Some(Value::String(text))) =
                (fields.get("type"), fields.get("text"))
            {
                let verbatim = fields.get("verbatim") == Some(&Value::Bool(true));
                texts.push((kind.clone(), text.clone(), verbatim));
            }
            fields.values().for_each(|value| collect(value, texts));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

#[test]
fn alertmanager_gets_postable_alerts_with_few_and_stable_labels() {
    let texts = json!({ "type": "object", "additionalProperties": { "type": "string" },
        "propertyNames": { "pattern": "^[a-zA-Z_][a-zA-Z0-9_]*$" } });
    // `postableAlerts` of Alertmanager's OpenAPI document, version 2.
    let schema = json!({ "type": "array", "minItems": 1, "items": { "type": "object", "required": ["labels"],
        "additionalProperties": false, "properties": {
            "labels": texts, "annotations": texts, "generatorURL": { "type": "string", "format": "uri" },
            "startsAt": { "type": "string", "format": "date-time" },
            "endsAt": { "type": "string", "format": "date-time" } } } });
    for alert in alerts() {
        let posted = json_for("pager", &alert);
        fits(&schema, &posted);
        for one in posted.as_array().unwrap() {
            let labels = one["labels"].as_object().unwrap();
            assert_eq!(
                (&labels["alertname"], &labels["severity"]),
                (&json!("ElephantTrouble"), &json!("severe"))
            );
            let known = ["alertname", "severity", "kind", "job", "queue", "cluster"];
            assert!(labels.keys().all(|name| known.contains(&name.as_str())), "{labels:?}");
            assert!(labels.values().all(|value| !value.as_str().unwrap().trim().is_empty()));
        }
    }
    let Body::Post { path, .. } = body("pager", &alert_with("x", 1)) else { panic!("by HTTP") };
    assert_eq!(path, "/api/v2/alerts");
    // Another run of the job is the same alert.
    let mut next = alert_with("nightly", 1);
    let first = json_for("pager", &next);
    next.run.id = "app_2".to_owned();
    next.troubles[0].cause = "30 % of the time".to_owned();
    let second = json_for("pager", &next);
    assert_eq!(first[0]["labels"], second[0]["labels"]);
    assert_ne!(first[0]["annotations"], second[0]["annotations"]);
    assert_eq!(second[0]["startsAt"], "2026-11-28T10:30:00.000Z");
    assert_eq!(second[0]["endsAt"], "2026-11-28T22:30:00.000Z");
}

#[test]
fn a_webhook_gets_a_cloud_event_whose_id_stays() {
    // `cloudevents.json` of the specification, as far as structured mode with JSON data uses it.
    let text = json!({ "type": "string", "minLength": 1 });
    let schema = json!({ "type": "object", "required": ["id", "source", "specversion", "type"],
        "properties": { "id": text, "type": text, "subject": text, "specversion": { "const": "1.0" },
            "source": { "type": "string", "minLength": 1, "format": "uri-reference" },
            "datacontenttype": { "const": "application/json" }, "time": { "type": "string", "format": "date-time" },
            "data": { "type": "object" } },
        // Names of attributes have small letters and digits only.
        "propertyNames": { "pattern": "^[a-z0-9]{1,20}$" } });
    for alert in alerts() {
        fits(&schema, &json_for("bus", &alert));
    }
    let alert = alert_with("nightly", 1);
    let event = json_for("bus", &alert);
    assert_eq!(event["data"]["troubles"][0]["trouble"], json!({ "id": "nightly" }));
    let mut later = alert.clone();
    later.run.link = None;
    assert_eq!(json_for("bus", &later)["id"], event["id"], "another address of the server");
    later.troubles[0].findings[0].severity = elephant_base::severity::Severity::Critical;
    assert_ne!(json_for("bus", &later)["id"], event["id"]);
    let Body::Post { content_type, .. } = body("bus", &alert) else { panic!("by HTTP") };
    assert_eq!(content_type, "application/cloudevents+json; charset=utf-8");
}

/// `RunEvent` of the specification of `OpenLineage` with what it refers to.
fn run_event() -> Value {
    let uri = json!({ "type": "string", "format": "uri" });
    let uuid = json!({ "type": "string", "format": "uuid" });
    let facet = json!({ "type": "object", "required": ["_producer", "_schemaURL"],
        "properties": { "_producer": uri, "_schemaURL": uri } });
    let job = json!({ "type": "object", "required": ["namespace", "name"],
        "properties": { "namespace": { "type": "string" }, "name": { "type": "string" } } });
    let parent = json!({ "allOf": [facet, { "type": "object", "required": ["run", "job"], "properties": {
        "run": { "type": "object", "required": ["runId"], "properties": { "runId": uuid } }, "job": job } }] });
    json!({ "type": "object", "required": ["run", "job", "eventTime", "producer", "schemaURL"], "properties": {
        "eventType": { "enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"] },
        "eventTime": { "type": "string", "format": "date-time" }, "producer": uri, "schemaURL": uri,
        "run": { "type": "object", "required": ["runId"], "properties": { "runId": uuid, "facets": {
            "type": "object", "additionalProperties": facet, "properties": { "parent": parent } } } },
        "job": job, "inputs": { "type": "array" }, "outputs": { "type": "array" } } })
}

#[test]
fn lineage_gets_a_facet_on_the_run_of_sparks_integration_if_a_setting_names_it() {
    for alert in alerts() {
        fits(&run_event(), &json_for("lineage", &alert));
    }
    let run = "018f3b2c-7e6a-7c3d-9f1e-0123456789ab".to_owned();
    let known = Lineage { run: Some(run.clone()), namespace: Some("etl".to_owned()), ..Lineage::default() };
    let event = json_for("lineage", &with_lineage(alert_with("NightlyEtl", 1), known));
    fits(&run_event(), &event);
    assert_eq!(event["eventType"], "OTHER");
    assert_eq!(event["run"]["runId"], json!(run));
    assert_eq!(event["job"], json!({ "namespace": "etl", "name": "nightly_etl" }));
    let facet = &event["run"]["facets"]["elephantRs_troubles"];
    assert_eq!(
        (&facet["resourceUsedGbHours"], &facet["troubles"][0]["saves"]),
        (&json!(12.5), &json!("NightlyEtl"))
    );
    assert_eq!(event["run"]["facets"].get("parent"), None);
}

#[test]
fn without_that_setting_the_facet_has_a_run_of_its_own_below_its_parent() {
    let run = "018f3b2c-7e6a-7c3d-9f1e-0123456789ab".to_owned();
    let parent = Parent { run: run.clone(), namespace: "airflow".to_owned(), job: "dag.task".to_owned() };
    let known = Lineage { parent: Some(parent), ..Lineage::default() };
    let alert = with_lineage(alert_with("nightly", 1), known);
    let event = json_for("lineage", &alert);
    fits(&run_event(), &event);
    assert_eq!(event["job"], json!({ "namespace": "prod", "name": "nightly.elephant_rs" }));
    assert_ne!(event["run"]["runId"], json!(run));
    let parent = &event["run"]["facets"]["parent"];
    assert_eq!(parent["run"], json!({ "runId": run }));
    assert_eq!(parent["job"], json!({ "namespace": "airflow", "name": "dag.task" }));
}

/// The headers and the text of a mail.
fn mail(alert: &Alert) -> (Vec<(String, String)>, String) {
    let Body::Mail { content, .. } = body("mail", alert) else { panic!("by a program") };
    let (head, text) = content.split_once("\n\n").unwrap();
    // A line that begins with a blank goes on with the one before.
    let head = head.replace("\n ", " ");
    let headers = head.lines().map(|line| line.split_once(": ").unwrap());
    (headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(), text.to_owned())
}

/// Decodes the encoded words of a header (RFC 2047, Q).
fn decoded(header: &str) -> String {
    let mut bytes = Vec::new();
    for word in header.split(' ').filter_map(|word| word.strip_prefix("=?UTF-8?Q?")?.strip_suffix("?=")) {
        assert!(word.len() + 12 <= 75, "{word}");
        let mut part = Vec::new();
        let mut letters = word.bytes();
        while let Some(byte) = letters.next() {
            part.push(match byte {
                b'_' => b' ',
                b'=' => {
                    let digits = [letters.next().unwrap(), letters.next().unwrap()];
                    u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                byte => byte,
            });
        }
        // A letter is in one word.
        bytes.extend_from_slice(str::from_utf8(&part).unwrap().as_bytes());
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_mail_has_its_own_headers_only_whatever_names_are() {
    const NAMES: [&str; 8] = [
        "From",
        "To",
        "Subject",
        "Message-ID",
        "Auto-Submitted",
        "MIME-Version",
        "Content-Type",
        "Content-Transfer-Encoding",
    ];
    for alert in alerts() {
        let (headers, text) = mail(&alert);
        assert!(headers.iter().map(|(name, _)| name.as_str()).eq(NAMES), "{headers:?}");
        assert!(headers.iter().all(|(_, value)| value.is_ascii()));
        assert!(text.lines().all(|line| line.len() < 998), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }
    let (headers, text) = mail(&alert_with("nightly", 1));
    assert_eq!(headers[2].1, "[elephant-rs] severe: nightly (nightly)");
    assert!(text.contains("SEVERE (worse in 2 runs): nightly"), "{text}");
    let (headers, _) = mail(&alert_with("Zürich =?UTF-8?Q?x?= 𝄞", 1));
    let subject = "[elephant-rs] severe: Zürich =?UTF-8?Q?x?= 𝄞 (Zürich =?UTF-8?Q?x?= 𝄞)";
    assert_eq!(decoded(&headers[2].1), subject);
}

#[test]
fn recipients_are_arguments_after_all_options() {
    let Body::Mail { command, .. } = body("mail", &alert_with(HOSTILE, 1)) else { panic!("by a program") };
    let expected =
        ["/usr/sbin/sendmail", "-i", "-f", "elephant@example.com", "--", "a@example.com", "b@example.com"];
    assert_eq!(command, expected);
}
