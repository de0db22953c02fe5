//! Parses a block of whole lines into events. Blocks are independent, so several are parsed in parallel.

use super::event::{self, Event};
use super::line_template::{LineTemplates, MAX_MATCHED_LEN};
use super::strings::Strings;
use super::task::{self, TaskEnd, TaskStart};
use crate::scan::{Cursor, Scan, Unexpected};
use memchr::memchr;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Options for reading lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadOptions {
    /// Longer lines are skipped.
    pub(super) max_line_len: usize,
}

/// The events of a block, in the order of its lines.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) items: Vec<Item>,
    pub(super) starts: Vec<TaskStart>,
    pub(super) ends: Vec<TaskEnd>,
    pub(super) strings: Strings,
    /// Number of lines, blank ones included.
    pub(super) lines: u64,
    pub(super) bytes: u64,
    start_templates: LineTemplates<TaskStart>,
    end_templates: LineTemplates<TaskEnd>,
}

/// A line with an event, or a broken one.
#[derive(Debug)]
pub(super) struct Item {
    /// Line number from the start of the block, counted from 0.
    pub(super) line: u64,
    /// Offset of the line from the start of the block, in bytes.
    pub(super) at: u64,
    pub(super) kind: ItemKind,
}

#[derive(Debug)]
pub(super) enum ItemKind {
    /// The next of [`Block::starts`].
    Start,
    /// The next of [`Block::ends`].
    End,
    Event(Box<Event>),
    /// A line that is not an event. The last line of a stream may be truncated.
    Malformed {
        terminated: bool,
    },
    TooLong,
    /// An event with a list of more than [`event::MAX_LISTED`] elements.
    ListsTooMuch,
}

