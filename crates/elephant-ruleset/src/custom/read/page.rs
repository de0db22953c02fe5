//! The page of a custom rule: the author's description, and how the rule judges.

use std::fmt::Write as _;

use super::layers::Layered;
use elephant_rule::params::yaml::{Kind, Node};

/// The page in Markdown. Expressions are shown as written.
pub(super) fn page(title: &str, description: Option<&str>, layered: &Layered<'_>) -> String {
    let mut page =
        format!("# {}\n\n{}\n\n## How it judges\n\n", title.trim(), description.unwrap_or_default().trim());
    // Writing to a string never fails.
    if let Some(scope) = scope(layered) {
        let _ = writeln!(page, "{scope}\n");
    }
    for (name, entry) in &layered.values {
        let _ = writeln!(page, "    {} = {}", name.value, one_line(entry.node));
    }
    let text = |key| layered.entry(key).map(|entry| one_line(entry.node)).filter(|text| !text.is_empty());
    if let Some(severity) = text("severity") {
        let _ = writeln!(page, "\nThe severity is `{severity}`.");
    }
    if let Some(message) = text("message") {
        let _ = writeln!(page, "\n## Message\n\n    {message}");
    }
    let advice = layered.entry("advice").map(|entry| match &entry.node.kind {
        Kind::List(items) => items.iter().map(advised).collect(),
        Kind::Scalar { .. } | Kind::Map(_) => vec![advised(entry.node)],
    });
    if let Some(advice) = advice.filter(|advice| !advice.is_empty()) {
        let _ = writeln!(page, "\n## What to change\n\n{}", advice.join("\n"));
    }
    page
}

/// "It judges each stage, of Spark, when `app.queue == "etl"`."
fn scope(layered: &Layered<'_>) -> Option<String> {
    let text = |key| layered.entry(key).map(|entry| one_line(entry.node));
    let over = text("over").map(|over| match over.as_str() {
        "map" | "reduce" => format!("the {over} tasks of a job"),
        "stage" | "executor" => format!("each {over}"),
        _ => "each application".to_owned(),
    });
    let engine = text("engine").and_then(|engine| match engine.as_str() {
        "mapreduce" => Some(" of MapReduce"),
        "tez" => Some(" of Tez"),
        "spark" => Some(" of Spark"),
        _ => None,
    });
    let when = text("when").map(|when| format!(", when `{when}`"));
    if over.is_none() && engine.is_none() && when.is_none() {
        return None;
    }
    let over = over.unwrap_or_else(|| "each application".to_owned());
    Some(format!("It judges {over}{}{}.", engine.unwrap_or_default(), when.unwrap_or_default()))
}

/// "- raise the limit: `a.b=2`, when `x > 1`"
fn advised(node: &Node) -> String {
    let Kind::Map(parts) = &node.kind else { return format!("- {}", one_line(node)) };
    let part = |wanted: &str| parts.iter().find(|(key, _)| key.value == wanted).map(|(_, node)| node);
    let mut line = format!("- {}", part("text").map(one_line).unwrap_or_default());
    if let Some(Node { kind: Kind::Map(settings), .. }) = part("set") {
        let settings = settings.iter().map(|(name, value)| format!("`{}={}`", name.value, one_line(value)));
        let _ = write!(line, ": {}", settings.collect::<Vec<_>>().join(", "));
    }
    if let Some(when) = part("when") {
        let _ = write!(line, ", when `{}`", one_line(when));
    }
    line
}

fn one_line(node: &Node) -> String {
    node.as_text().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
