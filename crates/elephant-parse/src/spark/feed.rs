//! Splits a part into blocks of whole lines, which several threads parse in parallel.
//!
//! A plain file is split by position and read by the worker threads; compressed data is decoded one step
//! ahead of them. While one batch of blocks is parsed, the previous one is processed.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use memchr::{memchr, memrchr};
use rayon::prelude::*;

use super::at_once::BeingRead;
use super::block::{Block, ReadOptions};
use super::spare::{KEEP_LEN, Spare};
use elephant_base::limits::Limits;
use elephant_input::budget::{Budget, became_shorter};

/// Block size in bytes: small enough that data copied from the page cache is still in the processor's cache
/// when parsed.
pub(super) const BLOCK_LEN: usize = 256 << 10;
/// Number of bytes read at a time after a block, to find the end of its last line.
const TAIL_LEN: usize = 4 << 10;
/// Usual page size; only speed depends on it.
const PAGE_LEN: usize = 4 << 10;

/// The source of a part's bytes.
pub enum Feed {
    /// An uncompressed file, with its length.
    File(File, u64),
    /// Anything else.
    Stream(Box<dyn Read + Send>),
}

/// Blocks that are parsed in parallel.
#[derive(Default)]
pub(super) struct Batch {
    slots: Vec<Slot>,
    used: usize,
}

/// Bytes and the block parsed from them. Both allocations are reused.
#[derive(Default)]
struct Slot {
    bytes: Vec<u8>,
    /// Number of valid bytes; the rest is left over from an earlier block.
    len: usize,
    /// The range of the file to read into `bytes`; `None` if they are already there.
    range: Option<(u64, u64)>,
    block: Block,
    error: Option<io::Error>,
}

impl Batch {
    /// The parsed blocks, in order.
    pub(super) fn blocks(&mut self) -> impl Iterator<Item = &mut Block> {
        self.slots.iter_mut().take(self.used).map(|slot| &mut slot.block)
    }

    fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The next free slot, cleared.
    fn next_slot(&mut self) -> Option<&mut Slot> {
        if self.used == self.slots.len() {
            self.slots.push(Slot::default());
        }
        self.used += 1;
        let slot = self.slots.get_mut(self.used - 1)?;
        slot.len = 0;
        slot.range = None;
        slot.error = None;
        slot.block.clear();
        Some(slot)
    }

    /// Parses all slots in parallel.
    fn read(&mut self, file: Option<(&File, &Spare)>, options: ReadOptions) {
        let slots = self.slots.get_mut(..self.used).unwrap_or_default();
        match slots {
            [slot] => slot.read(file, options),
            slots => slots.par_iter_mut().for_each(|slot| slot.read(file, options)),
        }
    }

    /// The first error of the slots; later blocks are dropped.
    fn take_error(&mut self) -> Option<io::Error> {
        let slots = self.slots.get_mut(..self.used)?;
        let (failed, error) =
            slots.iter_mut().enumerate().find_map(|(place, slot)| Some((place, slot.error.take()?)))?;
        self.used = failed + 1;
        Some(error)
    }
}

impl Slot {
    fn read(&mut self, file: Option<(&File, &Spare)>, options: ReadOptions) {
        if let (Some((start, end)), Some((file, spare))) = (self.range, file) {
            self.bytes = spare.take();
            let first = match self.read_range(file, start, end, options.max_line_len) {
                Ok(at) => at,
                Err(error) => {
                    self.error = Some(error);
                    self.len = 0;
                    0
                }
            };
            self.block.read(self.bytes.get(first..self.len).unwrap_or_default(), options);
            spare.give(std::mem::take(&mut self.bytes));
        } else {
            self.block.read(self.bytes.get(..self.len).unwrap_or_default(), options);
            if self.bytes.len() > KEEP_LEN {
                self.bytes = Vec::new();
            }
        }
    }

