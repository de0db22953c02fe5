//! `docs/rule-language.md` has the reference of names and functions; `INSTA_UPDATE=always` regenerates it. The example
//! of the tutorial, `docs/defining-rules.md`, works.

use elephant_base::severity::Severity;
use elephant_ruleset::custom::{Input, reference};
use elephant_ruleset::{RuleCheck, RuleFile, RuleSet};

const BEGIN: &str = "<!-- reference: begin -->\n";
const END: &str = "<!-- reference: end -->";

fn page(name: &str) -> (std::path::PathBuf, String) {
    let path = elephant_testing::root().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

#[test]
fn reference_is_complete() {
    let (path, text) = page("docs/rule-language.md");
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (shown, tail) = rest.split_once(END).unwrap();
    let reference = format!("\n{}\n", reference::markdown());
    if shown == reference {
        return;
    }
    assert!(
        elephant_testing::is_blessing(),
        "the reference is out of date; run INSTA_UPDATE=always cargo test --lib reference_is_complete"
    );
    std::fs::write(path, [head, BEGIN, &reference, END, tail].concat()).unwrap();
}

#[test]
fn first_example_is_a_rule_with_a_passing_example() {
    let (_, text) = page("docs/defining-rules.md");
    let yaml = text.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap().to_owned();
    let file = RuleFile { name: "docs".to_owned(), text: yaml };
    let rules =
        RuleSet::with_files(elephant_heuristics::BUILT_IN, &[file]).unwrap_or_else(|error| panic!("{error}"));
    let active = rules.rules().iter().find(|active| active.info.id == "etl-waiting-reduces").unwrap();
    let RuleCheck::Defined(rule) = &active.check else { panic!("the file does not define it") };
    let [example] = rule.examples.as_slice() else { panic!("{:?}", rule.examples) };
    let Input::Values(values) = &example.input else { panic!("{example:?}") };
    assert_eq!(rule.try_values(values).severity, Ok(Severity::Moderate));
}
