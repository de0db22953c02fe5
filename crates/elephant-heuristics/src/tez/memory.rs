//! `tez-mapper-memory`, `tez-scope-memory`: containers are larger than the tasks need (Dr. Elephant
//! `tez.heuristics.GenericMemoryHeuristic`). Its heuristic on reduce tasks is not registered in any version.

use super::support::{NO_CONTAINER, Role, Tasks};
use crate::declare::tez as rule;
use crate::mapreduce::{MissingCounters, to_bytes};
use elephant_analysis::metrics::container_of_tasks;
use elephant_base::severity::Severity;
use elephant_base::stats::truncated_mean;
use elephant_base::units::Bytes;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_rule::finding::{Advice, Judgement, Measure, Verdict, Worse};
use elephant_rule::params::cutoffs::Descending;
use elephant_rule::params::quantity::{Quantity, Ratio, Size};
use elephant_rule::params::{Assumed, rule_params};
use elephant_rule::wording::{change, limit, percent};

rule_params! {
    /// Parameters of the rules on memory.
    pub(super) struct Memory / MemoryLayer {
        /// Whether only succeeded DAGs are judged. If false, failed and killed ones are judged by their succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Mean physical memory in whole MiB / container size.
        used_ratio: Descending<Ratio>,
        /// Container size of a DAG whose configuration does not contain it.
        container_default: Assumed<Size>,
        /// Room above the measured peak in advised sizes, as a share of the peak.
        headroom: Quantity<Ratio>,
    }
}

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "tez-mapper-memory", "Tez Mapper Memory", tells MuchMemory, Memory, |layers, _| load(
        layers, |p| Usage(Role::Mapper, p)
    ))
    .measured_by("used_ratio", Worse::Lower);
pub(super) const SCOPE: Rule =
    rule!(DrElephant { version: "master" }, "tez-scope-memory", "Tez Scope Memory", tells MuchMemory, Memory, |layers, _| load(
        layers, |p| Usage(Role::Scope, p)
    ))
    .measured_by("used_ratio", Worse::Lower);

/// The message of a finding.
const MESSAGE: &str =
    "a {role} task uses {avg_physical_memory_bytes} of its {container_bytes} container, {share} ({limit})";

struct Usage(Role, Memory);

impl Check for Usage {
    fn check(&self, app: &Application) -> Verdict {
        let Self(role, params) = self;
        let tasks = match Tasks::of(app, *role, params.only_succeeded_jobs) {
            Ok(tasks) => tasks,
            Err(why) => return why.into(),
        };
        if let Some(verdict) = tasks.unreadable(app, &[Counter::PhysicalMemoryBytes]) {
            return verdict;
        }
        let used = tasks.counters(Counter::PhysicalMemoryBytes, params.missing_counters);
        // Clusters that cannot measure memory log 0 for every task.
        if params.missing_counters == MissingCounters::Unknown && used.iter().all(|&bytes| bytes == 0) {
            return tasks.none_reports("PHYSICAL_MEMORY_BYTES").into();
        }
        let assumed = || params.container_default.0.and_then(|size| Bytes::from_f64(size.get()));
        let Some(container) = container_of_tasks(app, *role == Role::Scope).or_else(assumed) else {
            return Verdict::NotEvaluated(NO_CONTAINER.to_owned());
        };
        let mean = to_bytes(truncated_mean(&used).unwrap_or_default());
        let ratio = mean.whole_mib() as f64 / container.whole_mib() as f64;
        let by_ratio = params.used_ratio.severity(ratio);
        let lowest = params.used_ratio.describe_in(Severity::Low, percent);
        let conditions = [("used_ratio", by_ratio, lowest)];
        let passed = params.used_ratio.describe_in(by_ratio, percent);
        let peak = used.iter().copied().max().map(to_bytes);
        let mut evidence = vec![
            ("tasks_count", Measure::Count(tasks.total())),
            ("container_bytes", Measure::Size(container)),
            ("avg_physical_memory_bytes", Measure::Size(mean)),
            ("used_ratio", Measure::Ratio(ratio.is_finite().then_some(ratio))),
        ];
        evidence.extend(peak.map(|peak| ("peak_physical_memory_bytes", Measure::Size(peak))));
        Judgement::of(role.subject(), by_ratio)
            .tasks(tasks.total())
            .facts(evidence)
            .message(
                MESSAGE,
                &[
                    ("role", &role.name()),
                    ("share", &percent(ratio)),
                    ("limit", &limit(by_ratio, passed, &conditions)),
                ],
            )
            .advice(|| self.advice(app, container))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

impl Usage {
    /// The smallest container that holds the measured peak of any task of the DAG, and the headroom: all vertices get the
    /// same containers.
    fn advice(&self, app: &Application, container: Bytes) -> Vec<Advice> {
        let Self(role, params) = self;
        let peak = app.groups.iter().flat_map(|group| {
            group.winners().filter_map(|row| group.attempts.bytes(row, Counter::PhysicalMemoryBytes))
        });
        let Some(peak) = peak.max().filter(|peak| peak.get() > 0) else {
            return vec![Advice::new(
                "find out why no task reports its memory before changing containers".to_owned(),
            )];
        };
        let needed = Bytes::from_f64(peak.as_f64() * (1.0 + params.headroom.get())).unwrap_or(peak);
        // YARN rounds requests up to multiples of its smallest container.
        let step = app.conf.mebibytes(ConfKey::MinimumAllocationMb).map_or(1, Bytes::whole_mib).max(1);
        let fitting =
            Bytes::from_mib(needed.get().div_ceil(Bytes::PER_MIB).div_ceil(step).saturating_mul(step));
        if fitting >= container {
            let why = "the container cannot shrink, because the largest task of the DAG needs";
            return vec![Advice::new(format!("{why} {peak}: balance the work of the tasks"))];
        }
        let key = match role {
            Role::Mapper | Role::Reducer if app.conf.mebibytes(ConfKey::TezTaskMemoryMb).is_none() => {
                ConfKey::HiveContainerMb
            }
            Role::Mapper | Role::Reducer | Role::Scope => ConfKey::TezTaskMemoryMb,
        };
        let shrink = change(app, key, fitting.whole_mib());
        vec![
            Advice::default().set([shrink]).and(&format!(
                " (measured peak of all tasks {peak} plus {})",
                percent(params.headroom.get())
            )),
        ]
    }
}