    /// Reads the lines that begin between two offsets of a file; returns the offset of the first one in
    /// `bytes`.
    fn read_range(&mut self, file: &File, start: u64, end: u64, max_line_len: usize) -> io::Result<usize> {
        let wanted = usize::try_from(end - start).unwrap_or(usize::MAX);
        self.align(wanted);
        let origin = self.len;
        if self.read_at(file, start, wanted)? < wanted {
            self.error = Some(became_shorter());
        }
        let first = if is_line_start(file, start)? {
            origin
        } else {
            let Some(at) = memchr(b'\n', self.bytes.get(origin..self.len).unwrap_or_default()) else {
                self.len = 0;
                return Ok(0);
            };
            origin + at + 1
        };
        let mut line = memrchr(b'\n', self.bytes.get(origin..self.len).unwrap_or_default())
            .map_or(origin, |at| origin + at + 1);
        while self.len > line.max(first) && self.len - line <= max_line_len {
            let searched = self.len;
            if self.read_at(file, start + (self.len - origin) as u64, TAIL_LEN)? == 0 {
                break;
            }
            if let Some(at) = memchr(b'\n', self.bytes.get(searched..self.len).unwrap_or_default()) {
                line = searched + at + 1;
                self.len = line;
            }
        }
        Ok(first)
    }

    /// Aligns the next bytes in memory as they are aligned in the file's pages: on some processors, copying
    /// from the page cache is several times faster then.
    fn align(&mut self, wanted: usize) {
        if self.bytes.is_empty() {
            self.bytes.resize(PAGE_LEN + wanted.min(BLOCK_LEN) + TAIL_LEN, 0);
        }
        let to_page = self.bytes.as_ptr().align_offset(PAGE_LEN);
        self.len = if to_page <= PAGE_LEN { to_page } else { 0 };
    }

