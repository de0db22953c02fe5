//! Declared types of nodes, from a file of the user.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::indicators::Node;
use elephant_analysis::node_metrics::Hosts;
use elephant_base::address::Address;
use elephant_base::stats::box_plot::BoxPlot;
use elephant_base::units::Bytes;
use elephant_input::codec;
use elephant_input::kind::SourceKind;
use elephant_input::trace_table::TraceTable;
use elephant_parse::{Position, Problem, Problems, identify};

/// Larger files are not read. The machines of Google's trace take 3 MB.
const MAX_LEN: Bytes = Bytes::from_mib(64);

/// A file with the types of nodes cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeTypesError {
    /// The file cannot be read.
    #[error("cannot read node types from {}: {source}", Address::of(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A line has no type.
    #[error(
        "{}:{line}: \"{text}\" is not a host and its type; write a host, a comma and a type, such as node1,r5.4xlarge",
        Address::of(path)
    )]
    NoType {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The line's text.
        text: String,
    },
    /// No line has a type.
    #[error(
        "{} has no host with a type; write a host, a comma and a type in each line, such as node1,r5.4xlarge",
        Address::of(path)
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A host has two types.
    #[error("{}:{line}: {host} has another type in an earlier line; delete one of them", Address::of(path))]
    Twice {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The host.
        host: String,
    },
}

/// The types of hosts.
#[derive(Debug, Clone, Default)]
pub struct NodeTypes {
    hosts: Hosts,
    /// In the order of the hosts.
    types: Vec<Box<str>>,
    problems: Vec<Problem>,
}

impl NodeTypes {
    /// Reads a file, or a folder of files, with a host and its type in each line, separated by a comma or blanks. Empty lines, lines that begin with
    /// `#`, and a first line `node,type` do not count. The tables of machines of Google's trace of 2011 and Alibaba's of 2018
    /// are read, too, also compressed; a machine's type is its capacity, and lines of other forms are skipped, with a problem.
    ///
    /// # Errors
    /// The file cannot be read or is larger than 64 MiB, no line has a type, a line of a file that is not a
    /// trace's table has no type, or a host has two types.
    pub fn read(path: &Path) -> Result<Self, NodeTypesError> {
        let text =
            text(path).map_err(|source| NodeTypesError::Unreadable { path: path.to_owned(), source })?;
        let types = match identify(text.as_bytes(), true) {
            Some(SourceKind::Trace(TraceTable::GoogleMachines)) => Self::of_machines(&text, google),
            Some(SourceKind::Trace(TraceTable::Alibaba2018Machines)) => Self::of_machines(&text, alibaba),
            _ => Self::parse(&text, path)?,
        };
        if types.types.is_empty() {
            return Err(NodeTypesError::Empty { path: path.to_owned() });
        }
        Ok(types)
    }

    /// The lines that could not be read.
    #[doc(hidden)]
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter()
    }

    /// The machines of a trace. Their capacity may change; the last line counts.
    fn of_machines(text: &str, machine: fn(&[&str]) -> Machine) -> Self {
        let mut types = BTreeMap::new();
        let mut problems = Problems::default();
        for (number, line) in (1..).zip(text.lines()) {
            let row: Vec<&str> = line.trim_end().split(',').collect();
            match machine(&row) {
                Machine::Has(host, kind) => {
                    types.insert(Hosts::normal(&host), kind.into());
                }
                Machine::HasNoCapacity => {}
                Machine::Unreadable => problems.warn("node-types-line", Some(Position::Line(number)), || {
                    "the line is no row of a table of machines; it was skipped".to_owned()
                }),
            }
        }
        Self { problems: problems.into_vec(), ..Self::of(types) }
    }

    fn of(types: BTreeMap<String, Box<str>>) -> Self {
        let (hosts, types): (Vec<String>, Vec<Box<str>>) = types.into_iter().unzip();
        Self { hosts: Hosts::new(hosts), types, problems: Vec::new() }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, NodeTypesError> {
        let mut types: BTreeMap<String, Box<str>> = BTreeMap::new();
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        for (place, (number, line)) in lines.enumerate() {
            let (path, line_number) = (path.to_owned(), number + 1);
            let parts = line.split_once(',').or_else(|| line.split_once(char::is_whitespace));
            let parts = parts.map(|(host, kind)| (Hosts::normal(host), kind.trim()));
            let Some((host, kind)) = parts.filter(|(host, kind)| !host.is_empty() && !kind.is_empty()) else {
                return Err(NodeTypesError::NoType { path, line: line_number, text: line.to_owned() });
            };
            if place == 0 && host == "node" && kind == "type" {
                continue;
            }
            let known = types.insert(host.clone(), kind.into());
            if known.is_some_and(|known| &*known != kind) {
                return Err(NodeTypesError::Twice { path, line: line_number, host });
            }
        }
        Ok(Self::of(types))
    }

    /// The type of a host, by its name or by its first DNS label.
    #[must_use]
    pub(crate) fn of_host(&self, host: &str) -> Option<&str> {
        let (_, place) = self.hosts.find(host);
        self.types.get(place?).map(|kind| &**kind)
    }
}

