//! Converts a Dr. Elephant configuration (`HeuristicConf.xml`) to a rule file, and notes the differences.

mod arithmetic;
mod table;
mod xml;

use std::collections::BTreeSet;

pub use xml::XmlError;

use table::{Conversion, Parameter, RULES};
use xml::{Heuristic, Param};

use super::{Catalogue, RuleFile, RuleSet};

/// A rule file converted from a Dr. Elephant configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The rule file.
    pub yaml: String,
    /// Notes for the user who migrates, each with the line of the configuration.
    pub notes: Vec<Note>,
}

/// What happened to a part of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The line of the configuration.
    pub line: usize,
    /// The note.
    pub message: String,
}

/// Converts a configuration to a rule file.
///
/// Heuristics that the configuration does not register are switched off, as in Dr. Elephant. The parameters
/// override the preset `dr-elephant` or the built-in rules, as the user chooses.
///
/// # Errors
/// If the text is not a `HeuristicConf.xml`.
pub fn import(catalogue: Catalogue, text: &str) -> Result<Imported, XmlError> {
    let heuristics = xml::read(text)?;
    let mut import = Import::new(catalogue);
    for heuristic in &heuristics {
        import.heuristic(heuristic);
    }
    Ok(import.finish())
}

struct Import {
    catalogue: Catalogue,
    documents: Vec<String>,
    registered: BTreeSet<&'static str>,
    engines: BTreeSet<&'static str>,
    notes: Vec<Note>,
}

impl Import {
    fn new(catalogue: Catalogue) -> Self {
        let (registered, engines) = (BTreeSet::new(), BTreeSet::new());
        Self { catalogue, documents: Vec::new(), registered, engines, notes: Vec::new() }
    }

    fn heuristic(&mut self, heuristic: &Heuristic) {
        let Heuristic { application_type, class, line, .. } = heuristic;
        let name = class.rsplit('.').next().unwrap_or(class);
        let known = RULES.iter().find(|rule| rule.class == name && rule.application_type == application_type);
        let Some(rule) = known else {
            let message = match application_type.as_str() {
                "tony" => {
                    format!("{name}: {application_type} applications are not supported; omitted")
                }
                _ => format!(
                    "{name} is not a heuristic of Dr. Elephant itself; write a custom rule if you still need it"
                ),
            };
            return self.note(*line, message);
        };
        self.engines.insert(rule.application_type);
        if rule.id.is_empty() {
            return self.note(*line, format!("{name}: {}", rule.remark));
        }
        if !self.registered.insert(rule.id) {
            return self.note(*line, format!("{name} is registered twice; the first registration is used"));
        }
        if !rule.remark.is_empty() {
            self.note(*line, format!("{name}: {}", rule.remark));
        }
        let mut lines = vec![format!("rule: {}", rule.id), "enabled: true".to_owned()];
        let mut off = None;
        for param in &heuristic.params {
            if param.key == "exclude_jobtypes_filter" {
                off = excluded(rule.id, &param.value);
            } else {
                lines.extend(self.parameter(name, rule, param, &heuristic.params));
            }
        }
        self.documents.push(lines.join("\n"));
        self.documents.extend(off);
    }

    fn parameter(&mut self, class: &str, rule: &table::Rule, param: &Param, all: &[Param]) -> Vec<String> {
        let Param { key, value, line } = param;
        let Some(parameter) = rule.parameters.iter().find(|known| known.name == key) else {
            let names: Vec<&str> = rule.parameters.iter().map(|known| known.name).collect();
            let known = if names.is_empty() {
                "it has no parameters".to_owned()
            } else {
                format!("its parameters are {}", names.join(", "))
            };
            self.note(*line, format!("{class} has no parameter {key} and ignored it; omitted ({known})"));
            return Vec::new();
        };
        let Parameter { name, to, conversion, without_effect } = parameter;
        if let Some(why) = without_effect {
            let effect = format!("{class}: {name} = {value} had no effect in Dr. Elephant ({why})");
            if to.is_empty() {
                self.note(*line, format!("{effect}; omitted"));
                return Vec::new();
            }
            let message = format!("{effect}; the file has it as a comment; uncomment it to set {to}");
            self.note(*line, message);
        }
        if to.is_empty() {
            self.note(*line, format!("{class}: {name} has no equivalent here; omitted"));
            return Vec::new();
        }
        match convert(conversion, value, all)
            .and_then(|written| accepted(self.catalogue, rule.id, to, &written))
        {
            Ok(lines) => {
                let (before, why) =
                    if without_effect.is_some() { ("# ", ", had no effect there") } else { ("", "") };
                lines.into_iter().map(|line| format!("{before}{line}  # {name} = {value}{why}")).collect()
            }
            Err(why) => {
                self.note(*line, format!("{class}: {name} = {value}: {why}; omitted"));
                Vec::new()
            }
        }
    }

