//! The target for logs of containers, drivers and executors. The portions in which bytes arrive must not matter, and no
//! message may stay in what is read.

use std::io::Cursor;

use elephant_container_log::{Form, Options, Recognised, is_harmless, read, recognise};
use elephant_ruleset::RuleSet;

use super::same::{Drip, assert_same};

const FORMS: [Form; 6] = [Form::YarnLogs, Form::Page, Form::Kubernetes, Form::Docker, Form::Json, Form::Text];

pub fn container_log(bytes: &[u8]) {
    let classifier = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().exceptions();
    let recognised = match recognise(bytes) {
        Some(Recognised::Log(form)) => form,
        _ => Form::Text,
    };
    // Whatever it was recognised as, every form reads it.
    let other = FORMS[bytes.len() % FORMS.len()];
    for form in [recognised, other] {
        let whole = read(form, Cursor::new(bytes), &classifier, Options::default());
        let dripping = read(form, Drip::new(bytes), &classifier, Options::default());
        assert_same("in portions", &whole, &dripping);
        for chain in &whole.chains {
            assert!(chain.line >= 1 && chain.line <= whole.lines && chain.count >= 1);
            assert!(chain.message.is_none() && chain.causes.iter().all(|cause| cause.message.is_none()));
            assert!(chain.facts.iter().all(|(_, value)| is_harmless(value)));
            assert!(
                chain.causes.len() <= 16 && chain.section.is_none_or(|place| place < whole.sections.len())
            );
        }
        let shown = read(form, Cursor::new(bytes), &classifier, Options { messages: true });
        let messages = shown.chains.iter().filter_map(|chain| chain.message.as_deref());
        messages.for_each(|message| assert!(!message.contains(char::is_control), "{message:?}"));
    }
}