/// The text of a file, compressed or not, or of all files in a folder, such as the parts of Google's `machine_events`.
fn text(path: &Path) -> io::Result<String> {
    if !path.is_dir() {
        return add_text(String::new(), path);
    }
    let mut parts = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    parts.retain(|part| part.is_file());
    parts.sort();
    parts.iter().try_fold(String::new(), |text, part| add_text(text, part))
}

/// Adds a line break, if there is none, and the text of a file to `text`.
fn add_text(mut text: String, path: &Path) -> io::Result<String> {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let room = MAX_LEN.get().saturating_sub(text.len() as u64);
    if codec::open(path)?.take(room.saturating_add(1)).read_to_string(&mut text)? as u64 > room {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {MAX_LEN}")));
    }
    Ok(text)
}

/// The contents of a line of a table of machines.
enum Machine {
    /// A host and its type.
    Has(String, String),
    /// The machine has left, or its capacity is unknown.
    HasNoCapacity,
    /// The line has another form.
    Unreadable,
}

/// A line of Google's `machine_events`: time, machine, event, platform, CPUs, memory; the capacities are shares of the largest
/// machine's.
fn google(row: &[&str]) -> Machine {
    let &[_, machine, _, platform, cpus, memory] = row else { return Machine::Unreadable };
    if cpus.is_empty() || memory.is_empty() {
        return Machine::HasNoCapacity;
    }
    // A platform is a hash.
    let platform: String = platform.chars().take(6).collect();
    Machine::Has(machine.to_owned(), format!("CPU {cpus}, memory {memory}, platform {platform}"))
}

/// A line of Alibaba's `machine_meta`: machine, time, two failure domains, CPUs, memory, status.
fn alibaba(row: &[&str]) -> Machine {
    let &[machine, _, _, _, cpus, memory, _] = row else { return Machine::Unreadable };
    if cpus.is_empty() {
        return Machine::HasNoCapacity;
    }
    Machine::Has(machine.to_owned(), format!("{cpus} CPUs, memory {memory}"))
}

/// The nodes with something in common: a rack, or a type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NodeGroup {
    /// Its name.
    pub name: Box<str>,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of tasks they ran.
    pub tasks: u64,
    /// The mean z-score of these tasks.
    pub mean: Option<f64>,
    /// The share of these tasks that were stragglers.
    pub straggler_share: Option<f64>,
    /// The mean z-scores of its nodes, each node counted once (S1, figure 6a).
    pub means: Option<BoxPlot>,
    /// The probabilities of an extreme value on its nodes, where they are known (S1, figure 6b).
    pub extreme_values: Option<BoxPlot>,
}

/// What is known of the nodes of a group.
#[derive(Default)]
struct Members {
    tasks: u64,
    stragglers: u64,
    /// The sum of all z-scores.
    sum: f64,
    means: Vec<f64>,
    extreme_values: Vec<f64>,
}

impl NodeGroup {
    /// The groups by name. Nodes without a name are left out.
    pub(super) fn by<'n>(nodes: &'n [Node], name: impl Fn(&'n Node) -> Option<&'n str>) -> Vec<Self> {
        let mut groups: BTreeMap<&str, Members> = BTreeMap::new();
        for node in nodes {
            let (Some(name), Some(mean)) = (name(node), node.mean) else { continue };
            let group = groups.entry(name).or_default();
            group.tasks += node.tasks;
            group.stragglers += node.stragglers;
            group.sum += mean * node.tasks as f64;
            group.means.push(mean);
            group.extreme_values.extend(node.extreme_value);
        }
        groups.into_iter().map(|(name, members)| members.group(name)).collect()
    }
}

