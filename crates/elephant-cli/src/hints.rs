//! Why a command lacks an option that others have, and what to use instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Options of the commands that report findings.
const OF_FINDINGS: [&str; 3] = ["--rule", "--min-severity", "--fail-on"];

/// Adds a reason to an error about an option that only other commands have.
pub(super) fn with_hint(mut error: clap::Error, command: &str) -> clap::Error {
    let hint = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if error.kind() == ErrorKind::UnknownArgument => {
            hint(command, option)
        }
        _ => None,
    };
    if let Some(hint) = hint {
        // The most similar option, such as `--rules`, does something else.
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    error
}

fn hint(command: &str, option: &str) -> Option<String> {
    let hint = match (command, option) {
        ("ingest", "--rule" | "--min-severity") => {
            "a store keeps the findings of all rules; history --rule selects some of them"
        }
        ("ingest" | "prune", "--sort") => {
            "this command lists nothing; history --sort orders what a store has"
        }
        ("ingest" | "prune" | "export", "--summary") => "this command prints no more than a summary",
        ("export", "--rule") => {
            "an export has the findings of all rules; select them with a query on the column rule of the table findings"
        }
        ("export", "--sort") => "files of an export have no order; a query on them can sort",
        ("history", "--min-severity") => {
            "history reports sums, not findings; --by rule has the rules with findings"
        }
        ("watch", "--rule") => {
            "watch reports what detectors flag, not findings; --detector selects a detector"
        }
        ("watch", "--sort") => "watch reports tasks in the order in which they are flagged",
        ("watch", "--summary") => {
            "watch reports tasks while applications run; stragglers --summary has the sums of finished applications"
        }
        ("stragglers", "--rule") => {
            "stragglers reports tasks, not findings; analyze --rule straggler-impact has the findings about them"
        }
        ("nodes", "--rule") => {
            "--rule limits findings, and nodes reports none: it compares all tasks of each node"
        }
        ("whatif", "--rule") => {
            "--rule limits findings, and whatif reports none; --without leaves out one trouble"
        }
        ("stragglers" | "nodes" | "whatif" | "watch" | "ingest" | "history" | "diff", "--fail-on") => {
            "only analyze and check fail because of findings"
        }
        ("stragglers" | "nodes" | "whatif" | "watch" | "simulate" | "prune", option)
            if OF_FINDINGS.contains(&option) =>
        {
            return Some(format!("{option} is about findings, and this command reports none; analyze does"));
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Cli;
    use super::*;

    fn told(arguments: &[&str]) -> String {
        let all = ["elephant-rs"].iter().chain(arguments);
        let error = Cli::try_parse_from(all).err();
        error.map(|error| with_hint(error, arguments[0]).to_string()).unwrap_or_default()
    }

    #[test]
    fn missing_options_are_explained() {
        for command in ["nodes", "stragglers", "whatif", "watch"] {
            let text = told(&[command, "--rule", "mapper-gc", "history"]);
            assert!(text.contains("findings") && !text.contains("similar"), "{text}");
            let text = told(&[command, "--min-severity", "low", "history"]);
            assert!(text.contains("this command reports none"), "{text}");
        }
        for option in ["--sort", "--summary"] {
            let text = told(&["watch", option, "history"]);
            assert!(text.contains("watch reports tasks") && !text.contains("similar"), "{text}");
        }
        assert!(told(&["whatif", "--fail-on", "low", "history"]).contains("only analyze and check fail"));
    }

    #[cfg(feature = "store")]
    #[test]
    fn options_that_a_store_has_elsewhere_are_explained() {
        let ingest = |option| told(&["ingest", "--store", "x.db", option, "history"]);
        assert!(ingest("--rule").contains("history --rule selects"));
        assert!(ingest("--sort").contains("history --sort orders"));
        assert!(ingest("--summary").contains("no more than a summary"));
        assert_eq!(told(&["history", "--store", "x.db", "--rule", "mapper-gc", "--sort", "name"]), "");
    }

    #[test]
    fn slips_and_known_options_get_no_reason() {
        assert!(!told(&["nodes", "--rul", "history"]).contains("findings"));
        assert_eq!(told(&["analyze", "--rule", "mapper-gc", "history"]), "");
    }
}
