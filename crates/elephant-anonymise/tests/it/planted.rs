//! Random tokens in random places of recordings: none survives.

use elephant_testing::{contents, files_below, root};
use proptest::prelude::*;
use serde_json::Value;

use super::rewritten;

/// Lines of our own recordings, a few of each kind of event.
fn lines() -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut kinds: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for file in files_below(&root().join("testdata/spark")) {
        let bytes = contents(&file);
        let bytes = zstd::decode_all(bytes.as_slice()).unwrap_or(bytes);
        for line in String::from_utf8_lossy(&bytes).lines() {
            let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
            let seen = kinds.entry(event["Event"].to_string()).or_default();
            *seen += 1;
            if *seen <= 3 && line.len() < 60_000 {
                lines.push(line.to_owned());
            }
        }
    }
    assert!(lines.len() > 40, "{}", lines.len());
    lines
}

/// The number of texts and keys of a value.
fn count(value: &Value) -> usize {
    match value {
        Value::String(_) => 1,
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.iter().map(|(_, value)| 1 + count(value)).sum(),
        _ => 0,
    }
}

/// Plants a token in the text or key of this number.
fn plant(value: &mut Value, nth: &mut usize, how: &Plant) {
    match value {
        Value::String(text) => {
            if *nth == 0 {
                *text = how.planted_in(text);
            }
            *nth = nth.wrapping_sub(1);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| plant(item, nth, how)),
        Value::Object(members) => {
            let old = std::mem::take(members);
            for (key, mut value) in old {
                let planted = if *nth == 0 { how.planted_in(&key) } else { key };
                *nth = nth.wrapping_sub(1);
                plant(&mut value, nth, how);
                members.insert(planted, value);
            }
        }
        _ => {}
    }
}

#[derive(Debug, Clone)]
struct Plant {
    token: String,
    place: prop::sample::Index,
    instead: bool,
}

impl Plant {
    fn planted_in(&self, text: &str) -> String {
        if self.instead {
            return self.token.clone();
        }
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let at = *self.place.get(&places);
        format!("{}{}{}", &text[..at], self.token, &text[at..])
    }
}

fn any_plant() -> impl Strategy<Value = Plant> {
    let token = prop_oneof![
        "[a-z]{2}xq[a-z]{8}",
        "[A-Z]{2}XQ[A-Z]{6}",
        "xq[a-z]{5}[0-9]{4}",
        "xq[a-z]{6}@xq[a-z]{4}\\.com",
        " xq[a-z]{6} ",
        "/user/xq[a-z]{6}/",
        "//xq[a-z]{6}:xq[a-z]{6}@xq[a-z]{6}/",
        "-Dxq[a-z]{6}=xq[a-z]{6} ",
        "'xq[a-z]{8}'",
        "é[xq]{8}",
    ];
    (token, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(token, place, instead)| Plant {
        token,
        place,
        instead,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn no_planted_token_survives(plants in prop::collection::vec((any_plant(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 30)) {
        let lines = lines();
        let mut log = String::from("{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n");
        let mut tokens = Vec::new();
        for (how, line, place) in &plants {
            let line: &String = line.get(lines.as_slice());
            let mut event: Value = serde_json::from_str(line).unwrap();
            let mut nth = place.index(count(&event).max(1));
            plant(&mut event, &mut nth, how);
            log.push_str(&event.to_string());
            log.push('\n');
            // Each part of a token is secret.
            tokens.extend(how.token.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() > 5).map(str::to_owned));
        }
        let text = rewritten("a.log", log.as_bytes(), "k");
        for token in tokens {
            let at = text.find(&token);
            prop_assert!(at.is_none(), "{token}: {:?}", at.map(|at| String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(80)..(at + 40).min(text.len())]).into_owned()));
        }
    }
}
