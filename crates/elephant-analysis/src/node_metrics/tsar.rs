//! Output of `tsar --cpu --io --tcp` (`output_print.c` of alibaba/tsar).
//!
//! ```text
//! Time           ---cpu-- ---tcp-- --sda---
//! Time             util   retran     util
//! 21/11/26-10:01  91.20     0.10    12.00
//! MAX             91.20     0.10    12.00
//! ```
//!
//! The first line names modules and devices, padded with dashes to the width of their columns. Times are
//! local. The output does not name its host, so the file name without its extension is used.

use std::ops::Range;
use std::path::Path;

use chrono::NaiveDateTime;

use super::recorder::{Reading, Recorder};
use super::{NodeMetric, Options, sysstat};
use elephant_parse::{Position, Problems};

/// Whether a line is the first line of a header.
pub(super) fn tells_format(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("Time") && words.next().is_some_and(|word| word.starts_with('-'))
}

/// The host from a file name: `node1.example.com` from `node1.example.com.tsar`.
pub(super) fn host_of(path: &Path) -> String {
    const EXTENSIONS: [&str; 4] = ["tsar", "txt", "log", "out"];
    let known = path.extension().and_then(|ending| ending.to_str()).is_some_and(|e| EXTENSIONS.contains(&e));
    let name = if known { path.file_stem() } else { path.file_name() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn read(
    text: &str,
    host: &str,
    options: Options,
    recorder: &mut Recorder,
    problems: &mut Problems,
) {
    let mut groups: Vec<(Range<usize>, &str)> = Vec::new();
    let mut columns: Vec<Option<NodeMetric>> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut words = words(line);
        let Some((_, first)) = words.next() else { continue };
        match first {
            "Time" if tells_format(line) => {
                groups = words.map(|(range, word)| (range, word.trim_matches('-'))).collect();
            }
            "Time" => {
                columns = words.map(|(range, name)| metric_of(group_at(&groups, &range), name)).collect();
            }
            "MAX" | "MEAN" | "MIN" => {}
            time => {
                let values: Vec<&str> = words.map(|(_, word)| word).collect();
                if row(time, &values, &columns, host, options, recorder).is_none() {
                    problems.warn("node-metrics-line", Some(Position::Line(number)), || {
                        "the line does not match the tsar header above it; it was skipped".to_owned()
                    });
                }
            }
        }
    }
}

/// Records the values of a row; `None` if it cannot be read.
fn row(
    time: &str,
    values: &[&str],
    columns: &[Option<NodeMetric>],
    host: &str,
    options: Options,
    recorder: &mut Recorder,
) -> Option<()> {
    let local = NaiveDateTime::parse_from_str(time, "%d/%m/%y-%H:%M:%S")
        .or_else(|_| NaiveDateTime::parse_from_str(&format!("{time}:00"), "%d/%m/%y-%H:%M:%S"))
        .ok()?;
    if values.len() != columns.len() {
        return None;
    }
    let end = options.utc_offset.epoch_ms(local);
    for (value, metric) in values.iter().zip(columns) {
        let Some(metric) = metric else { continue };
        // Dashes mark a missing value.
        if value.bytes().all(|byte| byte == b'-') {
            continue;
        }
        if !recorder.record(host, end, None, Reading::Metric(*metric, number(value)?)) {
            return None;
        }
    }
    Some(())
}

/// Numbers from 1000 have a suffix K, M, G or T, in powers of 1024.
fn number(text: &str) -> Option<f64> {
    let scales = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let scaled = scales.into_iter().find_map(|(suffix, power)| Some((text.strip_suffix(suffix)?, power)));
    let (digits, power) = scaled.unwrap_or((text, 0));
    Some(digits.parse::<f64>().ok()? * f64::from(2u32).powi(power))
}

fn metric_of(group: &str, column: &str) -> Option<NodeMetric> {
    match (group, column) {
        ("cpu", "util") => Some(NodeMetric::CpuUtil),
        ("tcp", "retran") => Some(NodeMetric::NetRetrans),
        (device, "util") if is_device(device) => Some(NodeMetric::DiskUtil),
        _ => None,
    }
}

/// Other modules also have a column `util` (memory, swap, partitions by mount point), so disks are recognised
/// by name.
fn is_device(group: &str) -> bool {
    const DISKS: [&str; 9] = ["sd", "hd", "vd", "xvd", "nvme", "dm-", "md", "mmcblk", "df"];
    DISKS.iter().any(|prefix| group.starts_with(prefix)) && sysstat::is_disk(group)
}

fn group_at<'a>(groups: &[(Range<usize>, &'a str)], column: &Range<usize>) -> &'a str {
    // Column names are right-aligned in columns that start at their group's name.
    groups.iter().rev().find(|(range, _)| range.start < column.end).map_or("", |(_, group)| *group)
}

/// The words of a line with their byte ranges.
fn words(line: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    line.split_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        (start..start + word.len(), word)
    })
}
