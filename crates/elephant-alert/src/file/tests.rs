use super::*;
use crate::receivers::testing::alert_with;

fn of(text: &str) -> Result<AlertFile, Vec<RuleProblem>> {
    AlertFile::of(RuleFile { name: "alerts.yaml".to_owned(), text: text.to_owned() })
}

/// The problems, as shown.
#[track_caller]
fn problems(text: &str) -> Vec<String> {
    of(text).unwrap_err().iter().map(ToString::to_string).collect()
}

const RECEIVERS: &str =
    "receivers:\n  team: {slack: {url_env: SLACK}}\n  pager: {alertmanager: {url: 'http://am:9093'}}\n";

/// The receivers of an alert by these routes.
fn receivers(routes: &str, alert: &Alert) -> Vec<String> {
    let file = of(&format!("{RECEIVERS}routes: [{routes}]")).unwrap();
    file.receivers_of(alert).map(|receiver| receiver.name.clone()).collect()
}

#[test]
fn an_alert_goes_to_the_receivers_of_all_routes_that_it_fits_once() {
    let mut alert = alert_with("nightly", 1);
    alert.run.queue = Some("prod.etl".to_owned());
    alert.run.user = None;
    let both = |condition: &str| {
        receivers(&format!("{{to: team, {condition}}}, {{to: [pager, team], severity: critical}}"), &alert)
    };
    for condition in [
        "severity: low",
        "severity: severe",
        "queue: prod.*",
        "queue: [test, '/^prod/']",
        "job: nightly",
        "job: 'spark · nightly'",
        "owner: night*",
        "flow: nightly",
        "cluster: nightly",
        "engine: spark",
        "queue: prod.*, owner: nightly",
    ] {
        assert_eq!(both(condition), ["team"], "{condition}");
    }
    for condition in
        ["severity: critical", "queue: prod", "queue: prod.*, owner: other", "user: '*'", "engine: mapreduce"]
    {
        assert!(both(condition).is_empty(), "{condition}");
    }
    alert.severity = Severity::Critical;
    assert_eq!(receivers("{to: pager}, {to: [team, pager]}", &alert), ["team", "pager"]);
}

#[test]
fn routes_send_what_is_severe_unless_they_say_otherwise() {
    let file = of(&format!("{RECEIVERS}routes: [{{to: team}}, {{to: pager, severity: critical}}]")).unwrap();
    assert_eq!((file.least_severity(), file.first_run), (Severity::Severe, Severity::Critical));
    assert_eq!((file.ended_within, file.within), (Millis::new(86_400_000), Millis::new(30_000)));
    let file = of(&format!(
        "{RECEIVERS}routes: [{{to: [team, pager], severity: low}}]\nended_within: 2h\nfirst_run: severe\nwithin: 5s"
    ));
    let file = file.unwrap();
    assert_eq!((file.least_severity(), file.first_run), (Severity::Low, Severity::Severe));
    assert_eq!((file.ended_within, file.within), (Millis::new(7_200_000), Millis::new(5_000)));
}

#[test]
fn all_problems_are_told_at_once_with_their_place_and_what_to_write() {
    let text = "\
receivers:
  team: {slak: {url_env: SLACK}}
  pager:
    alertmanager: {url: 'am:9093', resolve_afer: 1h}
    quiet: 22-07
  mail: {mail: {to: 'Data Team <a@example.com>'}}
routes:
  - {to: pagr, severty: severe, queue: '/(/'}
  - {to: [team, mail], severity: high}
  - {queue: x}
";
    let found = problems(text);
    for expected in [
        "alerts.yaml:2:3: a receiver has one of the keys slack, alertmanager, cloudevents, mail, openlineage",
        "alerts.yaml:2:10: there is no key \"slak\" here",
        "did you mean \"slack\"?",
        "alerts.yaml:4:25: this is no address of a server; write for example http://alertmanager:9093",
        "alerts.yaml:4:36: there is no key \"resolve_afer\" here",
        "did you mean \"resolve_after\"?",
        "alerts.yaml:5:12: \"22-07\" are no quiet hours; write for example 22:00-07:00",
        "alerts.yaml:6:21: \"Data Team <a@example.com>\" is no mail address",
        "alerts.yaml:8:10: there is no receiver \"pagr\"; did you mean \"pager\"?",
        "did you mean \"severity\"?",
        "alerts.yaml:8:40: invalid regular expression",
        "alerts.yaml:9:34: unknown value \"high\"; expected",
        "alerts.yaml:10:5: the route names no receiver",
    ] {
        assert!(found.iter().any(|line| line.contains(expected)), "{expected}\n{found:#?}");
    }
}

