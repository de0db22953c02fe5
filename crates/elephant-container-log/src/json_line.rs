//! Lines of the JSON layout of Spark 4, as the lines that the usual layout would have.

use serde_json::Value;

/// Keys without which a line is not of this layout.
const KEYS: [&str; 3] = ["ts", "level", "msg"];

/// Frames of a chain have at most so many lines anyway.
const FRAMES: usize = 200;

/// The lines of text that a JSON line stands for; `None` for another line.
pub(crate) fn lines(line: &str) -> Option<Vec<String>> {
    if !line.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (level, message) = (text("level")?, text("msg")?);
    KEYS.iter().all(|key| value.get(key).is_some()).then_some(())?;
    let logger = text("logger").unwrap_or("-");
    // The layout writes the time in a form that is known anyway.
    let mut lines =
        vec![format!("1970-01-01 00:00:00 {level} {logger}: {}", super::chain::first_line(message))];
    lines.extend(message.lines().skip(1).map(str::to_owned));
    if let Some(exception) = value.get("exception").filter(|exception| !exception.is_null()) {
        exception_lines(exception, &mut lines);
    }
    Some(lines)
}

/// The lines that the JVM writes for an exception.
fn exception_lines(exception: &Value, lines: &mut Vec<String>) {
    let text = |key: &str| exception.get(key).and_then(Value::as_str);
    let Some(class) = text("class") else { return };
    let message = text("msg").unwrap_or_default();
    let head = if message.is_empty() { class.to_owned() } else { format!("{class}: {message}") };
    lines.extend(head.lines().map(str::to_owned));
    match exception.get("stacktrace") {
        Some(Value::Array(frames)) => lines.extend(frames.iter().take(FRAMES).filter_map(frame)),
        // Other layouts write the trace as one text, which begins with the class again.
        Some(Value::String(trace)) => lines.extend(trace.lines().skip(1).map(str::to_owned)),
        _ => {}
    }
}

fn frame(frame: &Value) -> Option<String> {
    let text = |key: &str| frame.get(key).and_then(Value::as_str);
    let (class, method) = (text("class")?, text("method")?);
    let line = frame.get("line").and_then(Value::as_i64).filter(|line| *line > 0);
    let place = match (text("file"), line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.to_owned(),
        (None, _) => "Unknown Source".to_owned(),
    };
    Some(format!("\tat {class}.{method}({place})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_has_the_lines_that_the_jvm_writes() {
        let line = r#"{"ts":"2026-11-30T02:57:46.133Z","level":"ERROR","msg":"Exception in task 1.0 in stage 1.0 (TID 3)","context":{},"exception":{"class":"a.BException","msg":"c\nd","stacktrace":[{"class":"a.B","method":"e","file":"B.scala","line":5},{"class":"a.C","method":"f","file":null,"line":-1}]},"logger":"Executor"}"#;
        let expected = [
            "1970-01-01 00:00:00 ERROR Executor: Exception in task 1.0 in stage 1.0 (TID 3)",
            "a.BException: c",
            "d",
            "\tat a.B.e(B.scala:5)",
            "\tat a.C.f(Unknown Source)",
        ];
        assert_eq!(lines(line).unwrap(), expected);
    }

    #[test]
    fn other_json_is_no_log() {
        for line in [
            "{",
            "{}",
            "[]",
            r#"{"Event":"SparkListenerLogStart","Spark Version":"4.0.1"}"#,
            r#"{"ts":1,"level":2,"msg":3}"#,
            "",
        ] {
            assert_eq!(lines(line), None, "{line}");
        }
    }
}
