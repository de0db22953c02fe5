//! MapReduce recordings as lists of records, and what a report says about them.

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use elephant_input::window::ByteWindow;
use elephant_model::model::conf::Conf;
use elephant_model::model::{Application, Phase};
use elephant_parse::{Parsed, hadoop1, jhist, jobconf};
use elephant_ruleset::RuleSet;

/// How a history is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Hadoop1,
    Json,
    Binary,
}

impl Format {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Hadoop1 => "Hadoop 1",
            Self::Json => "Avro-Json",
            Self::Binary => "Avro-Binary",
        }
    }

    pub(super) fn parse(self, bytes: &[u8]) -> Parsed {
        match self {
            Self::Hadoop1 => hadoop1::parse(ByteWindow::new(bytes)),
            Self::Json => jhist::json::parse(ByteWindow::new(bytes)),
            Self::Binary => jhist::avro::parse(ByteWindow::new(bytes)),
        }
    }
}

/// A history of a finished job without problems, with the places of its records.
pub(super) struct Recording {
    pub name: String,
    pub format: Format,
    pub bytes: Vec<u8>,
    pub records: Vec<Range<usize>>,
    conf: Option<Conf>,
}

/// What a report says of a history.
pub(super) struct View {
    pub complete: bool,
    /// The rules that were not evaluated, and the codes of problems.
    warnings: Vec<String>,
    /// Status, costs, counts, phases and findings.
    pub facts: String,
}

impl View {
    /// Whether the reports differ and this one does not say so.
    pub(super) fn hides_a_change_from(&self, whole: &Self) -> bool {
        self.facts != whole.facts
            && self.complete
            && self.warnings.iter().all(|new| whole.warnings.contains(new))
    }
}

pub(super) fn rules() -> &'static RuleSet {
    static RULES: OnceLock<RuleSet> = OnceLock::new();
    RULES.get_or_init(|| RuleSet::new(elephant_heuristics::BUILT_IN).unwrap())
}

impl Recording {
    fn read(path: &Path) -> Option<Self> {
        let mut bytes = std::fs::read(path).ok()?;
        if bytes.starts_with(b"\x1f\x8b") {
            let packed = std::mem::take(&mut bytes);
            flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut bytes).ok()?;
        }
        let format = if bytes.starts_with(b"Avro-Binary") {
            Format::Binary
        } else if bytes.starts_with(b"Avro-Json") {
            Format::Json
        } else if hadoop1::looks_like_history(&bytes) {
            Format::Hadoop1
        } else {
            return None;
        };
        let records = match format {
            Format::Binary => jhist::avro::event_ranges(&bytes),
            _ => lines(&bytes)
                .into_iter()
                .filter(|line| format != Format::Hadoop1 || hadoop1::looks_like_history(&bytes[line.clone()]))
                .filter(|line| format != Format::Json || bytes[line.clone()].starts_with(b"{\"type\":\""))
                .filter(|line| !bytes[line.clone()].starts_with(b"{\"type\":\"record\""))
                .filter(|line| {
                    !bytes[line.clone()].starts_with(b"!!") && !bytes[line.clone()].starts_with(b"Meta ")
                })
                .collect(),
        };
        let name = path.file_name()?.to_string_lossy().into_owned();
        let conf = conf_next_to(path);
        let recording = Self { name, format, bytes, records, conf };
        let parsed = format.parse(&recording.bytes);
        let good = parsed.applications.iter().all(|app| app.complete) && parsed.problems.is_empty();
        (good && recording.records.len() > 4).then_some(recording)
    }

    /// The history without some of its records.
    pub(super) fn without(&self, lost: Range<usize>) -> Vec<u8> {
        let lost = &self.records[lost];
        let (first, last) = (lost.first().unwrap(), lost.last().unwrap());
        let mut bytes = self.bytes[..first.start].to_vec();
        for pair in lost.windows(2) {
            bytes.extend_from_slice(&self.bytes[pair[0].end..pair[1].start]);
        }
        bytes.extend_from_slice(&self.bytes[last.end..]);
        bytes
    }

    /// The kind of a record, as text.
    pub(super) fn kind(&self, record: usize) -> String {
        let bytes = &self.bytes[self.records[record].clone()];
        let text = String::from_utf8_lossy(bytes);
        match self.format {
            Format::Json => text.split('"').nth(3).unwrap_or_default().to_owned(),
            Format::Binary => format!("event {}", bytes[0] / 2),
            Format::Hadoop1 => {
                let after = |key: &str| text.split_once(key).and_then(|(_, rest)| rest.split('"').next());
                let word = text.split(' ').next().unwrap_or_default();
                let told =
                    after("STATUS=\"").or_else(|| after(" START_TIME=").map(|_| "START")).unwrap_or_default();
                format!("{word} {} {told}", after("TASK_TYPE=\"").unwrap_or_default())
            }
        }
    }

    /// What a report says of this history, or of a damaged form of it.
    pub(super) fn view(&self, bytes: &[u8]) -> View {
        let Parsed { mut applications, problems, .. } = self.format.parse(bytes);
        let mut view = View { complete: true, warnings: Vec::new(), facts: String::new() };
        view.warnings.extend(problems.into_vec().into_iter().map(|problem| problem.code.into_owned()));
        for app in &mut applications {
            if let Some(conf) = &self.conf {
                app.conf = conf.clone();
            }
            view.add(app);
        }
        view
    }
}