    fn note(&mut self, line: usize, message: String) {
        self.notes.push(Note { line, message });
    }

    fn finish(mut self) -> Imported {
        // Several classes may stand for one rule.
        let mut known = self.registered.clone();
        for rule in RULES.iter().filter(|rule| !rule.id.is_empty()) {
            if known.insert(rule.id) {
                self.documents.push(format!(
                    "# Not registered in the configuration.\nrule: {}\nenabled: false",
                    rule.id
                ));
            }
        }
        for engine in ["mapreduce", "spark", "tez"] {
            if !self.engines.contains(engine) {
                self.note(
                    1,
                    format!("no heuristic for {engine} is registered: all its Dr. Elephant rules are off"),
                );
            }
        }
        let header = "\
# Converted from a HeuristicConf.xml of Dr. Elephant.
# To judge as Dr. Elephant did:      --rules dr-elephant --rules <this file>
# To take over the thresholds only:  --rules <this file>
";
        Imported { yaml: format!("{header}{}\n", self.documents.join("\n---\n")), notes: self.notes }
    }
}

/// The lines that set `keys` to a value, if the rule accepts it.
fn accepted(catalogue: Catalogue, id: &str, keys: &str, written: &str) -> Result<Vec<String>, String> {
    let lines: Vec<String> = keys.split(' ').map(|key| format!("{key}: {written}")).collect();
    let text = format!("rule: {id}\n{}\n", lines.join("\n"));
    let (_, problems) = RuleSet::read(catalogue, &[RuleFile { name: String::new(), text }]);
    problems.into_iter().next().map_or(Ok(lines), |problem| Err(problem.message))
}

/// A document that switches a rule off for job types.
fn excluded(id: &str, types: &str) -> Option<String> {
    let types: Vec<String> = types.split(',').map(str::trim).filter(|t| !t.is_empty()).map(quoted).collect();
    let list = format!("[{}]", types.join(", "));
    (!types.is_empty())
        .then(|| format!("# exclude_jobtypes_filter\nrule: {id}\nfor: {{job_type: {list}}}\nenabled: false"))
}

fn quoted(text: &str) -> String {
    // A JSON string is also a YAML string.
    serde_json::Value::from(text).to_string()
}

/// The value in the syntax of rule files.
fn convert(conversion: &Conversion, value: &str, all: &[Param]) -> Result<String, String> {
    let list = |scale: f64, unit: &str| {
        let numbers: Vec<f64> = value.split(',').map(arithmetic::evaluate).collect::<Result<_, _>>()?;
        if numbers.len() != 4 {
            return Err(format!(
                "{} numbers instead of 4: Dr. Elephant ignored them and used its defaults",
                numbers.len()
            ));
        }
        let items: Vec<String> =
            numbers.iter().map(|number| format!("{}{unit}", plain(number * scale))).collect();
        Ok(format!("[{}]", items.join(", ")))
    };
    let one = |unit: &str| arithmetic::evaluate(value).map(|number| format!("{}{unit}", plain(number)));
    match *conversion {
        Conversion::List { scale, unit } => list(scale, unit),
        Conversion::TimesDefault { default, key, unit } => {
            let written =
                all.iter().find(|param| param.key == key).and_then(|p| arithmetic::evaluate(&p.value).ok());
            list(written.unwrap_or(default), unit)
        }
        Conversion::Number(unit) => one(unit),
        Conversion::Above(unit) => {
            let number = arithmetic::evaluate(value)? + 1.0;
            let item = format!("{}{unit}", plain(number));
            Ok(format!("[{item}, {item}, {item}, {item}]"))
        }
        Conversion::SizeText => size(value),
        Conversion::SizeList => {
            let sizes: Vec<String> = value.split(',').map(size).collect::<Result<_, _>>()?;
            if sizes.len() == 4 {
                Ok(format!("[{}]", sizes.join(", ")))
            } else {
                Err("not four sizes".to_owned())
            }
        }
    }
}

/// A size as Dr. Elephant writes it: `10GB`, `2G`, or a bare number of bytes.
fn size(text: &str) -> Result<String, String> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end).unwrap_or((text, ""));
    let number = arithmetic::evaluate(number)?;
    let unit = match unit.to_ascii_uppercase().trim_end_matches('B') {
        "" => "B",
        "K" => "KB",
        "M" => "MB",
        "G" => "GB",
        "T" => "TB",
        other => return Err(format!("unknown size unit \"{other}\"")),
    };
    Ok(format!("{}{unit}", plain(number)))
}

/// A number without floating-point noise: 0.1 * 3 is 0.3.
fn plain(number: f64) -> String {
    let rounded = (number * 1e9).round() / 1e9;
    if (rounded - number).abs() <= number.abs() * 1e-12 { rounded.to_string() } else { number.to_string() }
}
