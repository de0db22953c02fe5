//! Files with a JSON object on each line.

use std::io::{self, Read, Write};

use super::Dropped;
use elephant_input::window::{ByteWindow, LineReader, NextLine};

/// Stands for a line that cannot be read: no reader takes it for an event.
const DAMAGED: &[u8] = b"{\"damaged\":";

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// It was written again.
    Masked,
    /// It is empty, and stays so.
    Blank,
    /// It is no part of what was copied.
    LeftOut,
    /// It cannot be read.
    Damaged,
}

/// Copies a file line by line; `mask` appends what becomes of a line to the text.
pub(super) fn copy(
    bytes: &mut dyn Read,
    longest: usize,
    out: &mut dyn Write,
    mut mask: impl FnMut(&[u8], &mut String) -> Line,
) -> io::Result<Dropped> {
    let mut lines = LineReader::new(ByteWindow::new(bytes), longest);
    let mut dropped = Dropped::default();
    let mut masked = String::new();
    loop {
        let (line, terminated) = match lines.next_line() {
            Ok(NextLine::Line(line)) => (line.bytes, line.terminated),
            Ok(NextLine::TooLong { .. }) => {
                dropped.too_long += 1;
                out.write_all(DAMAGED)?;
                out.write_all(b"\n")?;
                continue;
            }
            Ok(NextLine::End) => return Ok(dropped),
            Err(_) => {
                dropped.broken_off = true;
                out.write_all(DAMAGED)?;
                return Ok(dropped);
            }
        };
        masked.clear();
        match mask(line, &mut masked) {
            Line::Masked => out.write_all(masked.as_bytes())?,
            Line::Blank => {}
            Line::LeftOut => continue,
            Line::Damaged => {
                dropped.damaged += 1;
                out.write_all(DAMAGED)?;
            }
        }
        if terminated {
            out.write_all(b"\n")?;
        }
    }
}
