//! A block of whole lines, turned into events. Blocks do not know of each other, so several are read at a time.

use super::event::{self, Event};
use super::plan::Plans;
use super::shape::{MAX_KNOWN_LEN, Shapes};
use super::strings::Strings;
use super::task::{self, TaskEnd, TaskStart};
use crate::parse::scan::{Cursor, Scan, Unexpected};
use memchr::memchr;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How lines are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    /// Longer ones are passed over.
    pub(super) max_line_len: usize,
    pub(super) plans: Plans,
}

/// The events of a block, in the order of its lines.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) items: Vec<Item>,
    pub(super) starts: Vec<TaskStart>,
    pub(super) ends: Vec<TaskEnd>,
    pub(super) strings: Strings,
    /// Lines, blank ones included.
    pub(super) lines: u64,
    pub(super) bytes: u64,
    known_starts: Shapes<TaskStart>,
    known_ends: Shapes<TaskEnd>,
}

/// A line that says something.
#[derive(Debug)]
pub(super) struct Item {
    /// Counted from 0 at the start of the block.
    pub(super) line: u64,
    /// Where the line starts, in bytes from the start of the block.
    pub(super) at: u64,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// The next of [`Block::starts`].
    Start,
    /// The next of [`Block::ends`].
    End,
    Event(Box<Event>),
    /// A line that is no event. The last line of a stream may be a beginning only.
    Malformed {
        terminated: bool,
    },
    TooLong,
}

impl Block {
    /// Forgets everything and keeps the memory.
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
        self.known_starts.recognised() + self.known_ends.recognised()
    }

    #[cfg(test)]
    pub(super) fn known_shapes(&self) -> usize {
        self.known_starts.len() + self.known_ends.len()
    }

    /// Reads lines; the last one may lack its line feed.
    pub(super) fn read(&mut self, bytes: &[u8], terms: Terms) {
        self.bytes = bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = (bytes.len() - rest.len()) as u64;
            let near = rest.get(..terms.max_line_len.saturating_add(1).min(MAX_KNOWN_LEN)).unwrap_or(rest);
            // Lines of tasks tell their own end, so that it need not be searched for.
            let len = self.known_line(near, at).unwrap_or_else(|| {
                let end = memchr(b'\n', rest);
                let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                self.line(text, at, end.is_some(), terms);
                text.len() + usize::from(end.is_some())
            });
            rest = rest.get(len..).unwrap_or_default();
            self.lines += 1;
        }
    }

    /// Reads the next line if it is a task's of a known shape; gives its length with its line feed.
    #[inline]
    fn known_line(&mut self, near: &[u8], at: u64) -> Option<usize> {
        let Self { known_starts, known_ends, strings, starts, ends, .. } = self;
        let (what, len) = match known_ends.read(near, strings, ends) {
            Some(len) => (What::End, len),
            None => (What::Start, known_starts.read(near, strings, starts)?),
        };
        self.items.push(Item { line: self.lines, at, what });
        Some(len)
    }

    fn line(&mut self, line: &[u8], at: u64, terminated: bool, terms: Terms) {
        let what = if line.len() > terms.max_line_len {
            Some(What::TooLong)
        } else {
            self.event(line, terms.plans).unwrap_or(Some(What::Malformed { terminated }))
        };
        let Some(what) = what else { return };
        match &what {
            What::Start => {
                let start = self.starts.last().into_iter();
                start.for_each(|start| self.known_starts.learn(line, start, &mut self.strings));
            }
            What::End => {
                let end = self.ends.last().into_iter();
                end.for_each(|end| self.known_ends.learn(line, end, &mut self.strings));
            }
            _ => {}
        }
        self.items.push(Item { line: self.lines, at, what });
    }

    /// The event of a line; `None` for a blank line or an event that is not kept.
    fn event(&mut self, line: &[u8], plans: Plans) -> Scan<Option<What>> {
        let mut cursor = Cursor::new(line);
        if cursor.literal(b"{\"Event\":\"").is_ok()
            && let Ok(name) = cursor.plain_string_tail()
        {
            return self.named_event(name, &mut cursor, plans);
        }
        match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(line) => self.event(line, plans),
            None if cursor.at_end() => Ok(None),
            None => self.event_with_its_name_elsewhere(line, plans),
        }
    }

    /// Reads the rest of an event, behind its name, which is its first member.
    fn named_event(&mut self, name: &[u8], cursor: &mut Cursor<'_>, plans: Plans) -> Scan<Option<What>> {
        let what = match name {
            b"SparkListenerTaskStart" => {
                self.starts.push(TaskStart::default());
                let Some(start) = self.starts.last_mut() else { return Err(Unexpected) };
                let read = task::start(cursor, &mut self.strings, start);
                if read.is_err() || !cursor.at_end() {
                    self.starts.pop();
                    return Err(Unexpected);
                }
                Some(What::Start)
            }
            b"SparkListenerTaskEnd" => {
                self.ends.push(TaskEnd::default());
                let Some(end) = self.ends.last_mut() else { return Err(Unexpected) };
                let read = task::end(cursor, &mut self.strings, end);
                if read.is_err() || !cursor.at_end() {
                    self.ends.pop();
                    return Err(Unexpected);
                }
                Some(What::End)
            }
            _ => match event::read(name, cursor, &mut self.strings, plans)? {
                Some(event) => Some(What::Event(Box::new(event))),
                // Nobody wants its members; that it has an end is enough.
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

    /// An event whose name is not its first member, or is written with blanks: put in order, then read.
    fn event_with_its_name_elsewhere(&mut self, line: &[u8], plans: Plans) -> Scan<Option<What>> {
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
        // The readers begin behind a first member; its comma takes the place of the opening brace.
        let mut reordered = line.trim_ascii_start().to_vec();
        if let Some(first) = reordered.first_mut() {
            *first = b',';
        }
        self.named_event(name.as_bytes(), &mut Cursor::new(&reordered), plans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Block {
        let mut block = Block::default();
        block.read(text.as_bytes(), Terms { max_line_len: usize::MAX, plans: Plans::Kept });
        block
    }

    #[test]
    fn the_name_may_stand_anywhere() {
        let block = read(concat!(
            "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":5}\n",
            "{ \"Event\" : \"SparkListenerApplicationEnd\" , \"Timestamp\" : 6 }\r\n",
            "{\"Timestamp\":7,\"Event\":\"SparkListenerApplicationEnd\"}\n",
            "\n{\"Event\":\"com.vendor.Else\",\"x\":[1,{}]}"
        ));
        let times: Vec<_> = block
            .items
            .iter()
            .map(|item| match &item.what {
                What::Event(event) => match **event {
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
    fn what_is_no_event_is_told_with_its_line() {
        let block =
            read("[]\n{\"Event\":3}\n{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0}x\n{\"Event\":\"Spa");
        let lines: Vec<_> = block
            .items
            .iter()
            .map(|item| (item.line, matches!(item.what, What::Malformed { terminated: true })))
            .collect();
        assert_eq!(lines, [(0, true), (1, true), (2, true), (3, false)]);
        assert!(block.ends.is_empty());
    }
}
