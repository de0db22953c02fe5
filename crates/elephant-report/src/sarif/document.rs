//! The outer structure of a SARIF log, and the rules.

use serde::Serialize;

use super::notifications::Notification;
use elephant_ruleset::RuleInfo;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

impl<'a> Document<'a> {
    pub(super) fn of(run: Run<'a>) -> Self {
        Self { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] }
    }
}

#[derive(Serialize)]
pub(super) struct Run<'a> {
    pub(super) tool: Tool<'a>,
    pub(super) invocations: [Invocation; 1],
    /// Written piece by piece.
    pub(super) results: [(); 0],
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver<'a> {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    pub(super) tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rule<'a> {
    id: &'a str,
    short_description: Text<'a>,
    full_description: Text<'a>,
    help: Help<'a>,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 1],
}

#[derive(Serialize)]
struct Help<'a> {
    text: &'a str,
    markdown: &'a str,
}

#[derive(Serialize)]
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
}

impl<'a> Rule<'a> {
    pub(super) fn of(rule: &'a RuleInfo) -> Self {
        let RuleInfo { id, title, page } = rule;
        // The first paragraph of a page says what the rule finds.
        let first =
            page.split("\n\n").map(str::trim).find(|block| !block.is_empty() && !block.starts_with('#'));
        // SARIF requires a text, but a user's rule may have no page.
        let page = if page.trim().is_empty() { title } else { page };
        Self {
            id,
            short_description: Text { text: title },
            full_description: Text { text: first.unwrap_or(title) },
            help: Help { text: page, markdown: page },
            properties: RuleProperties { tags: ["performance"] },
        }
    }
}
