//! Logs of other projects, and the classifications of peers.

mod peers;
mod samples;

use std::fs;
use std::path::Path;

use elephant_container_log::{Chain, Digest, Form, Options, Recognised, read, recognise};
use elephant_ruleset::RuleSet;

/// What a log holds, by the built-in rules.
fn digest_of(text: &[u8]) -> Digest {
    let Some(Recognised::Log(form)) = recognise(text) else { panic!("no log") };
    digest(form, text)
}

fn digest(form: Form, text: &[u8]) -> Digest {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    read(form, text, &rules.exceptions(), Options { messages: true })
}

fn digest_of_file(path: &Path) -> Digest {
    digest_of(&fs::read(path).unwrap())
}

fn kind(chain: &Chain) -> &str {
    chain.kind.as_ref().map_or("-", |kind| kind.name.as_str())
}
