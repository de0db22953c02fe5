//! How the impact of stragglers is distributed over applications and nodes (figures 3 and 4 of Garraghan et al.).

use crate::document::{Bar, Block, Chart};
use crate::words::{grouped, plural};
use elephant_analysis::stragglers::impact::{
    DelayDistribution, DelayStep, Impact, Quantiles, ServerDistribution, ServerStep,
};
use elephant_base::units::three_digits;

/// Both distributions as bars.
pub(super) fn charts(impact: &Impact) -> Option<Block<'static>> {
    let charts = [delay_chart(&impact.delays), server_chart(impact)];
    let charts: Vec<Block<'_>> = charts.into_iter().flatten().map(Block::Chart).collect();
    (!charts.is_empty()).then_some(Block::Beside(charts))
}

/// "How much longer 12 applications took because of their stragglers: half of them at most 9.4 %, …".
pub(super) fn delays(delays: &DelayDistribution) -> Option<String> {
    let Quantiles { median, p90, maximum, .. } = delays.quantiles?;
    if maximum <= 0.0 {
        return Some("No application took longer because of its stragglers.".to_owned());
    }
    if delays.jobs == 1 {
        return Some(format!(
            "The application with stragglers took {} longer because of them.",
            percent(median)
        ));
    }
    let [median, p90, maximum] = [median, p90, maximum].map(percent);
    Some(format!(
        "How much longer {} took because of their stragglers: half of them at most {median}, nine in ten at most {p90}, and all at most {maximum}.",
        plural(delays.jobs, "application")
    ))
}

/// "Stragglers per node: 0 on 3 nodes, 1 on 2, 3 to 4 on 1."
pub(super) fn per_server(servers: &ServerDistribution) -> Option<String> {
    let on = |(place, step): (usize, &ServerStep)| match place {
        0 => format!("{} on {}", stragglers(step), plural(step.servers, "node")),
        _ => format!("{} on {}", stragglers(step), grouped(step.servers)),
    };
    let steps: Vec<String> =
        servers.steps.iter().filter(|step| step.servers > 0).enumerate().map(on).collect();
    // With a single node, the number is in the table.
    let all: u64 = servers.steps.iter().map(|step| step.servers).sum();
    (all > 1).then(|| format!("Stragglers per node: {}.", steps.join(", ")))
}

