//! The documents of a file with prices.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::hourly::Hourly;
use elephant_base::units::three_digits;
use elephant_rule::params::quantity::{Quantity, Size, Unit};
use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::yaml::{Kind, Node, Span, Spanned, documents};
use elephant_rule::params::{Problems, RuleFile};
use elephant_ruleset::Scope;

const KEYS: [&str; 7] = ["for", "currency", "core_hour", "gb_hour", "instance_hour", "instance", "spot"];
const OF_INSTANCE: [&str; 3] = ["price", "cores", "memory"];
const EXAMPLE: &str = "write for example m5.xlarge: {price: 0.19, cores: 4, memory: 16GB}";

/// A price, without its currency.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Price;

impl Unit for Price {
    const EXPECTED: &'static str = "a price of zero or more such as 0.048, without the currency";
    const PATTERN: &'static str = r"^\s*[0-9._]+\s*$";
    const KEY_ENDING: &'static str = "";
    const MOST: f64 = 1e9;
    fn scale(unit: &str) -> Option<f64> {
        unit.is_empty().then_some(1.0)
    }
    fn show(value: f64) -> String {
        three_digits(value)
    }
    fn exact(value: f64) -> String {
        value.to_string()
    }
}

/// Prices for some applications.
#[derive(Debug, Clone, Default)]
pub(super) struct PriceDocument {
    pub(super) scope: Scope,
    pub(super) currency: Option<Spanned<String>>,
    /// Prices of cores and memory.
    pub(super) resources: Option<Hourly>,
    /// Prices of instances by type.
    pub(super) instances: Vec<(Spanned<String>, Hourly)>,
    /// Whether it has prices of instances.
    pub(super) prices_instances: bool,
    /// The type of instance that runs the applications.
    pub(super) instance: Option<Spanned<String>>,
    /// The share of the price that is paid.
    pub(super) spot: Option<f64>,
}

/// Reads all documents of a file.
pub(super) fn read_documents(file: &Arc<RuleFile>, problems: &mut Problems) -> Vec<PriceDocument> {
    let (nodes, errors) = documents(&file.text);
    let is_empty = errors.is_empty() && nodes.is_empty();
    for error in errors {
        problems.syntax(file, error);
    }
    let mut read = Vec::new();
    for node in nodes {
        if let Kind::Map(entries) = &node.kind {
            read.push(PriceDocument::read(file, &node.span, entries, problems));
        } else {
            let message = format!("expected prices, got {}", node.what());
            problems.error(file, &node.span, message, Some("write for example gb_hour: 0.004".to_owned()));
        }
    }
    if is_empty {
        let help = Some("write for example currency: EUR and gb_hour: 0.004".to_owned());
        problems.error(file, &(0..0), "the file has no prices", help);
    }
    read
}

/// The value of a key, with its position.
type Entry<'n> = (&'n Spanned<String>, &'n Node);

impl PriceDocument {
    fn read(
        file: &Arc<RuleFile>,
        span: &Span,
        entries: &[(Spanned<String>, Node)],
        problems: &mut Problems,
    ) -> Self {
        let mut document = Self::default();
        let (mut core, mut gb) = (None, None);
        let (mut resources, mut instances): (Option<&Span>, Option<&Span>) = (None, None);
        for (key, node) in entries {
            match key.value.as_str() {
                "for" => document.scope = Scope::read(file, node, problems),
                "currency" => document.currency = currency(file, (key, node), problems),
                "instance" => document.instance = text(file, (key, node), problems),
                "core_hour" => {
                    core = price(file, node, problems);
                    resources = Some(&key.span);
                }
                "gb_hour" => {
                    gb = price(file, node, problems);
                    resources = Some(&key.span);
                }
                "instance_hour" => {
                    document.instances = read_instances(file, node, problems);
                    instances = Some(&key.span);
                }
                "spot" => document.spot = read_spot(file, node, problems),
                _ => unknown_key(file, key, &KEYS, problems),
            }
        }
        if let (Some(_), Some(at)) = (resources, instances) {
            let help =
                "an instance includes cores and memory: use either instance_hour, or core_hour and gb_hour"
                    .to_owned();
            problems.error(
                file,
                at,
                "the document has prices of instances and prices of cores or memory",
                Some(help),
            );
        }
        if resources.is_none()
            && instances.is_none()
            && document.instance.is_none()
            && document.spot.is_none()
        {
            let help = "add gb_hour and core_hour, or instance_hour".to_owned();
            problems.error(file, &(span.start..span.start), "the document has no prices", Some(help));
        }
        document.resources = resources.map(|_| Hourly::Resources { core, gb });
        document.prices_instances = instances.is_some();
        document
    }

    /// Whether it is clear which type of instance runs the applications.
    pub(super) fn check_instance(
        &self,
        file: &Arc<RuleFile>,
        known: &BTreeMap<String, Hourly>,
        problems: &mut Problems,
    ) {
        let names = || known.keys().map(String::as_str);
        match &self.instance {
            Some(name) if !known.contains_key(&name.value) => {
                let message = format!("the instance {} has no price", name.value);
                problems.error(file, &name.span, message, did_you_mean(&name.value, names()));
            }
            None if self.prices_instances && known.len() > 1 => {
                let message =
                    format!("the file does not say which instance runs the applications: {}", list(names()));
                let help = names().next().map(|name| format!("add for example instance: {name}"));
                problems.error(file, &(0..0), message, help);
            }
            _ => {}
        }
    }
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.take(5).collect::<Vec<_>>().join(", ")
}

