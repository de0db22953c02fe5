//! What is printed.

use crate::input::Content;
use crate::measure::{Costs, Row};
use crate::support::Format;

const MEBIBYTE: f64 = (1 << 20) as f64;
/// What a run may take for itself, whatever it reads.
const ALLOWANCE: f64 = 64.0 * MEBIBYTE;

type Column = (&'static str, fn(&Row) -> Option<String>);

const COLUMNS: &[Column] = &[
    ("input", |row| Some(row.content.name())),
    ("threads", |row| Some(row.threads.map_or_else(|| "own".to_owned(), |threads| threads.to_string()))),
    ("MB stored", |row| Some(format!("{:.1}", row.stored_bytes as f64 / 1e6))),
    ("MB", |row| Some(format!("{:.1}", row.bytes as f64 / 1e6))),
    ("tasks", |row| Some(row.content.tasks().to_string())),
    ("CPU s", |row| Some(format!("{:.3}", row.analyze.cpu()?))),
    ("wall s", |row| Some(format!("{:.3}", row.analyze.wall()?))),
    ("CPU s/GB", |row| Some(format!("{:.3}", row.analyze.cpu()? / row.bytes as f64 * 1e9))),
    ("µs/task", |row| Some(format!("{:.2}", row.analyze.cpu()? * 1e6 / f64::from(row.content.tasks())))),
    ("wc CPU s", |row| Some(format!("{:.3}", row.count_lines.cpu()?))),
    ("x wc CPU", |row| ratio(row.analyze.cpu(), row.count_lines.cpu())),
    ("x wc wall", |row| ratio(row.analyze.wall(), row.count_lines.wall())),
    ("x unpack CPU", |row| ratio(row.analyze.cpu(), row.unpack.cpu())),
    ("x unpack wall", |row| ratio(row.analyze.wall(), row.unpack.wall())),
    ("peak MiB", |row| Some(format!("{:.1}", row.analyze.peak_bytes() as f64 / MEBIBYTE))),
    ("baseline MiB", |row| Some(format!("{:.1}", row.baseline_bytes as f64 / MEBIBYTE))),
    ("B/task", |row| {
        let above = row.analyze.peak_bytes().saturating_sub(row.baseline_bytes) as f64;
        Some(format!("{:.0}", above / f64::from(row.content.tasks())))
    }),
    ("B/task over 64 MiB", |row| Some(format!("{:.0}", over_allowance(&row.analyze, row.content.tasks())))),
];

/// Below 0 where the run stayed within the allowance.
fn over_allowance(costs: &Costs, tasks: u32) -> f64 {
    (costs.peak_bytes() as f64 - ALLOWANCE) / f64::from(tasks)
}

fn ratio(time: Option<f64>, other: Option<f64>) -> Option<String> {
    Some(format!("{:.2}", time? / other?))
}

pub(crate) fn print(rows: &[Row]) {
    let head: Vec<String> = COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let cells = |row| COLUMNS.iter().map(|(_, cell)| cell(row).unwrap_or_else(|| "-".to_owned())).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    println!();
    for line in &lines {
        let cells = line.iter().enumerate().map(|(column, cell)| format!("{cell:>w$}", w = width(column)));
        println!("{}", cells.collect::<Vec<_>>().join("  "));
    }
    println!(
        "\nTimes: medians of all runs but a first one. MB: decoded. B/task: peak above that of a history of one \
         task; or above 64 MiB. wc: `wc -l` on the decoded file. unpack: `zstd -dc`, or a decoder of LZ4Block \
         that does nothing else."
    );
}

/// What Hadoop's own parser took for a job of the same shape, written by Hadoop's own writer: measured once,
/// on another machine, as a point of reference.
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
        Content::MapReduce(Format::Hadoop1, _) | Content::Spark(..) => None,
    }
}

/// Per megabyte, since the histories are not of exactly the same size.
pub(crate) fn print_references(rows: &[Row]) {
    println!("\nHadoop's own JobHistoryParser on a job of this shape (measured once, on another machine):");
    for row in rows {
        let (Some(reference), Some(cpu)) = (hadoop_parser(row.content), row.analyze.cpu()) else { continue };
        let megabytes = row.bytes as f64 / 1e6;
        let factor = reference.cpu_seconds / reference.megabytes_read / (cpu / megabytes);
        println!(
            "  {}: {} CPU s and {} GB of memory for {} MB; per MB {factor:.1} times the CPU time of this run",
            row.content.name(),
            reference.cpu_seconds,
            reference.gigabytes,
            reference.megabytes_read,
        );
    }
}
