//! What container runtimes put around each line: Kubernetes (CRI) and Docker.

use std::borrow::Cow;

use serde_json::Value;

/// The line of the container within a line of Kubernetes, and whether it goes on in the next one:
/// `2026-01-01T10:00:00.123456789Z stderr F text`.
pub(crate) fn cri(line: &str) -> Option<(&str, bool)> {
    let (time, rest) = line.split_once(' ')?;
    let is_time = time.len() >= 20
        && time.starts_with(|c: char| c.is_ascii_digit())
        && time.get(10..11) == Some("T")
        && time.contains(':');
    let rest = rest.strip_prefix("stdout ").or_else(|| rest.strip_prefix("stderr "))?;
    let (tag, text) = rest.split_at_checked(1)?;
    let text = if text.is_empty() { "" } else { text.strip_prefix(' ')? };
    (is_time && matches!(tag, "F" | "P")).then_some((text, tag == "P"))
}

/// The line of the container within a line of Docker: `{"log":"text\n","stream":"stderr","time":"…"}`. Long lines are
/// split: such a part has no line end.
pub(crate) fn docker(line: &str) -> Option<(Cow<'_, str>, bool)> {
    if !line.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let stream = value.get("stream").and_then(Value::as_str)?;
    let text = value.get("log").and_then(Value::as_str).filter(|_| matches!(stream, "stdout" | "stderr"))?;
    let whole = text.strip_suffix('\n');
    Some((Cow::Owned(whole.unwrap_or(text).to_owned()), whole.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_kubernetes_are_unwrapped() {
        assert_eq!(
            cri("2026-01-01T10:00:00.123456789Z stderr F \tat a.b(C.java:1)"),
            Some(("\tat a.b(C.java:1)", false))
        );
        assert_eq!(cri("2026-01-01T10:00:00.1+02:00 stdout P part"), Some(("part", true)));
        assert_eq!(cri("2026-01-01T10:00:00.123456789Z stdout F"), Some(("", false)));
        for line in
            ["", "2026-01-01T10:00:00Z INFO F x", "x stdout F y", "2026-01-01T10:00:00.123Z stdout FULL x"]
        {
            assert_eq!(cri(line), None, "{line}");
        }
    }

    #[test]
    fn lines_of_docker_are_unwrapped() {
        let (text, goes_on) =
            docker(r#"{"log":"a \"b\"\n","stream":"stderr","time":"2026-01-01T10:00:00Z"}"#).unwrap();
        assert_eq!((text.as_ref(), goes_on), ("a \"b\"", false));
        assert!(docker(r#"{"log":"part","stream":"stdout"}"#).unwrap().1);
        assert!(docker(r#"{"log":"x"}"#).is_none() && docker("{").is_none() && docker("x").is_none());
    }
}
