//! Values in JSON whose types differ between versions and servers.

use serde_json::Value;

use crate::reading::{MAX_TEXT_LEN, truncate};

/// A whole number, which may be written as a string.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A text that is not empty.
pub(crate) fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| truncate(text, MAX_TEXT_LEN).to_owned())
}
