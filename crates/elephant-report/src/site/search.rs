//! The applications that match a search.

use std::io;

use super::{encoded, written};
use crate::document::{Block, Choice, Field, Form, Section, Site};
use crate::history::document::Filler;
use crate::words::grouped;
use elephant_base::severity::Severity;
use elephant_model::diagnosis::FailureKind;
use elephant_model::model::Engine;
use elephant_store::{Answer, Group, Matches, Matching, Order, View};

/// What was asked for, as the address has it: names of parameters with their values, none of which is empty.
#[derive(Debug, Clone, Default)]
pub struct Asked<'a> {
    /// In the order of the address.
    pub parameters: Vec<(&'a str, &'a str)>,
    /// The kinds of trouble that are known.
    pub kinds: &'a [String],
    /// The rules that have findings.
    pub rules: &'a [String],
}

impl Asked<'_> {
    fn value(&self, name: &str) -> &str {
        self.parameters.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// The address with another value of a parameter.
    fn address(&self, name: &str, value: &str) -> String {
        let kept = self.parameters.iter().filter(|(known, _)| *known != name && *known != "after");
        let all = kept.copied().chain((!value.is_empty()).then_some((name, value)));
        let all: Vec<String> = all.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        format!("/search?{}", all.join("&"))
    }
}

/// The page of a part of the applications that match.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn search(asked: &Asked<'_>, found: Matches) -> io::Result<Vec<u8>> {
    let Matches { runs, next, of } = found;
    let view = View::Worst(runs);
    let answer = Answer { total: Group::default(), from: None, until: None, currency: None, view };
    let View::Worst(runs) = &answer.view else { return Ok(Vec::new()) };
    let count = match of {
        Matching::Exactly(1) => "1 application".to_owned(),
        Matching::Exactly(count) => format!("{} applications", grouped(count)),
        Matching::MoreThan(count) => format!("More than {} applications", grouped(count)),
    };
    let none = runs
        .is_empty()
        .then(|| Block::Note("No application matches. Fewer conditions find more.".to_owned()));
    let is_first = asked.value("after").is_empty();
    let first = (!is_first).then(|| (asked.address("after", ""), "First page".to_owned()));
    let next = next.map(|next| (asked.address("after", &next.to_string()), "Next page".to_owned()));
    let pages: Vec<(String, String)> = first.into_iter().chain(next).collect();
    let title = if asked.value("q").is_empty() { "Applications" } else { asked.value("q") };
    let head =
        Section::new("answer", "", "").with(Block::Headline(count)).with(Block::Form(form(asked))).with(none);
    let list = Filler::on_site(&answer).listed(("runs", "", ""), runs, true);
    let pages = (!pages.is_empty()).then_some(Block::Links("Pages of the list", pages));
    let pages = Section::new("pages", "", "").with(pages);
    let site = Site { title: title.to_owned(), here: "/search", text: asked.value("q").to_owned() };
    written(&site, vec![head, list, pages])
}

fn form(asked: &Asked<'_>) -> Form {
    let field = |name, label, choice| Field { name, label, value: asked.value(name).to_owned(), choice };
    let among = |any: &str, values: Vec<(String, String)>| {
        Choice::Among([(String::new(), any.to_owned())].into_iter().chain(values).collect())
    };
    let same = |values: &[String]| values.iter().map(|value| (value.clone(), value.clone())).collect();
    let severities = Severity::ALL.iter().skip(1).map(|severity| {
        let name = severity.name().to_owned();
        let text = if *severity == Severity::Critical { name.clone() } else { format!("{name} or worse") };
        (name, text)
    });
    let orders = Order::ALL.iter().skip(1).map(|order| (order.name().to_owned(), words(*order).to_owned()));
    let failures = FailureKind::ALL.iter().map(|kind| (kind.name().to_owned(), kind.name().to_owned()));
    let statuses = ["succeeded", "failed", "killed"].map(str::to_owned);
    let engines = Engine::ALL.map(|engine| engine.name().to_owned());
    Form {
        action: "/search",
        submit: "Show",
        fields: vec![
            field("q", "Id, name, user, queue or flow", Choice::Text),
            field("user", "User", Choice::Text),
            field("queue", "Queue", Choice::Text),
            field("flow", "Flow", Choice::Text),
            field("owner", "Owner", Choice::Text),
            field("cluster", "Cluster", Choice::Text),
            field("severity", "Severity", among("any", severities.collect())),
            field("kind", "Trouble", among("any", same(asked.kinds))),
            field("rule", "Rule", among("any", same(asked.rules))),
            field("failure", "Failure", among("any", failures.collect())),
            field("status", "Status", among("any", same(&statuses))),
            field("engine", "Engine", among("any", same(&engines))),
            field("from", "Submitted from", Choice::Day),
            field("to", "Submitted before", Choice::Day),
            field("ended_from", "Ended from", Choice::Day),
            field("ended_to", "Ended before", Choice::Day),
            field("sort", "First", among(words(Order::Latest), orders.collect())),
        ],
    }
}

const fn words(order: Order) -> &'static str {
    match order {
        Order::Latest => "the latest",
        Order::Waste => "most waste",
        Order::Saving => "most to save",
        Order::Severity => "the most severe",
        Order::RunTime => "the longest",
    }
}
