//! `explain_rule`

use elephant_rule::params::ParamValue;
use elephant_rule::params::layers::Parameter as Known;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::library::Context;
use crate::page::{After, Part};
use crate::told::{Name, Told, Value, Word};
use crate::tool::Question;

/// A line of a page.
pub(super) type PageLine = Told<1000>;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRule {
    /// The id of the rule, such as spark-skew
    rule: Word,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// A rule.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Rule {
    rule: Name,
    title: Name,
    /// Whether it runs
    enabled: bool,
    /// Its parameters in force for most applications
    parameters: Vec<Parameter>,
    /// What it finds, why that matters, what to change: lines of Markdown
    page: Vec<PageLine>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

/// A parameter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Parameter {
    key: Name,
    /// Four values are the limits for low, moderate, severe and critical
    value: Value,
    /// Where it is set
    origin: Value,
}

impl Question for ExplainRule {
    type Answer = Rule;
    const NAME: &'static str = "explain_rule";
    const TITLE: &'static str = "What a rule finds";
    const ABOUT: &'static str = "The page of a rule: what it measures, why that matters, what to change, when it is \
        wrong; and its limits in force. Ask this if a finding or its advice is unclear.";

    fn answer(&self, context: &Context<'_>) -> Result<(Rule, String), Failure> {
        let active = context.rules().rule(self.rule.as_str());
        let active = active.map_err(|error| Failure::Bad(error.to_string()))?;
        let mut part = Part::after(self.cursor.as_ref())?;
        let parameters =
            part.take(active.params.iter().map(parameter), |it| format!("    {}: {}", it.key, it.value));
        let page = part.take(active.info.page.lines().map(PageLine::of), ToString::to_string);
        let state = if active.enabled.value { "" } else { " (off)" };
        let text = part
            .own_text(&format!("The rule {}{state}: its parameters in force, and its page.", active.info.id));
        let rule = Rule {
            rule: Told::of(&active.info.id),
            title: Told::of(&active.info.title),
            enabled: active.enabled.value,
            parameters,
            page,
            next: part.next(),
        };
        Ok((rule, text))
    }
}

fn parameter(known: &Known) -> Parameter {
    let value = match &known.value {
        ParamValue::Cutoffs { shown, .. } => Told::of(&format!("[{}]", shown.join(", "))),
        ParamValue::Text(text) => Told::of(text),
    };
    Parameter { key: Told::of(&known.key), value, origin: Told::of(&known.origin.to_string()) }
}
