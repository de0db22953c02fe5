//! Advice that fits the platform: where it fixes a setting, what to change there instead.

use super::Trouble;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::Platform;
use elephant_rule::finding::{Advice, Finding, SettingChange};

/// Replaces settings that the platform fixes in the advice of troubles and findings. Settings for which nothing can be said
/// instead stay: the configuration drops them, and says why.
pub(super) fn adapt(app: &Application, troubles: &mut [Trouble], findings: &mut [Finding]) {
    let Some(platform) = Platform::of(app) else { return };
    let instead = |change: &SettingChange| platform.instead(app, &change.setting, &change.to);
    for trouble in troubles.iter_mut() {
        let allocates =
            |change: &SettingChange| ConfKey::DynamicAllocation.names().contains(&change.setting.as_str());
        let firm = trouble.advice.iter().filter(|advice| !advice.conditional);
        let mut fixed = firm.flat_map(|advice| &advice.settings).filter(|change| instead(change).is_some());
        trouble.is_scaled_by_platform = fixed.any(allocates);
        trouble.change.retain(|change| instead(change).is_none());
        adapt_lines(&mut trouble.advice, &instead);
    }
    findings.iter_mut().for_each(|finding| adapt_lines(&mut finding.advice, &instead));
}

fn adapt_lines(advice: &mut Vec<Advice>, instead: &impl Fn(&SettingChange) -> Option<String>) {
    let mut adapted: Vec<Advice> = Vec::with_capacity(advice.len());
    for mut line in advice.drain(..) {
        let mut said: Vec<String> = Vec::new();
        for change in line.settings.clone() {
            if let Some(text) = instead(&change) {
                line.remove(&change);
                if !said.contains(&text) {
                    said.push(text);
                }
            }
        }
        if said.is_empty() {
            adapted.push(line);
            continue;
        }
        let said = said.join("; ");
        if line.settings.is_empty() {
            let what = line.text.trim_end_matches([':', ' ']);
            line.text = if what.is_empty() { said } else { format!("{what}: {said}") };
        } else {
            adapted.push(Advice { text: said, settings: Vec::new(), ..line.clone() });
        }
        adapted.push(line);
    }
    let mut kept: Vec<Advice> = Vec::with_capacity(adapted.len());
    for line in adapted {
        if !kept.iter().any(|known| known.asks_the_same(&line)) {
            kept.push(line);
        }
    }
    *advice = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(setting: &str, to: &str) -> SettingChange {
        SettingChange { setting: setting.to_owned(), from: None, to: to.to_owned() }
    }

    fn adapted(settings: &[(&str, &str)], mut advice: Vec<Advice>) -> Vec<String> {
        let app = elephant_sample::app(settings);
        let platform = Platform::of(&app).unwrap();
        adapt_lines(&mut advice, &|change| platform.instead(&app, &change.setting, &change.to));
        advice.into_iter().map(|line| line.text).collect()
    }

    const DATABRICKS: [(&str, &str); 3] = [
        ("spark.databricks.clusterUsageTags.clusterScalingType", "fixed_size"),
        ("spark.databricks.clusterUsageTags.clusterNodeType", "m5.4xlarge"),
        ("spark.databricks.clusterUsageTags.clusterWorkers", "4"),
    ];

    #[test]
    fn the_platform_is_changed_instead_of_settings_that_it_fixes() {
        let sizes = [change("spark.executor.cores", "4"), change("spark.executor.memory", "8g")];
        let lines = vec![
            Advice::new("run fewer tasks per JVM").set(sizes.clone()),
            Advice::new("more tasks").set([change("spark.sql.shuffle.partitions", "400"), sizes[0].clone()]),
        ];
        let worker = "choose another worker type (now m5.4xlarge), which on Databricks determines the cores and the memory of \
                      executors, one on each worker";
        assert_eq!(
            adapted(&DATABRICKS, lines),
            [
                format!("run fewer tasks per JVM: {worker}"),
                worker.to_owned(),
                "more tasks: --conf spark.sql.shuffle.partitions=400".to_owned()
            ]
        );
    }

    #[test]
    fn elsewhere_advice_stays() {
        let line = Advice::new("try").set([change("spark.executor.cores", "4")]);
        assert_eq!(adapted(&[("spark.master", "yarn")], vec![line.clone()]), [line.text.clone()]);
        // There is nothing to say instead: the configuration says why the setting stays.
        assert_eq!(adapted(&[("spark.master", "local[4]")], vec![line.clone()]), [line.text]);
    }
}
