//! Advice must be enough: with its settings, a finding falls by at least one level. And it must be a change: no
//! setting is advised that the application has already.

use std::collections::BTreeMap;

use elephant_rs::engine::visit;
use elephant_rs::finding::{Finding, SettingChange, TroubleKind};
use elephant_rs::model::Application;
use elephant_rs::model::conf::Property;
use elephant_rs::model::table::TaskKind;
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;

use crate::heuristics;
use crate::internal::common;
use crate::internal::sample;

#[test]
fn explore() {
    let Some((corpus, runs)) = common::shared("corpus").zip(common::shared("runs")) else { return };
    let rules = RuleSet::built_in().unwrap();
    let visited = visit(&[corpus, runs], |app, sources| {
        let found = rules.evaluate(app).findings;
        let mut out = Vec::new();
        for f in &found {
            if f.severity == Severity::None {
                continue;
            }
            let settings: Vec<SettingChange> =
                f.advice.iter().filter(|a| !a.conditional).flat_map(|a| a.settings.clone()).collect();
            for s in f.advice.iter().flat_map(|a| &a.settings) {
                if app.conf.raw(&s.setting).as_deref() == Some(&s.to) {
                    out.push(format!("SAME {} {} {s}", f.rule, app.id));
                }
            }
            if settings.is_empty() {
                out.push(format!("NOSET {} {:?}", f.rule, f.severity));
                continue;
            }
            let mut new = app.clone();
            for s in &settings {
                new.conf.insert(s.setting.clone(), Property { value: s.to.clone(), is_final: false });
            }
            let after = rules.evaluate(&new).findings;
            let same = after.iter().find(|g| g.rule == f.rule && g.subject == f.subject).map(|g| g.severity);
            let verdict = if same.unwrap_or_default() < f.severity { "FELL" } else { "STAYS" };
            out.push(format!(
                "{verdict} {} {} {:?} {:?} {:?} | {} | {}",
                f.rule,
                app.id,
                f.subject,
                f.severity,
                same,
                f.message,
                settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            ));
        }
        let _ = sources;
        out
    });
    let mut text = String::new();
    for v in visited.applications {
        for line in v.value {
            text += &line;
            text += "\n";
        }
    }
    std::fs::write("/tmp/x/explore.txt", text).unwrap();
}
