//! The root cause of failures in the headline of their trouble.

use super::Trouble;

/// A message that a headline contains up to this many characters need not be repeated.
const ENOUGH: usize = 40;
const ROOT_CAUSE: &str = "root cause: ";

/// Adds the root cause to the headline of failures, if one of their findings knows it and the one that leads does not
/// name it.
pub(super) fn name(troubles: &mut [Trouble]) {
    for trouble in troubles {
        let Some(message) = trouble.failure.as_ref().and_then(|failure| failure.message.as_deref()) else {
            continue;
        };
        let beginning: String = message.chars().take(ENOUGH).collect();
        let because = trouble.failure.as_ref().and_then(|failure| failure.kind.because());
        let tells = |text: &str| !text.is_empty() && trouble.cause.contains(text);
        if !tells(&beginning) && !tells(ROOT_CAUSE) && !because.as_deref().is_some_and(tells) {
            let named = format!("; {ROOT_CAUSE}\"{message}\"");
            trouble.cause += &named;
            trouble.statement += &named;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::diagnosis::FailureKind;
    use elephant_rule::finding::Failure;

    #[test]
    fn the_headline_of_failures_names_their_root_cause_once() {
        let headline = |cause: &str| {
            let message = Some("java.net.SocketTimeoutException: Read timed out".to_owned());
            let failure = Failure { message, ..Failure::new(FailureKind::UserCode) };
            let mut troubles = [Trouble { failure: Some(failure), ..Trouble::named(cause) }];
            name(&mut troubles);
            troubles[0].cause.clone()
        };
        let named = "3 attempts failed; root cause: \"java.net.SocketTimeoutException: Read timed out\"";
        assert_eq!(headline("3 attempts failed"), named);
        assert_eq!(headline(named), named);
        let quoted = "3 failed, mostly \"java.net.SocketTimeoutException: Read timed out\"";
        assert_eq!(headline(quoted), quoted);
    }
}
