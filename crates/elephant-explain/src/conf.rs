//! Configurations of jobs: `job.xml`, with each property on one or several lines (`org.apache.hadoop.conf.Configuration`).

use std::io::Read;

use super::gather::{Gather, Spot};
use elephant_base::limits::Limits;
use elephant_input::window::{ByteWindow, LineReader, NextLine};
use memchr::memmem;

/// Reads the properties that are asked for.
pub(crate) fn read<R: Read>(window: ByteWindow<R>, (file, limits): (usize, &Limits), gather: &mut Gather) {
    let mut lines = LineReader::new(window, limits.line_len());
    let mut open: Option<(String, Spot)> = None;
    while let Ok(NextLine::Line(line)) = lines.next_line() {
        let mut rest = line.bytes;
        loop {
            let tag = if open.is_some() { "value" } else { "name" };
            let Some((at, text, behind)) = element(rest, tag) else { break };
            let passed = (line.bytes.len() - rest.len() + at) as u64;
            rest = behind;
            if let Some((name, spot)) = open.take() {
                gather.setting(spot, name, text);
            } else if gather.asks_setting(&text) {
                open = Some((text, Spot { file, line: Some(line.number), byte: Some(line.offset + passed) }));
            }
        }
    }
}

/// The next element with this tag: where it begins, its text, and what follows.
fn element<'b>(bytes: &'b [u8], tag: &str) -> Option<(usize, String, &'b [u8])> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let at = memmem::find(bytes, open.as_bytes())?;
    let text = bytes.get(at + open.len()..)?;
    let end = memmem::find(text, close.as_bytes())?;
    let inner = String::from_utf8_lossy(text.get(..end)?).trim().to_owned();
    let plain = inner.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    Some((at, plain, text.get(end + close.len()..)?))
}