#[test]
fn what_is_missing_is_told() {
    for (text, expected) in [
        ("", "the file names no receivers"),
        ("receivers: [a]", "expected receivers by their names, got a list"),
        ("receivers: {team: {slack: {url_env: A}}}", "no route says what receivers get"),
        (
            "receivers: {team: {slack: {url_env: A}}}\nroutes: {to: team}",
            "expected a list of routes, got a mapping",
        ),
        (
            "receivers: {a: {slack: {url_env: A}}, b: {slack: {url_env: A}}}\nroutes: [{to: a}]",
            "no route names this receiver",
        ),
        ("receivers: {a: {cloudevents: {}}}\nroutes: [{to: a}]", "the address is missing"),
        ("receivers: {a: {mail: {from: a@b}}}\nroutes: [{to: a}]", "the mail has no recipient"),
        ("receivers: {'a b': {slack: {url_env: A}}}\nroutes: [{to: 'a b'}]", "a name has letters, digits"),
        (
            "receivers: {a: {slack: {url_env: A}}}\nroutes: [{to: a}]\nwithin: 1h",
            "so long or so short a time",
        ),
        (
            "receivers: {a: {slack: {url_env: A}}}\nroutes: [{to: a}]\n---\nroutes: []",
            "the file has several documents",
        ),
        (
            "receivers: {a: {slack: {url_env: A, url_file: b}}}\nroutes: [{to: a}]",
            "the same is given in two ways",
        ),
    ] {
        let found = problems(text);
        assert!(found.iter().any(|line| line.contains(expected)), "{text}: {found:?}");
    }
}

#[test]
fn secrets_are_not_in_the_file_and_not_in_texts() {
    let found = problems(
        "receivers: {a: {slack: {url: 'https://hooks.slack.com/services/T0/B0/s3cret'}}}\nroutes: [{to: a}]",
    );
    assert!(
        found[0].contains("whoever knows this address can send to it; put it into an environment variable")
    );
    assert!(!found[0].contains("s3cret"));
    let found =
        problems("receivers: {a: {cloudevents: {url: 'https://me:s3cret@example.com'}}}\nroutes: [{to: a}]");
    assert!(
        found[0].contains("the address has a login; remove it") && !found[0].contains("s3cret"),
        "{found:?}"
    );
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("token");
    std::fs::write(&secret, "s3cret\n").unwrap();
    let text = format!(
        "receivers: {{a: {{cloudevents: {{url: 'http://x', token_file: '{}'}}}}}}\nroutes: [{{to: a}}]",
        secret.display()
    );
    let file = of(&text).unwrap();
    assert_eq!(file.receivers[0].endpoint().unwrap().token.as_ref().unwrap().value().unwrap(), "s3cret");
    assert!(!format!("{file:?}").contains("s3cret"));
    std::fs::write(&secret, "two\nlines").unwrap();
    let told = file.check().unwrap_err().to_string();
    assert!(told.contains("is empty, or has several lines") && !told.contains("two"), "{told}");
    std::fs::remove_file(&secret).unwrap();
    let told = file.check().unwrap_err().to_string();
    assert!(
        told.starts_with("the receiver a cannot be used: ")
            && told.ends_with("cannot be read: entity not found"),
        "{told}"
    );
}
