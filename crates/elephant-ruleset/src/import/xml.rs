//! Reads `HeuristicConf.xml`: heuristics with their parameters and positions.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;
use thiserror::Error;

/// A text that is not a `HeuristicConf.xml`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", match line { Some(line) => format!("line {line}: {message}"), None => message.clone() })]
#[non_exhaustive]
pub struct XmlError {
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The problem, and what was expected.
    pub message: String,
}

/// One registered heuristic.
#[derive(Debug, Default)]
pub(super) struct Heuristic {
    pub(super) application_type: String,
    pub(super) class: String,
    pub(super) line: usize,
    /// In the order of their first values, each once.
    pub(super) params: Vec<Param>,
    /// The places of parameters in that list.
    places: BTreeMap<String, usize>,
}

impl Heuristic {
    /// As in Dr. Elephant, the last of several values counts.
    fn set(&mut self, param: Param) {
        if let Some(known) = self.places.get(&param.key).and_then(|place| self.params.get_mut(*place)) {
            *known = param;
            return;
        }
        self.places.insert(param.key.clone(), self.params.len());
        self.params.push(param);
    }
}

/// One parameter as written.
#[derive(Debug)]
pub(super) struct Param {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) line: usize,
}

/// The heuristics of a configuration.
pub(super) fn read(text: &str) -> Result<Vec<Heuristic>, XmlError> {
    let mut reader = Reader::from_str(text);
    let mut state = State::default();
    let (mut line, mut counted) = (1, 0);
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        line += text.get(counted..at).unwrap_or_default().matches('\n').count();
        counted = at;
        let event =
            reader.read_event().map_err(|error| XmlError { line: Some(line), message: error.to_string() })?;
        match event {
            Event::Start(tag) => state.open(tag.name().as_ref().to_owned(), line)?,
            Event::Empty(tag) => {
                state.open(tag.name().as_ref().to_owned(), line)?;
                state.close();
            }
            Event::End(_) => state.close(),
            Event::Text(text) => state.text.push_str(&text),
            Event::CData(text) => state.text.push_str(&text),
            Event::GeneralRef(reference) => {
                let number = reference.resolve_char_ref().ok().flatten();
                let entity = resolve_xml_entity(&reference);
                state.text.extend(number);
                state.text.push_str(entity.unwrap_or_default());
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if !state.path.is_empty() {
        return Err(XmlError { line: None, message: "the file is cut inside an element".to_owned() });
    }
    if !state.seen_root {
        return Err(XmlError { line: None, message: ROOT.to_owned() });
    }
    Ok(state.heuristics)
}

/// The maximum nesting of elements. Dr. Elephant's have four levels.
const MAX_DEPTH: usize = 32;

const ROOT: &str = "expected <heuristics>, as in Dr. Elephant's HeuristicConf.xml";

#[derive(Default)]
struct State {
    path: Vec<(String, usize)>,
    text: String,
    seen_root: bool,
    heuristics: Vec<Heuristic>,
}

impl State {
    fn open(&mut self, tag: String, line: usize) -> Result<(), XmlError> {
        match (self.path.len(), tag.as_str()) {
            (0, "heuristics") => self.seen_root = true,
            (0, _) => return Err(XmlError { line: Some(line), message: ROOT.to_owned() }),
            (MAX_DEPTH.., _) => {
                let message = format!("elements are nested deeper than {MAX_DEPTH} levels");
                return Err(XmlError { line: Some(line), message });
            }
            (1, "heuristic") => self.heuristics.push(Heuristic { line, ..Heuristic::default() }),
            _ => {}
        }
        self.text.clear();
        self.path.push((tag, line));
        Ok(())
    }

    fn close(&mut self) {
        let Some((tag, line)) = self.path.pop() else { return };
        let text = std::mem::take(&mut self.text);
        // Values also occur in comments of the rule file, where they must not end the line.
        let value = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, " ");
        let parents: Vec<&str> = self.path.iter().map(|(tag, _)| tag.as_str()).collect();
        let Some(heuristic) = self.heuristics.last_mut() else { return };
        match (parents.as_slice(), tag.as_str()) {
            (["heuristics", "heuristic"], "applicationtype") => {
                heuristic.application_type = value.to_lowercase();
            }
            (["heuristics", "heuristic"], "classname") => heuristic.class = value,
            (["heuristics", "heuristic", "params"], _) => {
                heuristic.set(Param { key: tag, value, line });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(written: &str) -> Result<Vec<Heuristic>, XmlError> {
        read(&format!(
            "<heuristics>\n<heuristic>\n<params>\n{written}\n</params>\n</heuristic>\n</heuristics>"
        ))
    }

    #[test]
    fn of_a_repeated_parameter_the_last_value_counts() {
        let all = params("<a>1</a>\n<b>2</b>\n<a>3</a>").unwrap();
        let found: Vec<_> = all[0]
            .params
            .iter()
            .map(|param| (param.key.as_str(), param.value.as_str(), param.line))
            .collect();
        assert_eq!(found, [("a", "3", 6), ("b", "2", 5)]);
    }

    #[test]
    fn elements_that_nest_too_deeply_are_refused() {
        let error = params(&"<a>".repeat(100_000)).unwrap_err();
        assert_eq!(error.line, Some(4));
        assert!(error.message.contains("deeper than 32 levels"), "{}", error.message);
    }
}