impl Members {
    fn group(self, name: &str) -> NodeGroup {
        let Self { tasks, stragglers, sum, means, extreme_values } = self;
        NodeGroup {
            name: name.into(),
            nodes: means.len() as u64,
            tasks,
            mean: (tasks > 0).then(|| sum / tasks as f64),
            straggler_share: (tasks > 0).then(|| stragglers as f64 / tasks as f64),
            means: BoxPlot::of(means),
            extreme_values: BoxPlot::of(extreme_values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<NodeTypes, NodeTypesError> {
        NodeTypes::parse(text, Path::new("types.csv"))
    }

    #[test]
    fn hosts_and_types_are_separated_by_commas_or_blanks() {
        let types = parse("node,type\n# old machines\nN1.example.com, r5\n\nn2\tr6 large\n").unwrap();
        assert_eq!(
            (types.of_host("n1"), types.of_host("n1.example.com."), types.of_host("n2.other")),
            (Some("r5"), Some("r5"), Some("r6 large"))
        );
        assert_eq!(types.of_host("n3"), None);
        assert_eq!(parse("").unwrap().of_host("n1"), None);
    }

    #[test]
    fn tables_of_machines_are_types() {
        let types = |text: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            NodeTypes::read(file.path()).unwrap()
        };
        // The machine's memory grows; a machine that leaves has no capacity.
        let google = types(
            "0,5,0,HofLGzk1Or/8=,0.5,0.2493\n0,6,0,HofLGzk1Or/8=,0.5,0.2493\n7000000,5,2,HofLGzk1Or/8=,0.5,0.749\n\
             9000000,6,1,HofLGzk1Or/8=,,\n",
        );
        assert_eq!(google.of_host("5"), Some("CPU 0.5, memory 0.749, platform HofLGz"));
        assert_eq!(google.of_host("6"), Some("CPU 0.5, memory 0.2493, platform HofLGz"));
        assert_eq!(google.problems().count(), 0);
        let alibaba = types("m_1,0,37,37,96,100,USING\nm_2,0,37,37,64,50,USING\nm_3,0,37\nm_3,\n");
        let found: Vec<_> = alibaba.problems().map(|it| (&*it.code, it.position, it.count)).collect();
        assert_eq!(found, [("node-types-line", Some(Position::Line(3)), 2)]);
        assert_eq!(
            (alibaba.of_host("m_1"), alibaba.of_host("m_2"), alibaba.of_host("m_3")),
            (Some("96 CPUs, memory 100"), Some("64 CPUs, memory 50"), None)
        );
    }

    #[test]
    fn mistakes_name_the_line() {
        let message = |text| parse(text).unwrap_err().to_string();
        assert!(message("n1,a\nn2\n").starts_with("types.csv:2: \"n2\" is not a host and its type"));
        assert!(message("n1,\n").starts_with("types.csv:1:"));
        assert!(message("n1,a\nN1,b\n").starts_with("types.csv:2: n1 has another type"));
        assert!(parse("n1,a\nn1,a\n").is_ok());
    }

    #[test]
    fn a_file_without_a_type_is_a_mistake() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for text in ["", "\n# nothing\n", "node,type\n"] {
            std::fs::write(file.path(), text).unwrap();
            let error = NodeTypes::read(file.path()).unwrap_err();
            assert!(matches!(error, NodeTypesError::Empty { .. }), "{text:?}: {error}");
        }
    }

    #[test]
    fn the_parts_of_a_folder_are_one_table() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("part-00001"), "n2,small\n").unwrap();
        std::fs::write(folder.path().join("part-00000"), "n1,large").unwrap();
        std::fs::create_dir(folder.path().join("other")).unwrap();
        let types = NodeTypes::read(folder.path()).unwrap();
        assert_eq!((types.of_host("n1"), types.of_host("n2")), (Some("large"), Some("small")));
    }
}
