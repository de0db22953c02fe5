//! Receivers that work, and receivers that do not: with real sockets and programs.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::receivers::testing::alert_with;
use elephant_base::severity::Severity;
use elephant_rule::params::RuleFile;
use elephant_store::Place;

pub(super) const HOUR: i64 = 3_600_000;
/// A midnight.
pub(super) const MIDNIGHT: i64 = 20_000 * 24 * HOUR;

pub(super) fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(MIDNIGHT + ms)
}

pub(super) struct Stored {
    pub(super) store: Store,
    pub(super) folder: TempDir,
}

impl Stored {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&Place::File(folder.path().join("x.db"))).unwrap();
        Self { store, folder }
    }

    /// The file with a receiver of mail whose program is a shell with this script.
    pub(super) fn mail(&self, script: &str, more: &str) -> AlertFile {
        let script = script.replace("MAILS", self.folder.path().join("mails").to_str().unwrap());
        file(
            &format!("team: {{mail: {{to: a@example.com, command: [/bin/sh, -c, '{script}', sh]}}{more}}}"),
            "team",
        )
    }

    /// How many mails arrived.
    pub(super) fn mails(&self) -> usize {
        let mails = std::fs::read_to_string(self.folder.path().join("mails")).unwrap_or_default();
        mails.matches("Subject: ").count()
    }
}

/// A file with this receiver, which gets everything.
pub(super) fn file(receivers: &str, to: &str) -> AlertFile {
    let text = format!("receivers:\n  {receivers}\nroutes: [{{to: [{to}], severity: low}}]\nwithin: 5s\n");
    AlertFile::of(RuleFile { name: "alerts.yaml".to_owned(), text }).unwrap()
}

const KEEP: &str = "cat >> MAILS";

#[test]
fn a_mail_is_read_by_its_program() {
    let stored = Stored::new();
    let file = stored.mail(KEEP, "");
    let delivered = deliver(&stored.store, &file, &[alert_with("etl", 1)], at(0)).unwrap();
    assert_eq!((delivered, stored.mails()), (Delivered { sent: 1, ..Delivered::default() }, 1));
}

#[test]
fn a_program_that_hangs_is_killed_and_one_that_fails_is_tried_again() {
    let stored = Stored::new();
    let begun = Instant::now();
    let hung =
        deliver(&stored.store, &stored.mail("exec sleep 100", ""), &[alert_with("etl", 1)], at(0)).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    let expected =
        "team: /bin/sh does not end in time, and was killed; 1 alert waits for the next turn, at most a day";
    assert_eq!(hung.warnings, [expected]);
    let failed = deliver(&stored.store, &stored.mail("exit 75", ""), &[], at(HOUR)).unwrap();
    assert_eq!((failed.sent, failed.waiting), (0, 1));
    assert!(failed.warnings[0].starts_with("team: /bin/sh ends with status 75; 1 alert waits"), "{failed:?}");
    let works = deliver(&stored.store, &stored.mail(KEEP, ""), &[], at(2 * HOUR)).unwrap();
    assert_eq!((works.sent, works.waiting, stored.mails()), (1, 0, 1));
}

#[test]
fn a_message_that_a_program_refuses_is_dropped() {
    let stored = Stored::new();
    let refused =
        deliver(&stored.store, &stored.mail("exit 65", ""), &[alert_with("etl", 1)], at(0)).unwrap();
    let expected = "team: an alert on spark · etl was refused and is dropped: /bin/sh ends with status 65";
    assert_eq!((refused.waiting, refused.warnings), (0, vec![expected.to_owned()]));
}

#[test]
fn what_cannot_be_sent_for_a_day_is_dropped() {
    let stored = Stored::new();
    deliver(&stored.store, &stored.mail("exit 1", ""), &[alert_with("etl", 1)], at(0)).unwrap();
    let next = deliver(&stored.store, &stored.mail(KEEP, ""), &[], at(24 * HOUR + 1)).unwrap();
    assert_eq!((next.sent, next.waiting, stored.mails()), (0, 0, 0));
    assert_eq!(next.warnings, ["an alert that could not be sent for a day is dropped"]);
}

#[test]
fn what_falls_into_quiet_hours_is_sent_at_their_end() {
    let stored = Stored::new();
    let file = stored.mail(KEEP, ", quiet: 22:00-07:00");
    let deliver =
        |alerts: &[Alert], hour: i64| deliver(&stored.store, &file, alerts, at(hour * HOUR)).unwrap();
    assert_eq!(deliver(&[alert_with("etl", 1)], 23).waiting, 1);
    // After midnight, a worse one takes its place.
    let worse = Alert { severity: Severity::Critical, ..alert_with("etl", 1) };
    assert_eq!(deliver(&[worse], 30).waiting, 1);
    assert_eq!((deliver(&[], 30).sent, stored.mails()), (0, 0));
    assert_eq!((deliver(&[], 31).sent, stored.mails()), (1, 1));
    let text = std::fs::read_to_string(stored.folder.path().join("mails")).unwrap();
    assert!(text.contains("Subject: [elephant-rs] critical: "), "{text}");
}

#[test]
fn what_was_not_accepted_before_quiet_hours_waits_for_their_end() {
    let stored = Stored::new();
    deliver(&stored.store, &stored.mail("exit 1", ""), &[alert_with("etl", 1)], at(21 * HOUR)).unwrap();
    let file = stored.mail(KEEP, ", quiet: 22:00-07:00");
    assert_eq!(deliver(&stored.store, &file, &[], at(22 * HOUR)).unwrap().sent, 0);
    assert_eq!(deliver(&stored.store, &file, &[], at(31 * HOUR)).unwrap().sent, 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Turns in any distance, with alerts on any jobs, of any severity, and a receiver that works now and then.
    #[test]
    fn a_receiver_gets_at_most_one_message_a_job_and_day(
        turns in prop::collection::vec((0_i64..14, prop::bool::weighted(0.7), prop::collection::vec((0_u8..3, 1_usize..5), 0..4)), 1..10)
    ) {
        let stored = Stored::new();
        let works = stored.mail(KEEP, ", quiet: 22:00-07:00");
        let fails = "team: {mail: {to: a@example.com, command: [/no/such/program]}, quiet: 22:00-07:00}";
        let fails = file(fails, "team");
        let (mut hours, mut seen) = (0, std::collections::BTreeMap::new());
        for (later, is_up, found) in turns {
            hours += later;
            let alerts: Vec<Alert> = found.iter().map(|(job, severity)| {
                Alert { severity: Severity::ALL[*severity], ..alert_with(&format!("job{job}"), 1) }
            }).collect();
            let before = stored.mails();
            let delivered = deliver(&stored.store, if is_up { &works } else { &fails }, &alerts, at(hours * HOUR)).unwrap();
            prop_assert_eq!(u64::try_from(stored.mails() - before).unwrap(), delivered.sent);
            let text = std::fs::read_to_string(stored.folder.path().join("mails")).unwrap_or_default();
            for subject in text.lines().filter(|line| line.starts_with("Subject: ")).skip(before) {
                let job = subject.rsplit('(').next().unwrap().to_owned();
                *seen.entry((job, hours.div_euclid(24))).or_insert(0) += 1;
            }
        }
        prop_assert!(seen.values().all(|count| *count == 1), "{:?}", seen);
    }
}
