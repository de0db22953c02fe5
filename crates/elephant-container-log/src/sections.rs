//! The parts of the text that `yarn logs` prints, and of pages of the node manager: one for each stream of each container.

/// A header line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Header {
    /// `Container: <id> on <node>`.
    Container(String),
    /// `LogType:stderr`.
    LogType(String),
    /// `LogLength:4096`: bytes.
    Length(u64),
    /// `LogContents:`.
    Contents,
    /// `End of LogType:stderr`.
    End,
    /// Another line of a header.
    Other,
}

/// What a line outside of a log's text is.
pub(crate) fn header(line: &str) -> Option<Header> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("Container: ") {
        let (id, _) = rest.split_once(" on ").unwrap_or((rest, ""));
        return id.starts_with("container_").then(|| Header::Container(id.trim().to_owned()));
    }
    if line.starts_with("End of LogType:") {
        return Some(Header::End);
    }
    if let Some(value) = value(line, ["LogType:", "Log Type:"]) {
        // Newer versions add the state: `LogType:stderr.This log file belongs to a running container (…)`.
        let name = value.split(".This ").next().unwrap_or(value);
        return Some(Header::LogType(super::chain::prefix(name.trim(), 100).to_owned()));
    }
    if let Some(value) = value(line, ["LogLength:", "Log Length:"]) {
        return Some(value.trim().parse().map_or(Header::Other, Header::Length));
    }
    if value(line, ["LogContents:", "Log Contents:"]).is_some() {
        return Some(Header::Contents);
    }
    let is_other = value(line, ["LogAggregationType:", "Log Aggregation Type:"]).is_some()
        || value(line, ["LogLastModifiedTime:", "Log Upload Time:"]).is_some()
        || (line.len() > 20 && line.bytes().all(|byte| byte == b'='));
    is_other.then_some(Header::Other)
}

fn value<'l>(line: &'l str, names: [&str; 2]) -> Option<&'l str> {
    names.iter().find_map(|name| line.strip_prefix(name))
}

/// How much of a stream a page shows: `Showing 4096 bytes of 146294 total. Click here for the full log.`
pub(crate) fn shown(line: &str) -> Option<(u64, u64)> {
    let rest = line.trim().strip_prefix("Showing ")?;
    let (shown, rest) = rest.split_once(" bytes of ")?;
    let total = rest.split_once(" total")?.0;
    Some((shown.trim().parse().ok()?, total.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_versions_are_known() {
        let id = "container_e42_1576097000949_30598_01_000013";
        assert_eq!(header(&format!("Container: {id} on host_45454")), Some(Header::Container(id.to_owned())));
        assert_eq!(header("LogType:stderr"), Some(Header::LogType("stderr".to_owned())));
        assert_eq!(
            header("        Log Type: amstderr.log"),
            Some(Header::LogType("amstderr.log".to_owned()))
        );
        assert_eq!(header("LogLength:146294"), Some(Header::Length(146_294)));
        assert_eq!(header("Log Length: x"), Some(Header::Other));
        assert_eq!(
            (header("Log Contents:"), header("End of LogType:stderr")),
            (Some(Header::Contents), Some(Header::End))
        );
        assert_eq!(header("Container: I am not"), None);
        assert_eq!(header("23/06/08 19:24:12 INFO LogType: x"), None);
        assert_eq!(shown("  Showing 4096 bytes of 146294 total. Click"), Some((4096, 146_294)));
        assert_eq!(shown("Showing off"), None);
    }
}
