//! Reads a log.

use std::io::{BufRead, BufReader, Read};

use super::builder::Builder;
use super::chain::{Raw, RawCause, prefix};
use super::classifier::Classifier;
use super::digest::{Collector, Digest, Section};
use super::events::{self, Weight};
use super::form::Form;
use super::ids::Ids;
use super::layout::{Stripped, stripped};
use super::lines::{Lines, cleaned};
use super::origin::Origin;
use super::owner::Owner;
use super::page::{Page, PageLine};
use super::sections::{self, Header};
use super::{envelope, json_line, limits};

/// How a log is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether chains keep their messages, masked. By default they keep none.
    pub messages: bool,
}

/// Reads a log of this form to its end.
#[must_use]
pub fn read(form: Form, input: impl Read, classifier: &Classifier, options: Options) -> Digest {
    let mut reader = Reader::new(form, classifier, options);
    let is_damaged = match form {
        Form::YarnLogs => reader.yarn_logs(BufReader::new(input)),
        _ => reader.lines(BufReader::new(input)),
    };
    reader.finish(is_damaged)
}

/// A line that tells a failure without an exception, unless one follows it.
struct Event {
    raw: Raw,
    weight: Weight,
}

/// What is known of the log so far.
struct Reader<'c> {
    form: Form,
    builder: Builder,
    collector: Collector<'c>,
    sections: Vec<Section>,
    section: Option<usize>,
    ids: Ids,
    origin: Option<Origin>,
    owner: Owner,
    number: u64,
    /// The last log line, if it may tell a failure.
    pending: Option<Event>,
    /// The message of the last log line.
    context: String,
    /// A line that goes on in the next one.
    partial: String,
    page: Page,
}

impl<'c> Reader<'c> {
    fn new(form: Form, classifier: &'c Classifier, options: Options) -> Self {
        Self {
            form,
            builder: Builder::default(),
            collector: Collector::new(classifier, options.messages),
            sections: Vec::new(),
            section: None,
            ids: Ids::default(),
            origin: None,
            owner: Owner::default(),
            number: 0,
            pending: None,
            context: String::new(),
            partial: String::new(),
            page: Page::default(),
        }
    }

