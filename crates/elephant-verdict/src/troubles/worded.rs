//! The last stage: what was decided becomes sentences. Nothing decides by them.

use super::priced::Priced;
use super::{Diagnosed, Telling, Trouble, place, root_cause};
use elephant_model::model::Application;
use elephant_rule::finding::{Advice, Cap, Finding};

/// Words the priced troubles: their headlines, and the conditions of advice before it.
pub(super) fn worded(app: &Application, priced: Priced<'_>) -> Diagnosed {
    let Priced { findings, mut troubles, recommended, savings } = priced;
    tell_caps(&mut troubles);
    tell_what_decides(&mut troubles, findings);
    root_cause::name(&mut troubles);
    place::name(app, &mut troubles, findings);
    let of_troubles = troubles.iter_mut().flat_map(|trouble| &mut trouble.advice);
    let of_findings = findings.iter_mut().flat_map(|finding| &mut finding.advice);
    of_troubles.chain(of_findings).for_each(Advice::word_conditions);
    Diagnosed { troubles, configuration: recommended, savings }
}

/// Adds the reasons to the headlines of troubles whose severity is bounded by what their remedies save.
fn tell_caps(troubles: &mut [Trouble]) {
    for trouble in troubles {
        for Cap { at_most, why } in trouble.caps.iter().filter(|cap| cap.why.is_of_saving()) {
            trouble.cause = format!("{}; {}, because {}", trouble.cause, at_most.name(), why.words());
        }
    }
}

/// If the severity of a trouble comes from another finding than the one that leads, adds that finding's message to the
/// cause.
fn tell_what_decides(troubles: &mut [Trouble], findings: &[Finding]) {
    for trouble in troubles {
        let of = |telling: &Telling| {
            findings.iter().find(|it| it.rule == telling.rule && it.subject == telling.subject)
        };
        let mut told = trouble.findings.iter().filter_map(of);
        let Some(leading) = told.next().filter(|leading| leading.severity < trouble.severity) else {
            continue;
        };
        let deciding = told.find(|finding| finding.severity == trouble.severity);
        if let Some(deciding) = deciding.filter(|deciding| deciding.message != leading.message) {
            let severity = trouble.severity.name();
            trouble.cause = format!("{}; {severity}: {}", trouble.cause, deciding.message);
        }
    }
}
