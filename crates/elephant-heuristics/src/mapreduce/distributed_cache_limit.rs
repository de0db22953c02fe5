//! `distributed-cache-limit`: the distributed cache contains files that are too large for every node to
//! download (Dr. Elephant `DistributedCacheLimitHeuristic`).

use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::quantity::{Quantity, Size};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `distributed-cache-limit`.
    pub(super) struct CacheLimit / CacheLimitLayer {
        /// Whether only succeeded jobs are judged. Failed and killed jobs downloaded their files, too.
        only_succeeded_jobs: bool,
        /// Size limit of a file or archive. A file of exactly this size passes.
        limit: Quantity<Size>,
        /// Severity of a file or archive above the limit.
        above_limit: Severity,
        /// Severity if the number of names differs from the number of sizes.
        mismatch: Severity,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "master" },
    "distributed-cache-limit",
    "Distributed Cache Limit", tells Cluster,
    CacheLimit,
    |layers, _| load(layers, Cache)
)
.measured_by("largest_bytes", Worse::Higher);

/// The message if the numbers of names and sizes differ.
const MISMATCH: &str = "the number of cached files, {names_count}, differs from the number of sizes, {sizes_count}, \
                        so the sizes are unknown";

/// The message of a finding.
const MESSAGE: &str = "the largest of {files_count} cached files is {largest_bytes} ({limit})";

struct Cache(CacheLimit);

/// The names and sizes of one of the two lists in the job's configuration.
struct List {
    sizes_key: ConfKey,
    names: Vec<String>,
    sizes: Vec<Option<u64>>,
}

impl Check for Cache {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        if app.engine != Engine::MapReduce || (params.only_succeeded_jobs && app.status != Status::Succeeded)
        {
            return Verdict::NotApplicable;
        }
        if app.conf.is_empty() {
            return Verdict::NotEvaluated("no configuration file of this job was found".to_owned());
        }
        let lists: Vec<List> = [
            (ConfKey::CacheFiles, ConfKey::CacheFileSizes),
            (ConfKey::CacheArchives, ConfKey::CacheArchiveSizes),
        ]
        .into_iter()
        .filter_map(|(names, sizes)| list(app, names, sizes))
        .collect();
        if lists.is_empty() {
            return Verdict::NotApplicable;
        }
        if let Some(list) = lists.iter().find(|list| list.names.len() != list.sizes.len()) {
            return params.mismatched(app, list);
        }
        params.judge(app, &lists)
    }
}

impl CacheLimit {
    fn mismatched(&self, app: &Application, list: &List) -> Verdict {
        Judgement::of(Subject::Application, self.mismatch)
            .tasks(app.task_count())
            .fact("names_count", Measure::Count(list.names.len() as u64))
            .fact("sizes_count", Measure::Count(list.sizes.len() as u64))
            .message(MISMATCH, &[])
            .advice(|| {
                vec![format!(
                    "set one size per file in {}, or let the job client set them",
                    app.conf.name_in_use(list.sizes_key)
                )]
            })
            .into()
    }

    fn judge(&self, app: &Application, lists: &[List]) -> Verdict {
        let limit = Bytes::from_f64(self.limit.get()).unwrap_or_default();
        let files = lists.iter().flat_map(|list| list.names.iter().zip(&list.sizes));
        let largest = files.clone().filter_map(|(name, size)| Some(((*size)?, name))).max();
        let Some((size, name)) = largest else {
            return Verdict::NotEvaluated("the sizes of the cached files are not numbers".to_owned());
        };
        let size = Bytes::new(size);
        let above = size > limit && self.above_limit > Severity::None;
        let total: Bytes = files.clone().filter_map(|(_, size)| *size).map(Bytes::new).sum();
        let count = files.count() as u64;
        let severity = if above { self.above_limit } else { Severity::None };
        Judgement::of(Subject::Application, severity)
            .tasks(app.task_count())
            .fact("files_count", Measure::Count(count))
            .fact("largest_bytes", Measure::Size(size))
            .fact("largest_text", Measure::Text(name.clone()))
            .fact("total_bytes", Measure::Size(total))
            .fact("limit_bytes", Measure::Size(limit))
            .message(MESSAGE, &[("limit", &self.passed(above, limit))])
            .advice(|| {
                let key = app.conf.name_in_use(ConfKey::CacheFiles);
                vec![format!(
                    "every node that runs a task downloads {name} ({size}): remove it from {key} and read the \
                     needed parts from HDFS, or shrink it below {limit}"
                )]
            })
            .into()
    }

    /// The limit in words: the one that the largest file exceeds, or the one that was not reached.
    fn passed(&self, above: bool, limit: Bytes) -> String {
        match self.above_limit {
            Severity::None => "no limit".to_owned(),
            level if above => format!("{level} above {limit}"),
            level => format!("not reached: {level} above {limit}"),
        }
    }
}

/// `None` if the job has neither names nor sizes.
fn list(app: &Application, names: ConfKey, sizes_key: ConfKey) -> Option<List> {
    let names = app.conf.text(names)?;
    let sizes = app.conf.text(sizes_key).unwrap_or_default();
    let items = |text: &str| -> Vec<String> {
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    };
    Some(List {
        sizes_key,
        names: items(&names),
        sizes: items(&sizes).iter().map(|size| size.parse().ok()).collect(),
    })
}
