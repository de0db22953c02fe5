//! Matches logged host names with nodes of the metrics.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::HostMatch;

/// Node names. The index of a node is the index of its name in sorted order.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    names: Vec<String>,
    /// The node with this first DNS label; `None` if several nodes have it.
    by_label: BTreeMap<String, Option<usize>>,
}

impl Hosts {
    /// `names` must be sorted, unique and in lower case.
    #[must_use]
    pub fn new(names: Vec<String>) -> Self {
        let mut by_label = BTreeMap::new();
        for (node, name) in names.iter().enumerate() {
            let Some(label) = first_label(name) else { continue };
            by_label.entry(label.to_owned()).and_modify(|known| *known = None).or_insert(Some(node));
        }
        Self { names, by_label }
    }

    /// The name to compare: host names are case-insensitive, and a trailing dot does not matter.
    #[must_use]
    pub fn normal(host: &str) -> String {
        host.trim().trim_end_matches('.').to_ascii_lowercase()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The node with this name, or the only node with the same first DNS label.
    #[must_use]
    pub fn find(&self, host: &str) -> (HostMatch, Option<usize>) {
        let host = Self::normal(host);
        if let Ok(node) = self.names.binary_search(&host) {
            return (HostMatch::Exact, Some(node));
        }
        match first_label(&host).and_then(|label| self.by_label.get(label)) {
            Some(Some(node)) => (HostMatch::Label, Some(*node)),
            Some(None) => (HostMatch::Ambiguous, None),
            None => (HostMatch::Unknown, None),
        }
    }
}

/// `node1` of `node1.example.com`; `None` for IP addresses.
fn first_label(host: &str) -> Option<&str> {
    if host.parse::<IpAddr>().is_ok() {
        return None;
    }
    host.split('.').next().filter(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &[&str]) -> Hosts {
        Hosts::new(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn a_full_name_ranks_before_a_label() {
        let hosts = hosts(&["node1", "node1.east.example.com", "node2.example.com"]);
        assert_eq!(hosts.find("NODE1"), (HostMatch::Exact, Some(0)));
        assert_eq!(hosts.find("node1.east.example.com."), (HostMatch::Exact, Some(1)));
        assert_eq!(hosts.find("node2"), (HostMatch::Label, Some(2)));
        assert_eq!(hosts.find("node2.other.net"), (HostMatch::Label, Some(2)));
        assert_eq!(hosts.find("node1.west.example.com"), (HostMatch::Ambiguous, None));
        assert_eq!(hosts.find("node3"), (HostMatch::Unknown, None));
        assert_eq!(hosts.find(""), (HostMatch::Unknown, None));
    }

    #[test]
    fn addresses_have_no_labels() {
        let hosts = hosts(&["10.0.0.1", "::1"]);
        assert_eq!(hosts.find("10.0.0.2").0, HostMatch::Unknown);
        assert_eq!(hosts.find("10.0.0.1").0, HostMatch::Exact);
        assert_eq!(hosts.find("::1").0, HostMatch::Exact);
    }
}