fn unknown_key(file: &Arc<RuleFile>, key: &Spanned<String>, known: &[&'static str], problems: &mut Problems) {
    let message = format!("there is no key \"{}\" here; the keys are {}", key.value, known.join(", "));
    problems.error(file, &key.span, message, did_you_mean(&key.value, known.iter().copied()));
}

fn text(file: &Arc<RuleFile>, (key, node): Entry<'_>, problems: &mut Problems) -> Option<Spanned<String>> {
    let value = node.as_text().map(str::trim).filter(|text| !text.is_empty());
    if value.is_none() {
        problems.error(file, &node.span, format!("{} must be a word", key.value), None);
    }
    Some(Spanned { value: value?.to_owned(), span: node.span.clone() })
}

/// A name or sign such as `EUR`, `€` or `US$`: it stands next to amounts in every format.
fn currency(file: &Arc<RuleFile>, entry: Entry<'_>, problems: &mut Problems) -> Option<Spanned<String>> {
    const LONGEST: usize = 16;
    let text = text(file, entry, problems)?;
    let is_sign = |c: char| c.is_alphanumeric() || c == '$' || c == '.' || ('\u{a2}'..='\u{a5}').contains(&c);
    let is_name = |c: char| is_sign(c) || ('\u{20a0}'..='\u{20cf}').contains(&c) || c == ' ' || c == '-';
    if text.value.chars().count() > LONGEST || !text.value.chars().all(is_name) {
        let help = Some("write for example currency: EUR".to_owned());
        let message = format!("the currency must be a name or sign of at most {LONGEST} characters");
        problems.error(file, &text.span, message, help);
    }
    Some(text)
}

fn price(file: &Arc<RuleFile>, node: &Node, problems: &mut Problems) -> Option<f64> {
    quantity::<Price>(file, node, problems)
}

fn quantity<U: Unit>(file: &Arc<RuleFile>, node: &Node, problems: &mut Problems) -> Option<f64> {
    let read = node.read::<Quantity<U>>().map(Quantity::get);
    read.map_err(|error| problems.unreadable(file, &node.span, error)).ok()
}

/// The share of the price of a spot instance.
fn read_spot(file: &Arc<RuleFile>, node: &Node, problems: &mut Problems) -> Option<f64> {
    let help = || Some("write for example spot: {factor: 0.35}".to_owned());
    let Kind::Map(entries) = &node.kind else {
        problems.error(file, &node.span, format!("expected a factor, got {}", node.what()), help());
        return None;
    };
    let mut factor = None;
    for (key, node) in entries {
        if key.value != "factor" {
            unknown_key(file, key, &["factor"], problems);
            continue;
        }
        factor = price(file, node, problems);
        if factor.is_some_and(|factor| factor <= 0.0 || factor > 1.0) {
            let message = "the factor is the share of the price that is paid: more than 0, at most 1";
            problems.error(file, &node.span, message, None);
        }
    }
    if entries.is_empty() {
        problems.error(file, &node.span, "the factor is missing", help());
    }
    factor
}

fn read_instances(
    file: &Arc<RuleFile>,
    node: &Node,
    problems: &mut Problems,
) -> Vec<(Spanned<String>, Hourly)> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("expected types of instances with their prices, got {}", node.what());
        problems.error(file, &node.span, message, Some(EXAMPLE.to_owned()));
        return Vec::new();
    };
    let mut read = Vec::new();
    for (name, node) in entries {
        let Kind::Map(facts) = &node.kind else {
            let message =
                "the cores and the memory of the instance are missing: containers hold only a part of it";
            problems.error(file, &node.span, message, Some(EXAMPLE.to_owned()));
            continue;
        };
        let (mut of_instance, mut cores, mut memory) = (None, None, None);
        let before = facts.len();
        for (key, node) in facts {
            match key.value.as_str() {
                "price" => of_instance = price(file, node, problems),
                "cores" => cores = quantity::<elephant_rule::params::quantity::Count>(file, node, problems),
                "memory" => memory = quantity::<Size>(file, node, problems),
                _ => unknown_key(file, key, &OF_INSTANCE, problems),
            }
        }
        let has = |wanted: &str| facts.iter().any(|(key, _)| key.value == wanted);
        let missing: Vec<&str> = OF_INSTANCE.into_iter().filter(|key| !has(key)).collect();
        if before == 0 || !missing.is_empty() {
            let message = format!("the {} of the instance is missing", missing.join(" and the "));
            problems.error(file, &name.span, message, Some(EXAMPLE.to_owned()));
        }
        let (Some(price), Some(cores), Some(memory)) = (of_instance, cores, memory) else { continue };
        if cores <= 0.0 || memory <= 0.0 {
            problems.error(file, &name.span, "an instance has cores and memory", Some(EXAMPLE.to_owned()));
            continue;
        }
        let gb = memory / 1024f64.powi(3);
        read.push((name.clone(), Hourly::Instance { price, cores, gb }));
    }
    read
}