impl View {
    fn add(&mut self, app: &Application) {
        let metrics = rules().measure(app);
        let evaluation = rules().evaluate(app);
        self.complete &= app.complete;
        self.warnings.extend(evaluation.not_evaluated.iter().map(|reason| reason.rule.to_string()));
        let findings: Vec<String> = evaluation
            .findings
            .iter()
            .map(|found| {
                format!(
                    "{} {:?} {:?} {} {}",
                    found.rule, found.subject, found.severity, found.score, found.message
                )
            })
            .collect();
        let facts = format!(
            "{} {:?} {:?} {:?} {:?} {metrics:?} {:?} {findings:?}",
            app.id,
            app.status,
            app.submitted_at,
            app.launched_at,
            app.finished_at,
            Phase::all(app)
        );
        self.facts.push_str(&facts);
    }
}

fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let of = |line: &[u8]| {
        let range = start..start + line.len();
        start = range.end;
        range
    };
    bytes.split_inclusive(|&byte| byte == b'\n').map(of).collect()
}

/// The configuration that Hadoop writes next to a history.
fn conf_next_to(path: &Path) -> Option<Conf> {
    let folder = std::fs::read_dir(path.parent()?).ok()?;
    let name = path.file_name()?.to_str()?;
    let job = name.split(['-', '.']).next()?;
    let of_job = |file: &PathBuf| {
        let file = file.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        file.starts_with(job) && file.ends_with("_conf.xml")
    };
    let file = folder.filter_map(|entry| Some(entry.ok()?.path())).find(of_job)?;
    Some(jobconf::parse(std::fs::read(file).ok()?).0)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The good MapReduce histories of `testdata`, and of the shared recordings and corpus if they are there.
pub(super) fn recordings() -> Vec<Recording> {
    let here = elephant_testing::root();
    let shared = std::env::var_os("ELEPHANT_SHARED").map_or_else(|| here.join("../shared"), PathBuf::from);
    let folders = ["testdata/done", "testdata/hadoop1"].map(|folder| here.join(folder));
    let of_shared = ["runs/hadoop-2.7.3", "runs/hadoop-2.7.3-avro-binary", "runs/hadoop-synthetic-avro-json"]
        .into_iter()
        .chain(["runs/hadoop-synthetic-avro-binary", "corpus/hadoop1-history", "corpus/mr-jhist"]);
    let mut found = Vec::new();
    for folder in folders.into_iter().chain(of_shared.map(|folder| shared.join(folder))) {
        files(&folder, &mut found);
    }
    found.iter().filter_map(|path| Recording::read(path)).collect()
}