fn percent(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

/// "0", "3 to 4".
fn stragglers(step: &ServerStep) -> String {
    if step.from == step.to {
        grouped(step.from)
    } else {
        format!("{} to {}", grouped(step.from), grouped(step.to))
    }
}

/// "no delay", "above 10 %, up to 25 %".
fn delay(step: &DelayStep) -> String {
    match (step.above, step.to) {
        (None, _) => "no delay".to_owned(),
        (Some(above), Some(to)) if above > 0.0 => format!("above {}, up to {}", percent(above), percent(to)),
        (Some(_), Some(to)) => format!("up to {}", percent(to)),
        (Some(above), None) => format!("above {}", percent(above)),
    }
}

fn bar(label: String, count: u64, what: &str, is_hit: bool) -> Bar {
    let text = format!("{label}: {}", plural(count, what));
    let class = if is_hit { "large" } else { "ok" };
    Bar { label, parts: vec![(class, count as f64)], text, is_marked: false }
}

/// A chart whose label for screen readers has all numbers.
fn chart(caption: &str, told: Option<String>, ticks: Vec<String>, bars: Vec<Bar>) -> Chart {
    let filled = bars.iter().filter(|bar| bar.parts.iter().any(|(_, size)| *size > 0.0));
    let texts: Vec<&str> = filled.map(|bar| bar.text.as_str()).collect();
    Chart {
        label: format!("{caption}: {}", texts.join("; ")),
        caption: caption.to_owned(),
        told: None,
        ticks,
        bars: bars.into_iter().map(Some).collect(),
        limit: None,
        legend: told.map(|told| vec![("", told)]).into_iter().collect(),
        remark: None,
    }
}

fn delay_chart(of: &DelayDistribution) -> Option<Chart> {
    let is_delay = |step: &DelayStep| step.above.is_some();
    let bars = of.steps.iter().map(|step| bar(delay(step), step.jobs, "application", is_delay(step)));
    // A step begins where the one before it ends. The unit stands above, so that the steps fit a phone.
    let tick =
        |step: &DelayStep| step.above.map_or_else(|| "none".to_owned(), |above| three_digits(100.0 * above));
    let ticks = of.steps.iter().map(tick).chain([String::new()]).collect();
    (of.jobs > 0).then(|| {
        chart(
            "How much longer applications took because of their stragglers, in %",
            delays(of),
            ticks,
            bars.collect(),
        )
    })
}

fn server_chart(impact: &Impact) -> Option<Chart> {
    let steps = &impact.per_server.steps;
    let told = |step: &ServerStep| {
        let noun = if step.to == 1 { "straggler" } else { "stragglers" };
        format!("{} {noun}", stragglers(step))
    };
    let bars = steps.iter().map(|step| bar(told(step), step.servers, "node", step.to > 0));
    let ticks = steps.iter().map(|step| grouped(step.from)).chain([String::new()]).collect();
    (impact.servers > 1 && impact.servers_hit > 0).then(|| {
        chart("Nodes by their number of stragglers", per_server(&impact.per_server), ticks, bars.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_analysis::stragglers::impact::{JobImpact, JudgedGroup, JudgedTask};
    use elephant_base::units::Millis;

    /// A job with a straggler on the first of these nodes, which only waited for it for so many percent of its other time.
    fn job(nodes: &[&str], percent: u64) -> JobImpact {
        let task = |(place, node): (usize, &&str)| JudgedTask {
            duration: if place == 0 { 40.0 } else { 10.0 },
            straggler: Some(place == 0),
            node: Some((*node).to_owned()),
        };
        let group = JudgedGroup { limit: None, tasks: nodes.iter().enumerate().map(task).collect() };
        let (waited, took) = (Millis::new(percent), Millis::new(100 + percent));
        JobImpact::of([&group]).with_times(waited, Some(took))
    }

    #[test]
    fn sentences_tell_the_quantiles_and_the_nodes() {
        let impact = Impact::of(&[job(&["a", "b", "c"], 0), job(&["a", "b"], 50), job(&["a", "c"], 1200)]);
        let told = "How much longer 3 applications took because of their stragglers: half of them at most 50 %, nine in ten at most 970 %, and all at most 1200 %.";
        assert_eq!(delays(&impact.delays).as_deref(), Some(told));
        let told = "Stragglers per node: 0 on 2 nodes, 3 to 4 on 1.";
        assert_eq!(per_server(&impact.per_server).as_deref(), Some(told));
        let chart = delay_chart(&impact.delays).unwrap();
        assert!(
            chart.label.ends_with(
                "no delay: 1 application; above 25 %, up to 50 %: 1 application; above 1000 %: 1 application"
            ),
            "{}",
            chart.label
        );
        assert_eq!((chart.bars.len(), chart.ticks.len()), (9, 10));
        assert_eq!(chart.ticks[..3], ["none", "0", "10"]);
        let chart = server_chart(&impact).unwrap();
        assert_eq!(
            chart.label,
            "Nodes by their number of stragglers: 0 stragglers: 2 nodes; 3 to 4 stragglers: 1 node"
        );
        assert_eq!(chart.ticks, ["0", "1", "2", "3", ""]);
    }

    #[test]
    fn one_application_on_one_node_has_no_distribution() {
        let impact = Impact::of(&[job(&["a", "a"], 25)]);
        let told = "The application with stragglers took 25 % longer because of them.";
        assert_eq!(delays(&impact.delays).as_deref(), Some(told));
        assert_eq!(per_server(&impact.per_server), None);
        let held_up = Impact::of(&[job(&["a", "b"], 0), job(&["a", "b"], 0)]);
        let told = "No application took longer because of its stragglers.";
        assert_eq!(delays(&held_up.delays).as_deref(), Some(told));
        let none = Impact::of([]);
        assert_eq!((delays(&none.delays), per_server(&none.per_server)), (None, None));
        assert!(charts(&none).is_none());
    }
}
