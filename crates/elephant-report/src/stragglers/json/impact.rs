//! The impact of stragglers over all applications, by one reference.

use serde::Serialize;

use super::super::words;
use super::{percent, share_percent};
use crate::json::Each;
use elephant_analysis::stragglers::impact::{
    DelayDistribution, DelayStep, Impact, Quantiles, ServerDistribution, ServerStep, ServerTasks,
};

#[derive(Serialize)]
pub(super) struct ImpactView<'a> {
    tasks_count: u64,
    stragglers_count: u64,
    stragglers_percent: Option<f64>,
    undetermined_count: u64,
    applications_count: u64,
    applications_with_stragglers_count: u64,
    applications_with_stragglers_percent: Option<f64>,
    median_excess_ms: Option<f64>,
    median_slowest_beyond_others_ms: Option<f64>,
    application_delays: DelaysView<'a>,
    extra_compute_percent: Option<f64>,
    servers_count: u64,
    servers_with_stragglers_count: u64,
    servers_with_stragglers_percent: Option<f64>,
    stragglers_per_server_skewness: Option<f64>,
    stragglers_per_server: ServersView<'a>,
    worst_servers: Each<'a, (String, ServerTasks), ServerView<'a>>,
}

pub(super) fn impact(impact: &Impact) -> ImpactView<'_> {
    let millis = |seconds: Option<f64>| seconds.map(words::millis);
    ImpactView {
        tasks_count: impact.tasks,
        stragglers_count: impact.stragglers,
        stragglers_percent: share_percent(impact.stragglers, impact.tasks),
        undetermined_count: impact.undetermined,
        applications_count: impact.jobs,
        applications_with_stragglers_count: impact.jobs_hit,
        applications_with_stragglers_percent: share_percent(impact.jobs_hit, impact.jobs),
        median_excess_ms: millis(impact.median_excess),
        median_slowest_beyond_others_ms: millis(impact.median_job_delay),
        application_delays: delays(&impact.delays),
        extra_compute_percent: impact.extra_compute.map(percent),
        servers_count: impact.servers,
        servers_with_stragglers_count: impact.servers_hit,
        servers_with_stragglers_percent: share_percent(impact.servers_hit, impact.servers),
        stragglers_per_server_skewness: impact.server_skewness,
        stragglers_per_server: servers(&impact.per_server),
        worst_servers: Each(&impact.worst_servers, |(node, server)| ServerView {
            node,
            tasks_count: server.tasks,
            stragglers_count: server.stragglers,
        }),
    }
}

#[derive(Serialize)]
struct ServerView<'a> {
    node: &'a str,
    tasks_count: u64,
    stragglers_count: u64,
}

#[derive(Serialize)]
struct QuantilesView {
    first_quartile: f64,
    median: f64,
    third_quartile: f64,
    p90: f64,
    maximum: f64,
}

fn quantiles(quantiles: &Quantiles) -> QuantilesView {
    let Quantiles { first_quartile, median, third_quartile, p90, maximum, .. } = *quantiles;
    QuantilesView { first_quartile, median, third_quartile, p90, maximum }
}

/// How much longer applications with stragglers took because of them, over the time without that.
#[derive(Serialize)]
struct DelaysView<'a> {
    applications_count: u64,
    quantiles_ratio: Option<QuantilesView>,
    histogram: Each<'a, DelayStep, DelayStepView>,
}

/// Above one delay, up to another; the first step is for applications without a delay.
#[derive(Serialize)]
struct DelayStepView {
    above_ratio: Option<f64>,
    to_ratio: Option<f64>,
    applications_count: u64,
}

fn delays(delays: &DelayDistribution) -> DelaysView<'_> {
    DelaysView {
        applications_count: delays.jobs,
        quantiles_ratio: delays.quantiles.as_ref().map(quantiles),
        histogram: Each(&delays.steps, |step| DelayStepView {
            above_ratio: step.above,
            to_ratio: step.to,
            applications_count: step.jobs,
        }),
    }
}

#[derive(Serialize)]
struct ServersView<'a> {
    quantiles_count: Option<QuantilesView>,
    histogram: Each<'a, ServerStep, ServerStepView>,
}

#[derive(Serialize)]
struct ServerStepView {
    from_count: u64,
    to_count: u64,
    servers_count: u64,
}

fn servers(servers: &ServerDistribution) -> ServersView<'_> {
    ServersView {
        quantiles_count: servers.quantiles.as_ref().map(quantiles),
        histogram: Each(&servers.steps, |step| ServerStepView {
            from_count: step.from,
            to_count: step.to,
            servers_count: step.servers,
        }),
    }
}
