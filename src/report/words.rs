//! Turns of phrase that several formats share.

use crate::finding::Finding;

/// "2 findings".
pub(super) fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// "map: one reads 100 MiB". What a message says itself, such as which stage it is about, is not said twice.
pub(super) fn about(finding: &Finding) -> String {
    let subject = finding.subject.name();
    if finding.message.starts_with(subject.as_ref()) {
        return finding.message.clone();
    }
    format!("{subject}: {}", finding.message)
}
