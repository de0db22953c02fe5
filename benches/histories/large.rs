//! Single large logs, compared with other tools on the same file.

use std::fs;
use std::io;
use std::path::Path;

use crate::costs::Costs;
use crate::input::Content;
use crate::markdown::{Table, cpu_ratio, mebibytes, megabytes, per_second, seconds, significant, times};
use crate::tools::Tools;
use crate::trial::{Id, Trials};
use elephant_generate::Format;
use elephant_generate::spark::codec::Codec;

/// The numbers of threads to compare.
pub(crate) const THREADS: [u32; 2] = [1, 2];

/// One log, read with a number of threads.
pub(crate) struct Row {
    content: Content,
    threads: u32,
    /// Uncompressed.
    bytes: u64,
    analyze: Id,
    count_lines: Option<Id>,
    unpack: Option<Id>,
    rewrite_json: Option<Id>,
}

/// Adds the runs for one log.
pub(crate) fn add(content: Content, data: &Path, tools: &Tools, trials: &mut Trials) -> io::Result<Vec<Row>> {
    let (file, plain) = (content.path(data), content.plain().path(data));
    let bytes = fs::metadata(&plain)?.len();
    let rows = THREADS.map(|threads| Row {
        content,
        threads,
        bytes,
        analyze: tools.analyze(vec![file.clone()], threads, trials),
        count_lines: tools.count_lines(&plain, trials),
        unpack: tools.unpack(content, &file, trials),
        rewrite_json: tools.rewrite_json(content, &plain, trials),
    });
    Ok(rows.into())
}

pub(crate) fn table(rows: &[Row], trials: &Trials) -> Table {
    let head = vec![
        "input",
        "MB",
        "threads",
        "CPU s",
        "wall s",
        "MB/s",
        "peak MiB",
        "× `wc -l`",
        "× unpacking",
        "× `jq -c .`",
    ];
    let line = |row: &Row| {
        let analyze = trials.costs(row.analyze);
        let ratio = |other: Option<Id>| times(analyze, other.and_then(|id| trials.costs(id)));
        let runs = analyze.map_or(0, Costs::runs);
        vec![
            row.content.name(),
            megabytes(row.bytes),
            row.threads.to_string(),
            seconds(analyze.and_then(Costs::cpu), runs),
            seconds(analyze.and_then(Costs::wall), runs),
            per_second(row.bytes as f64 / 1e6, analyze),
            mebibytes(analyze.and_then(Costs::peak_bytes)),
            ratio(row.count_lines),
            ratio(row.unpack),
            ratio(row.rewrite_json),
        ]
    };
    Table { head, rows: rows.iter().map(line).collect() }
}

/// Costs of the other tools.
pub(crate) fn table_of_tools(rows: &[Row], trials: &Trials) -> Table {
    let head = vec!["command", "input", "CPU s", "wall s", "runs"];
    let mut lines: Vec<Vec<String>> = Vec::new();
    for row in rows {
        let unpacking = if row.content.codec() == Codec::Lz4 { "LZ4 decoder" } else { "`zstd -d -c`" };
        let plain = row.content.plain().name();
        let others = [
            ("`wc -l`", plain.clone(), row.count_lines),
            (unpacking, row.content.name(), row.unpack),
            ("`jq -c .`", plain, row.rewrite_json),
        ];
        for (command, input, id) in others {
            let Some(costs) = id.and_then(|id| trials.costs(id)) else { continue };
            let line = vec![
                command.to_owned(),
                input,
                seconds(costs.cpu(), costs.runs()),
                seconds(costs.wall(), costs.runs()),
                costs.runs().to_string(),
            ];
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    Table { head, rows: lines }
}

/// One sentence on Spark's plain and zstd logs, read with one thread.
pub(crate) fn summary(rows: &[Row], trials: &Trials) -> String {
    let of = |codec: Codec| {
        rows.iter()
            .find(|row| matches!(row.content, Content::Spark(_, own) if own == codec) && row.threads == 1)
    };
    let Some(plain) = of(Codec::Plain) else { return String::new() };
    let analyze = trials.costs(plain.analyze);
    let ratio = |row: &Row, other: Option<Id>| {
        cpu_ratio(trials.costs(row.analyze), other.and_then(|id| trials.costs(id)))
    };
    let Some(cpu) = analyze.and_then(Costs::cpu) else { return String::new() };
    let size = plain.bytes as f64 / 1e9;
    let mut text = vec![format!(
        "One thread reads an event log of {size:.1} GB in {} CPU seconds",
        significant(cpu.seconds)
    )];
    if let Some(ratio) = ratio(plain, plain.count_lines) {
        text.push(format!(": {} times the CPU time of `wc -l`", significant(ratio)));
    }
    if let Some(ratio) = ratio(plain, plain.rewrite_json) {
        text.push(format!(", and {} % of that of `jq -c .`", significant(ratio * 100.0)));
    }
    if let Some(packed) = of(Codec::Zstd)
        && let Some(cpu) = trials.costs(packed.analyze).and_then(Costs::cpu)
        && let Some(ratio) = ratio(packed, packed.unpack)
    {
        let (cpu, ratio) = (significant(cpu.seconds), significant(ratio));
        text.push(format!(
            "; compressed with zstd it takes {cpu}, {ratio} times the CPU time of `zstd -d` alone"
        ));
    }
    text.concat() + "."
}

/// Cost of Hadoop's own parser for a similar job, written by Hadoop itself: measured once, on another
/// machine, for reference.
struct HadoopParser {
    cpu_seconds: f64,
    gigabytes: f64,
    megabytes_read: f64,
}

const fn hadoop_parser(content: Content) -> Option<HadoopParser> {
    match content {
        Content::MapReduce(Format::AvroJson, _) => {
            Some(HadoopParser { cpu_seconds: 12.7, gigabytes: 2.3, megabytes_read: 683.0 })
        }
        Content::MapReduce(Format::AvroBinary, _) => {
            Some(HadoopParser { cpu_seconds: 9.4, gigabytes: 2.1, megabytes_read: 349.0 })
        }
        Content::MapReduce(Format::Hadoop1, _) | Content::Spark(..) | Content::Recorded(..) => None,
    }
}

/// Compares Hadoop's own parser with these runs, per megabyte, because the files differ in size.
pub(crate) fn references(rows: &[Row], trials: &Trials) -> String {
    let sentence = |row: &Row| {
        let reference = hadoop_parser(row.content).filter(|_| row.threads == 1)?;
        let cpu = trials.costs(row.analyze)?.cpu()?;
        let factor =
            reference.cpu_seconds / reference.megabytes_read / (cpu.seconds / (row.bytes as f64 / 1e6));
        Some(format!(
            "{} CPU seconds and {} GB of memory for {} MB of {}, {factor:.0} times as much time per MB",
            reference.cpu_seconds,
            reference.gigabytes,
            reference.megabytes_read,
            row.content.name().trim_start_matches("MapReduce, "),
        ))
    };
    let sentences: Vec<String> = rows.iter().filter_map(sentence).collect();
    if sentences.is_empty() {
        return String::new();
    }
    format!(
        "Hadoop's own `JobHistoryParser` takes {} (measured once, on another machine).",
        sentences.join(", and ")
    )
}
