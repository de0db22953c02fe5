//! Alerts for tests.

use crate::{Alert, Change, FoundBy, Identity, Lineage, News, Run};
use elephant_base::severity::Severity;

/// Signs that mean something to receivers, to terminals or in headers.
pub(crate) const HOSTILE: &str = "<!channel> <@U1> <https://evil.example|x> &amp; *b* `c` @here https://evil.example \
                                  =?UTF-8?Q?x?=\r\nBcc: a@evil.example\n.\n\u{1b}[2J\u{202e}\u{0} ä 𝄞";

/// An alert on a run with this name, of which every text is `text`.
pub(crate) fn alert_with(text: &str, troubles: usize) -> Alert {
    let some = || Some(text.to_owned());
    let news = News {
        change: Change::Worse,
        kind: text.to_owned(),
        severity: Severity::Severe,
        title: text.to_owned(),
        cause: text.to_owned(),
        advice: some(),
        settings: vec![text.to_owned()],
        saves: some(),
        application: text.to_owned(),
        runs: 2,
        findings: vec![FoundBy {
            rule: "spark-skew".to_owned(),
            subject: text.to_owned(),
            severity: Severity::Severe,
            accepted_severity: Some(Severity::Low),
            change: "worse".to_owned(),
            fingerprint: "0123456789abcdef".to_owned(),
        }],
        trouble: serde_json::json!({ "id": text }),
    };
    let identity = Identity {
        scheduler: "airflow".to_owned(),
        job: some(),
        flow: some(),
        run: some(),
        task: some(),
        owner: some(),
        link: some(),
    };
    Alert {
        job: format!("spark · {text}"),
        severity: Severity::Severe,
        run: Run {
            id: text.to_owned(),
            attempt: some(),
            name: some(),
            user: some(),
            queue: some(),
            cluster: some(),
            engine: "spark".to_owned(),
            status: "succeeded".to_owned(),
            submitted_at: Some("2026-11-28T10:00:00.000Z".to_owned()),
            finished_at: Some("2026-11-28T10:30:00.000Z".to_owned()),
            runtime_ms: Some(1_800_000),
            resource_used_gb_hours: Some(12.5),
            resource_wasted_gb_hours: None,
            identity: Some(identity),
            lineage: None,
            link: Some("https://e.example.com/application/app%2D1".to_owned()),
        },
        troubles: vec![news; troubles],
    }
}

/// The same of Spark's integration with lineage, which knows its run.
pub(crate) fn with_lineage(alert: Alert, lineage: Lineage) -> Alert {
    Alert { run: Run { lineage: Some(lineage), ..alert.run }, ..alert }
}