impl Block {
    /// Clears the block but keeps its allocations.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.starts.clear();
        self.ends.clear();
        self.strings.clear();
        self.lines = 0;
        self.bytes = 0;
    }

    #[cfg(test)]
    pub(super) fn recognised(&self) -> usize {
        self.start_templates.recognised() + self.end_templates.recognised()
    }

    #[cfg(test)]
    pub(super) fn template_count(&self) -> usize {
        self.start_templates.len() + self.end_templates.len()
    }

    /// Reads lines; the last one may lack its line feed.
    pub(super) fn read(&mut self, bytes: &[u8], options: ReadOptions) {
        self.bytes = bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = (bytes.len() - rest.len()) as u64;
            let near =
                rest.get(..options.max_line_len.saturating_add(1).min(MAX_MATCHED_LEN)).unwrap_or(rest);
            // A template also finds the end of its line, which saves a search.
            let len = self.template_line(near, at).unwrap_or_else(|| {
                let end = memchr(b'\n', rest);
                let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                self.line(text, at, end.is_some(), options);
                text.len() + usize::from(end.is_some())
            });
            rest = rest.get(len..).unwrap_or_default();
            self.lines += 1;
        }
    }

    /// Reads the next line if it matches a task line template; returns its length including its line feed.
    #[inline]
    fn template_line(&mut self, near: &[u8], at: u64) -> Option<usize> {
        let Self { start_templates, end_templates, strings, starts, ends, .. } = self;
        let (kind, len) = match end_templates.read(near, strings, ends) {
            Some(len) => (ItemKind::End, len),
            None => (ItemKind::Start, start_templates.read(near, strings, starts)?),
        };
        self.items.push(Item { line: self.lines, at, kind });
        Some(len)
    }

    fn line(&mut self, line: &[u8], at: u64, terminated: bool, options: ReadOptions) {
        let kind = if line.len() > options.max_line_len {
            Some(ItemKind::TooLong)
        } else {
            self.event(line).unwrap_or(Some(ItemKind::Malformed { terminated }))
        };
        let Some(kind) = kind else { return };
        match &kind {
            ItemKind::Start => {
                let start = self.starts.last().into_iter();
                start.for_each(|start| self.start_templates.learn(line, start, &mut self.strings));
            }
            ItemKind::End => {
                let end = self.ends.last().into_iter();
                end.for_each(|end| self.end_templates.learn(line, end, &mut self.strings));
            }
            _ => {}
        }
        self.items.push(Item { line: self.lines, at, kind });
    }

    /// The event of a line; `None` for blank lines and for events that are not kept.
    fn event(&mut self, line: &[u8]) -> Scan<Option<ItemKind>> {
        let mut cursor = Cursor::new(line);
        if cursor.literal(b"{\"Event\":\"").is_ok()
            && let Ok(name) = cursor.plain_string_tail()
        {
            return self.named_event(name, &mut cursor);
        }
        match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(line) => self.event(line),
            None if cursor.at_end() => Ok(None),
            None => self.event_with_name_elsewhere(line),
        }
    }

    /// Reads the rest of an event after its name, which is its first member.
    fn named_event(&mut self, name: &[u8], cursor: &mut Cursor<'_>) -> Scan<Option<ItemKind>> {
        let what = match name {
            b"SparkListenerTaskStart" => {
                self.starts.push(TaskStart::default());
                let Some(start) = self.starts.last_mut() else { return Err(Unexpected) };
                let read = task::start(cursor, &mut self.strings, start);
                if read.is_err() || !cursor.at_end() {
                    self.starts.pop();
                    return Err(Unexpected);
                }
                Some(ItemKind::Start)
            }
            b"SparkListenerTaskEnd" => {
                self.ends.push(TaskEnd::default());
                let Some(end) = self.ends.last_mut() else { return Err(Unexpected) };
                let read = task::end(cursor, &mut self.strings, end);
                if read.is_err() || !cursor.at_end() {
                    self.ends.pop();
                    return Err(Unexpected);
                }
                Some(ItemKind::End)
            }
            _ => match event::read(name, cursor, &mut self.strings)? {
                Some(event) if event.lists_too_much() => Some(ItemKind::ListsTooMuch),
                Some(event) => Some(ItemKind::Event(Box::new(event))),
                // The members are not needed; it is enough that the object ends.
                None => {
                    return if cursor.rest().trim_ascii_end().ends_with(b"}") {
                        Ok(None)
                    } else {
                        Err(Unexpected)
                    };
                }
            },
        };
        if cursor.at_end() { Ok(what) } else { Err(Unexpected) }
    }

    /// Reads an event whose name is not its first member or is surrounded by white space, after moving the
    /// name to the front.
    fn event_with_name_elsewhere(&mut self, line: &[u8]) -> Scan<Option<ItemKind>> {
        let mut cursor = Cursor::new(line);
        let mut name = None;
        cursor.expect(b'{')?;
        let mut members = Cursor::new(line);
        members.each_member(|key, cursor| {
            if key.text() == "Event" && name.is_none() {
                name = cursor.string_or_skip()?.map(|name| name.text().into_owned());
                return Ok(());
            }
            cursor.skip_value()
        })?;
        if !members.at_end() {
            return Err(Unexpected);
        }
        let name = name.ok_or(Unexpected)?;
        // The readers start after a first member, so its comma takes the place of the opening brace.
        let mut reordered = line.trim_ascii_start().to_vec();
        if let Some(first) = reordered.first_mut() {
            *first = b',';
        }
        self.named_event(name.as_bytes(), &mut Cursor::new(&reordered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Block {
        let mut block = Block::default();
        block.read(text.as_bytes(), ReadOptions { max_line_len: usize::MAX });
        block
    }

    #[test]
    fn the_name_may_be_any_member() {
        let block = read(concat!(
            "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":5}\n",
            "{ \"Event\" : \"SparkListenerApplicationEnd\" , \"Timestamp\" : 6 }\r\n",
            "{\"Timestamp\":7,\"Event\":\"SparkListenerApplicationEnd\"}\n",
            "\n{\"Event\":\"com.vendor.Else\",\"x\":[1,{}]}"
        ));
        let times: Vec<_> = block
            .items
            .iter()
            .map(|item| match &item.kind {
                ItemKind::Event(event) => match **event {
                    Event::ApplicationEnd { at, .. } => at,
                    _ => None,
                },
                _ => None,
            })
            .collect();
        assert_eq!(times, [Some(5), Some(6), Some(7)]);
        assert_eq!(block.lines, 5);
    }

    #[test]
    fn lines_without_an_event_are_reported_with_their_number() {
        let block =
            read("[]\n{\"Event\":3}\n{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0}x\n{\"Event\":\"Spa");
        let lines: Vec<_> = block
            .items
            .iter()
            .map(|item| (item.line, matches!(item.kind, ItemKind::Malformed { terminated: true })))
            .collect();
        assert_eq!(lines, [(0, true), (1, true), (2, true), (3, false)]);
        assert!(block.ends.is_empty());
    }
}
