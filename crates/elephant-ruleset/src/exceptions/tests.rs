use super::*;

fn problems(text: &str) -> Vec<String> {
    let file = Arc::new(RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() });
    let mut problems = Problems::default();
    let mut rules = Vec::new();
    for node in documents(&file.text).0 {
        if let NodeKind::Map(entries) = &node.kind {
            rules.extend(read::document(&file, entries, true, &mut problems));
        }
    }
    check(&rules, &mut problems);
    problems.into_vec(&[file]).iter().map(ToString::to_string).collect()
}

const LOCK: &str = "\
exceptions:
  - kind: hive-lock
    priority: 20
    source: [driver, am]
    regex: 'Lock acquisition for \\S+ timed out after (?P<ms>\\d+)ms'
    match: cause
    fault: platform
    severity: severe
    remedy: 'waited {ms} ms; raise hive.lock.numretries'
    example: 'Lock acquisition for q1 timed out after 5000ms'
    not: 'Lock released'
";

#[test]
fn a_rule_of_the_user_is_read_and_comes_first() {
    assert_eq!(problems(LOCK), Vec::<String>::new());
    let file = Arc::new(RuleFile { name: "own.yaml".to_owned(), text: LOCK.to_owned() });
    let mut problems = Problems::default();
    let NodeKind::Map(entries) = documents(&file.text).0.remove(0).kind else { unreachable!() };
    let own = read::document(&file, &entries, true, &mut problems);
    let classifier = classifier(&own);
    let told = classifier.example("Lock acquisition for q1 timed out after 5000ms").unwrap();
    assert_eq!(
        (told.kind.name.as_str(), told.rule, told.facts),
        ("hive-lock", Some(0), vec![("ms".to_owned(), "5000".to_owned())])
    );
    assert_eq!(
        (told.kind.fault, told.kind.at_most.clone(), told.kind.is_custom),
        (Fault::Platform, Some((Severity::Severe, "own.yaml:8".to_owned())), true)
    );
}

#[test]
fn mistakes_have_their_line_and_column() {
    for (from, to, expected) in [
        ("priority", "prioriti", "own.yaml:3:5: a rule of exceptions has no key \"prioriti\""),
        (
            "Lock released",
            "Lock acquisition for q timed out after 1ms",
            "own.yaml:11:10: the expression matches this text, which it must not",
        ),
        ("for q1 timed", "for q1 ended", "own.yaml:10:14: the expression does not match this example"),
        ("platform", "plattform", "own.yaml:7:12: unknown fault \"plattform\""),
        ("[driver, am]", "[driver, ma]", "own.yaml:4:13: unknown source \"ma\""),
        ("{ms}", "{sm}", "own.yaml:9:13: the expression has no group \"sm\""),
        ("\\S+", "(?=a)", "own.yaml:5:12: the expression is wrong"),
        ("\\S+", "\\w{1000}{100}", "own.yaml:5:12: the expression is too large"),
        ("hive-lock", "Hive Lock", "own.yaml:2:11: \"Hive Lock\" is no id of a kind"),
        (
            "    example: 'Lock acquisition for q1 timed out after 5000ms'\n",
            "",
            "own.yaml:2:5: the rule of the kind \"hive-lock\" has no example",
        ),
        ("severity: severe", "severity: bad", "own.yaml:8:15:"),
    ] {
        let found = problems(&LOCK.replace(from, to));
        assert!(found.iter().any(|problem| problem.starts_with(expected)), "{to}: {found:?}");
    }
}

#[test]
fn duplicate_kinds_and_shadowed_examples_are_errors() {
    let twice = format!("{LOCK}{}", LOCK.split_once('\n').unwrap().1);
    assert!(
        problems(&twice)[0]
            .starts_with("own.yaml:12:11: the kind \"hive-lock\" is in own.yaml already, in line 2"),
        "{:?}",
        problems(&twice)
    );
    let shadow = "  - kind: any-lock\n    priority: 1\n    regex: 'Lock'\n    example: 'Lock'\n";
    let found = problems(&format!("{LOCK}{shadow}"));
    assert!(found[0].contains(":10:14: the rule of the kind \"any-lock\" comes first"), "{found:?}");
}

#[test]
fn the_built_in_rules_are_right() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/exceptions.yaml"));
    assert_eq!(problems(text), Vec::<String>::new());
    assert_eq!(BUILT_IN.len(), text.matches("- kind:").count());
}