    /// Appends up to `wanted` bytes from the file; returns their number, which is smaller at the end of the
    /// file.
    fn read_at(&mut self, file: &File, mut from: u64, wanted: usize) -> io::Result<usize> {
        let before = self.len;
        let needed = self.len + wanted;
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
        while self.len < needed {
            let room = self.bytes.get_mut(self.len..needed).unwrap_or_default();
            match position::read_at(file, room, from) {
                Ok(0) => break,
                Ok(count) => {
                    self.len += count;
                    from += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.len - before)
    }
}

/// Whether the byte before an offset ends a line.
fn is_line_start(file: &File, place: u64) -> io::Result<bool> {
    let Some(before) = place.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    Ok(position::read_at(file, &mut byte, before)? == 1 && byte == *b"\n")
}

mod position {
    //! Positional reads, so that threads can share a file.

    use std::fs::File;
    use std::io;

    #[cfg(unix)]
    pub(super) fn read_at(file: &File, room: &mut [u8], from: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(file, room, from)
    }

    #[cfg(windows)]
    pub(super) fn read_at(file: &File, room: &mut [u8], from: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(file, room, from)
    }
}

/// See the module.
pub(super) struct Pipeline {
    source: Source,
    block_len: usize,
    options: ReadOptions,
}

enum Source {
    File { file: Arc<File>, len: u64, next: u64, budget: Budget, error: Option<io::Error> },
    Stream { reader: Box<dyn Read + Send>, rest: Vec<u8>, ended: bool, error: Option<io::Error> },
}

impl Pipeline {
    /// Splits `feed` into blocks. A stream enforces its budget itself.
    pub(super) fn new(feed: Feed, limits: &Limits, budget: &Budget) -> Self {
        let source = match feed {
            Feed::File(file, len) => {
                Source::File { file: Arc::new(file), len, next: 0, budget: budget.clone(), error: None }
            }
            Feed::Stream(reader) => Source::Stream { reader, rest: Vec::new(), ended: false, error: None },
        };
        let options = ReadOptions { max_line_len: limits.line_len() };
        Self { source, block_len: BLOCK_LEN, options }
    }

    /// As before, with blocks of `block_len` bytes.
    pub(super) fn in_blocks(self, block_len: usize) -> Self {
        Self { block_len: block_len.max(1), ..self }
    }

    /// Passes all blocks to `take`, in order, until it fails.
    ///
    /// # Errors
    /// The first error of reading or decoding, after everything before it was processed, or that of `take`.
    pub(super) fn run(mut self, mut take: impl FnMut(&mut Batch) -> io::Result<()> + Send) -> io::Result<()> {
        let _being_read = BeingRead::start();
        let [mut filled, mut read, mut taken] = std::array::from_fn(|_| Batch::default());
        let (block_len, options) = (self.block_len, self.options);
        self.source.fill(&mut filled, BeingRead::width(), block_len, options.max_line_len);
        let (file, spare) = (self.source.file(), Spare::default());
        let mut failure = None;
        while !(filled.is_empty() && read.is_empty()) {
            // Rotate: filled batches are parsed next, parsed batches are processed next.
            std::mem::swap(&mut read, &mut taken);
            std::mem::swap(&mut filled, &mut read);
            filled.used = 0;
            let (source, width) = (&mut self.source, BeingRead::width());
            let mut fill = || source.fill(&mut filled, width, block_len, options.max_line_len);
            let mut read_batch = || read.read(file.as_deref().map(|file| (file, &spare)), options);
            if taken.is_empty() {
                // The first batch, which may be the whole file.
                read_batch();
                fill();
            } else {
                let ((), ((), is_taken)) = rayon::join(fill, || rayon::join(read_batch, || take(&mut taken)));
                is_taken?;
            }
            taken.used = 0;
            if let Some(error) = read.take_error() {
                failure = Some(error);
                filled.used = 0;
                take(&mut read)?;
                break;
            }
        }
        failure.or(self.source.take_error()).map_or(Ok(()), Err)
    }
}

impl Source {
    fn file(&self) -> Option<Arc<File>> {
        match self {
            Self::File { file, .. } => Some(Arc::clone(file)),
            Self::Stream { .. } => None,
        }
    }

    fn take_error(&mut self) -> Option<io::Error> {
        match self {
            Self::File { error, .. } | Self::Stream { error, .. } => error.take(),
        }
    }

    /// Adds up to `width` blocks; none at the end.
    fn fill(&mut self, batch: &mut Batch, width: usize, block_len: usize, max_line_len: usize) {
        // Fewer than before if other logs are read by now.
        batch.slots.truncate(width);
        // A few long lines take as much memory as a batch of usual blocks.
        let (most, mut filled) = (width.saturating_mul(2 * block_len), 0);
        while batch.used < width && filled < most {
            match self {
                Self::File { len, next, budget, error, .. } => {
                    if next >= len {
                        return;
                    }
                    let granted = match budget.take((*len - *next).min(block_len as u64)) {
                        Ok(granted) => granted,
                        Err(reached) => {
                            *error = Some(reached.into());
                            *len = *next;
                            return;
                        }
                    };
                    let end = next.saturating_add(granted);
                    if let Some(slot) = batch.next_slot() {
                        slot.range = Some((*next, end));
                    }
                    *next = end;
                }
                Self::Stream { reader, rest, ended, error } => {
                    if *ended && rest.is_empty() {
                        return;
                    }
                    let Some(slot) = batch.next_slot() else { return };
                    fill_slot(slot, (reader, rest), (ended, error), block_len, max_line_len);
                    filled += slot.len;
                }
            }
        }
    }
}

/// Takes whole lines from a stream; the incomplete last line stays in `rest`.
fn fill_slot(
    slot: &mut Slot,
    (reader, rest): (&mut Box<dyn Read + Send>, &mut Vec<u8>),
    (ended, error): (&mut bool, &mut Option<io::Error>),
    block_len: usize,
    max_line_len: usize,
) {
    if slot.bytes.len() < block_len + rest.len() {
        slot.bytes.resize(block_len + rest.len(), 0);
    }
    if let Some(start) = slot.bytes.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
    }
    slot.len = rest.len();
    rest.clear();
    let mut last_line = None;
    while !*ended && (slot.len < block_len || last_line.is_none()) {
        if slot.len == slot.bytes.len() {
            if slot.len > max_line_len {
                // Already too long: do not search for its end again and again.
                slot.len = max_line_len + 1;
            } else {
                slot.bytes.resize(slot.len * 2, 0);
            }
        }
        match reader.read(slot.bytes.get_mut(slot.len..).unwrap_or_default()) {
            Ok(0) => *ended = true,
            Ok(count) => {
                let new = slot.bytes.get(slot.len..slot.len + count).unwrap_or_default();
                if let Some(at) = memrchr(b'\n', new) {
                    last_line = Some(slot.len + at + 1);
                }
                slot.len += count;
            }
            Err(failed) if failed.kind() == ErrorKind::Interrupted => {}
            Err(failed) => {
                *error = Some(failed);
                *ended = true;
            }
        }
    }
    if let Some(end) = last_line {
        rest.extend_from_slice(slot.bytes.get(end..slot.len).unwrap_or_default());
        slot.len = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spark::block::ItemKind;
    use std::io::{Cursor, Seek, Write};

    fn ends(feed: Feed) -> Vec<(u64, Option<i64>)> {
        let mut found = Vec::new();
        let mut lines = 0;
        Pipeline::new(feed, &Limits::default(), &Budget::unlimited())
            .run(|batch: &mut Batch| {
                for block in batch.blocks() {
                    let mut starts = block.starts.drain(..);
                    for item in block.items.drain(..) {
                        let id = match item.kind {
                            ItemKind::Start => starts.next().and_then(|start| start.info.id),
                            _ => None,
                        };
                        found.push((lines + item.line, id));
                    }
                    lines += block.lines;
                }
                Ok(())
            })
            .unwrap();
        found
    }

    fn log(lines: usize, padding: usize) -> Vec<u8> {
        let mut text = Vec::new();
        for id in 0..lines {
            let blank = "x".repeat(padding * (id % 7));
            writeln!(
                text,
                "{{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Task Info\":{{\"Task ID\":{id},\"Host\":\"{blank}\"}}}}"
            )
            .unwrap();
        }
        text
    }

    fn file(bytes: &[u8]) -> Feed {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        Feed::File(file, bytes.len() as u64)
    }

    #[test]
    fn files_and_streams_give_every_line_once_and_in_order() {
        for (lines, padding) in [(1, 0), (10, 1), (20_000, 10), (100, 60_000), (3, 2_000_000)] {
            let mut text = log(lines, padding);
            let expected: Vec<_> = (0..lines as u64).map(|id| (id, i64::try_from(id).ok())).collect();
            for _ in 0..2 {
                assert_eq!(ends(file(&text)), expected);
                assert_eq!(ends(Feed::Stream(Box::new(Cursor::new(text.clone())))), expected);
                // Again without the last line feed.
                text.pop();
            }
        }
    }

    #[test]
    fn only_the_line_beyond_the_limit_is_skipped() {
        let long = [vec![b'x'; Limits::default().line_len() + 5 * BLOCK_LEN], b"\n".to_vec()].concat();
        let text = [log(2, 0), long, log(3, 0)].concat();
        let expected = [(0, Some(0)), (1, Some(1)), (2, None), (3, Some(0)), (4, Some(1)), (5, Some(2))];
        assert_eq!(ends(file(&text)), expected);
        assert_eq!(ends(Feed::Stream(Box::new(Cursor::new(text)))), expected);
    }

    #[test]
    fn blocks_that_other_logs_need_are_freed() {
        let mut batch = Batch::default();
        for _ in 0..8 {
            batch.next_slot().unwrap().bytes = vec![0; BLOCK_LEN];
        }
        batch.used = 0;
        let text = log(20_000, 10);
        let len = text.len() as u64;
        let Feed::File(file, _) = file(&text) else { unreachable!() };
        let mut source =
            Source::File { file: Arc::new(file), len, next: 0, budget: Budget::unlimited(), error: None };
        source.fill(&mut batch, 3, BLOCK_LEN, usize::MAX);
        assert_eq!((batch.used, batch.slots.len()), (3, 3));
    }

    #[test]
    fn an_empty_source_has_no_events() {
        assert_eq!(ends(file(b"")), []);
        assert_eq!(ends(Feed::Stream(Box::new(io::empty()))), []);
    }
}