    /// Reads all lines. Returns whether reading ended with an error.
    fn lines(&mut self, input: impl BufRead) -> bool {
        let mut lines = Lines::new(input);
        loop {
            match lines.next() {
                Ok(Some(line)) => {
                    self.number += 1;
                    self.collector.skipped.long_lines += u64::from(line.cut);
                    let text = cleaned(line.bytes);
                    self.line_of_form(&text);
                }
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    fn line_of_form(&mut self, text: &str) {
        match self.form {
            Form::Page => match self.page.line(text) {
                PageLine::Log(text) => self.line(&text),
                PageLine::Around(text) => self.around(&text),
            },
            Form::Kubernetes => match envelope::cri(text) {
                Some((text, goes_on)) => self.part(text, goes_on),
                None => self.line(text),
            },
            Form::Docker => match envelope::docker(text) {
                Some((text, goes_on)) => self.part(&text, goes_on),
                None => self.line(text),
            },
            Form::YarnLogs | Form::Json | Form::Text => self.line(text),
        }
    }

    /// A part of a line that a container runtime has split.
    fn part(&mut self, text: &str, goes_on: bool) {
        let room = limits::LINE.saturating_sub(self.partial.len());
        self.partial += prefix(text, room);
        if !goes_on {
            let line = cleaned(std::mem::take(&mut self.partial).as_bytes());
            self.line(&line);
        }
    }

    /// Reads the text of `yarn logs`. The stated length of a log counts, because its text may have lines like those of headers.
    fn yarn_logs(&mut self, input: impl BufRead) -> bool {
        let mut lines = Lines::new(input);
        let mut length = None;
        let mut left: Option<u64> = None;
        let mut container = None;
        loop {
            let line = match lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => return false,
                Err(_) => return true,
            };
            self.number += 1;
            let (len, cut) = (line.len, line.cut);
            let text = cleaned(line.bytes);
            self.collector.skipped.long_lines += u64::from(cut);
            if let Some(rest) = left.filter(|rest| *rest > 0) {
                left = Some(rest.saturating_sub(len));
                self.line(&text);
                continue;
            }
            match sections::header(&text) {
                Some(Header::Container(id)) => container = Some(id),
                Some(Header::LogType(name)) => self.start_section(container.clone(), Some(name)),
                Some(Header::Length(bytes)) => length = Some(bytes),
                Some(Header::Contents) => left = length.take(),
                Some(Header::End) => left = None,
                Some(Header::Other) => {}
                None => match sections::shown(&text) {
                    Some((shown, _)) => {
                        length = Some(shown);
                        self.around(&text);
                    }
                    None => self.line(&text),
                },
            }
        }
    }

    /// A line around the logs of a page.
    fn around(&mut self, text: &str) {
        if let Some((shown, total)) = sections::shown(text).filter(|(shown, total)| shown < total)
            && let Some(section) = self.section.and_then(|place| self.sections.get_mut(place))
        {
            section.cut = Some((shown, total));
        }
        if let Some(Header::LogType(name)) = sections::header(text) {
            self.start_section(None, Some(name));
        }
    }

    fn start_section(&mut self, container: Option<String>, log_type: Option<String>) {
        self.end_of_lines();
        if let Some(id) = &container {
            self.ids.scan(id);
            self.origin = Origin::of_container(id);
        }
        if self.sections.len() >= limits::SECTIONS {
            self.collector.skipped.sections += 1;
            self.section = None;
            return;
        }
        self.section = Some(self.sections.len());
        self.sections.push(Section { container, log_type, line: self.number, ..Section::default() });
    }

    /// A line of a log.
    fn line(&mut self, text: &str) {
        match json_line::lines(text) {
            Some(lines) => lines.iter().for_each(|line| self.text_line(line)),
            None => self.text_line(text),
        }
    }

    fn text_line(&mut self, text: &str) {
        let line = stripped(text);
        if let Some(logger) = line.logger.filter(|_| self.origin.is_none()) {
            self.origin = Origin::of_logger(logger);
        }
        let section = self.section.and_then(|place| self.sections.get_mut(place));
        section.map_or(&mut self.owner, |section| &mut section.owner).learn(line.message, self.origin);
        let taken = self.builder.line(self.number, &line);
        if let Some(ended) = taken.ended {
            self.add(&ended);
        }
        if taken.begins {
            if let Some(event) = self.pending.take() {
                self.builder.context(&event_text(&event));
            } else if !self.context.is_empty() && !line.has_layout {
                let context = std::mem::take(&mut self.context);
                self.builder.context(&context);
            }
        }
        if line.has_layout {
            self.flush();
            self.ids.scan(line.message);
            prefix(line.message, limits::MESSAGE).clone_into(&mut self.context);
        }
        if !taken.is_part {
            self.event(&line);
        }
    }

    /// Keeps a line that may tell a failure until the next one is known.
    fn event(&mut self, line: &Stripped<'_>) {
        // Lines below belong to it: diagnostics of containers have several.
        if let Some(Event { raw, .. }) = self.pending.as_mut().filter(|_| !line.has_layout) {
            raw.lines += 1;
            if raw.lines <= limits::MESSAGE_LINES {
                raw.ids.scan(line.message);
                raw.causes.iter_mut().for_each(|cause| cause.extend(line.message));
            }
            return;
        }
        let Some(weight) = events::weight(line) else { return };
        self.flush();
        let mut raw = Raw {
            causes: vec![RawCause::new(None, line.message, false)],
            line: self.number,
            logger: line.logger.map(str::to_owned),
            lines: 1,
            ..Raw::default()
        };
        raw.ids.scan(line.message);
        self.pending = Some(Event { raw, weight });
    }

    /// Counts the line that was kept: no exception followed it.
    fn flush(&mut self) {
        let Some(Event { raw, weight }) = self.pending.take() else { return };
        let counts =
            weight == Weight::Always || self.collector.classifier().kind(&raw, self.origin).is_some();
        if counts {
            self.add(&raw);
        }
    }

    fn add(&mut self, raw: &Raw) {
        self.ids.merge(&raw.ids);
        self.collector.add(raw, self.section, self.origin);
    }

    fn end_of_lines(&mut self) {
        if let Some(ended) = self.builder.end() {
            self.add(&ended);
        }
        self.flush();
        self.context.clear();
    }

    fn finish(mut self, is_damaged: bool) -> Digest {
        if !self.partial.is_empty() {
            self.part("", false);
        }
        self.end_of_lines();
        let (chains, skipped) = self.collector.finish();
        Digest {
            form: self.form,
            sections: self.sections,
            chains,
            ids: self.ids,
            origin: self.origin,
            owner: self.owner,
            lines: self.number,
            skipped,
            is_damaged,
        }
    }
}

fn event_text(event: &Event) -> String {
    event.raw.causes.first().map(|cause| cause.message.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
