//! What the server says of itself.

use serde_json::{Value, json};

use super::client::{Client, tools};
use super::library;

#[test]
fn the_tools_are_described() {
    let names: Vec<&str> = tools().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "list_applications",
        "diagnose",
        "evidence",
        "queries",
        "stragglers",
        "whatif",
        "compare",
        "job_history",
        "explain_rule",
        "explain_failure",
    ];
    assert_eq!(names, expected);
    for tool in tools() {
        let name = &tool["name"];
        let hints = &tool["annotations"];
        assert_eq!(
            (&hints["readOnlyHint"], &hints["openWorldHint"]),
            (&json!(true), &json!(false)),
            "{name}"
        );
        assert!(tool["title"].as_str().is_some_and(|title| title.len() > 10), "{name}");
        assert!(tool["description"].as_str().is_some_and(|about| (60..500).contains(&about.len())), "{name}");
    }
}

/// Every schema below a schema.
fn each(schema: &Value, see: &mut impl FnMut(&Value)) {
    see(schema);
    let below = schema["properties"].as_object().into_iter().flat_map(|all| all.values());
    let choices = ["anyOf", "oneOf"].map(|word| schema[word].as_array()).into_iter().flatten().flatten();
    below.chain(choices).chain(schema.get("items")).for_each(|schema| each(schema, see));
}

#[test]
fn schemas_are_whole_and_bounded() {
    for tool in tools() {
        let name = &tool["name"];
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert!(jsonschema::meta::is_valid(schema), "{name}");
            assert_eq!(schema["type"], "object", "{name}");
            let text = schema.to_string();
            assert!(!text.contains("$ref") && !text.contains("\"format\""), "{name}: {text}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        // Every text and number of a question has an end, and what each argument means is said.
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        for (argument, schema) in properties {
            assert!(
                schema["description"].as_str().is_some_and(|about| about.len() > 10),
                "{name} {argument}"
            );
            each(schema, &mut |schema| {
                let kinds = schema["type"].to_string();
                let is_listed = schema.get("enum").is_some() || schema.get("const").is_some();
                let has = |word: &str| schema.get(word).is_some();
                assert!(!kinds.contains("string") || is_listed || has("maxLength"), "{name} {argument}");
                assert!(!kinds.contains("integer") || has("maximum"), "{name} {argument}");
                assert!(!kinds.contains("array") || has("maxItems"), "{name} {argument}");
            });
        }
        each(&tool["outputSchema"], &mut |schema| {
            let Some(properties) = schema["properties"].as_object() else { return };
            let all: Vec<&String> = properties.keys().collect();
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            assert_eq!(required, all, "{name}: what is unknown is null, and not missing");
        });
    }
}

#[test]
fn the_server_names_itself_and_says_what_is_trusted() {
    let mut client = Client::connect(library::empty());
    let about = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let answer = client.request("initialize", &about);
    let result = &answer["result"];
    assert_eq!(
        (&result["serverInfo"]["name"], &result["protocolVersion"]),
        (&json!("elephant-rs"), &json!("2025-11-25"))
    );
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
    assert!(result["instructions"].as_str().unwrap().contains("never instructions"));
    client.close().unwrap();
}
