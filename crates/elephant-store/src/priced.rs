//! What changes of configurations saved as money: prices applied to the medians of the runs before and after.

use rustc_hash::FxHashMap;

use super::costs::{app_of, exactly, sum};
use super::realised::Found;
use super::{Store, StoreError};
use elephant_model::model::Application;
use elephant_verdict::savings::{Amounts, Prices};

/// Changes whose first runs one statement looks up.
const AT_ONCE: usize = 100;

impl Store {
    /// Adds to changes what a run cost before and after. Returns what all of them saved together, as far as it is known,
    /// and how many have no known cost; `None` if there are no prices.
    pub(super) fn price_changes(
        &self,
        found: &mut [Found],
    ) -> Result<Option<(Option<f64>, u64)>, StoreError> {
        let Some(prices) = &self.prices else { return Ok(None) };
        for found in found.chunks_mut(AT_ONCE) {
            let apps = self.first_runs(found)?;
            for (found, app) in found.iter_mut().zip(apps) {
                found.cost = app.and_then(|app| costs(found, prices, &app));
            }
        }
        let unpriced = found.iter().filter(|found| found.cost.is_none()).count();
        let is_known = unpriced == 0 || unpriced < found.len();
        let saved = is_known.then(|| sum(found.iter().filter_map(Found::saved_cost)));
        Ok(Some((saved, unpriced as u64)))
    }

    /// The first run with each of these changes, as far as prices depend on it.
    fn first_runs(&self, found: &[Found]) -> Result<Vec<Option<Application>>, StoreError> {
        let mut apps = vec![None; found.len()];
        if found.is_empty() {
            return Ok(apps);
        }
        let mut places: FxHashMap<(i64, i64), Vec<usize>> = FxHashMap::default();
        for (place, Found { job, step, .. }) in found.iter().enumerate() {
            places.entry((*job, step.since.as_millis())).or_default().push(place);
        }
        let rows = found.iter().map(|Found { job, step, .. }| format!("({job}, {})", step.since.as_millis()));
        // With `IN`, SQLite would read the whole index of jobs. It has no ids, so these are compared below: they tell runs
        // of a job apart that were submitted in the same millisecond.
        let query = format!(
            "SELECT job, submitted, id, engine, name, \"user\", queue FROM (VALUES {}) AS wanted JOIN application ON job = \
             column1 AND submitted = column2 WHERE counts IS TRUE ORDER BY job, submitted, id, attempt, source",
            rows.collect::<Vec<_>>().join(", ")
        );
        self.database.visit(&query, &[], |row| {
            let id: String = row.get(2)?;
            for place in places.get(&(row.get(0)?, row.get(1)?)).into_iter().flatten() {
                let (Some(found), Some(app)) = (found.get(*place), apps.get_mut(*place)) else { continue };
                if app.is_none() && found.step.first == id {
                    *app = app_of(&row.get::<String>(3)?, (row.get(4)?, row.get(5)?, row.get(6)?));
                }
            }
            Ok(true)
        })?;
        Ok(apps)
    }
}

/// What a run cost before and after a change, at the prices for the first run with it.
fn costs(found: &Found, prices: &Prices, app: &Application) -> Option<(f64, f64)> {
    let cost = |core_hours: Option<f64>, gb_hours: f64| {
        let amounts = Amounts {
            core_hours: core_hours.map(exactly),
            gb_hours: Some(exactly(gb_hours)),
            ..Amounts::default()
        };
        prices.cost(app, &amounts).map(|cost| cost.point)
    };
    let ((used_before, used_after), cores) = (found.step.used_gb_hours, found.step.core_hours);
    let (cores_before, cores_after) = cores.unzip();
    cost(cores_before, used_before).zip(cost(cores_after, used_after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, with_prices, with_stores};
    use crate::{Fleet, Question, View};
    use elephant_base::units::{Bytes, CoreMillis, MbMillis, Millis, Timestamp};
    use elephant_engine::engine::Filter;
    use elephant_engine::results::ApplicationReport;
    use elephant_model::model::{Engine, Status};

    const PRICES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/prices.yaml"));
    const DAY: i64 = 86_400_000;

    /// A run of an hour with this heap, which held `gib` GiB and as many cores as are known.
    fn run((name, night): (&str, i64), heap: &str, (gib, cores): (u64, Option<u64>)) -> ApplicationReport {
        let hour = Millis::from_secs(3600);
        let mut app = ApplicationReport::blank(&format!("{name}_{night}"));
        app.name = Some(name.to_owned());
        app.queue = Some("root.etl".to_owned());
        app.status = Status::Succeeded;
        app.sources = vec![format!("logs/{name}_{night}")];
        app.submitted_at = Some(Timestamp::from_millis(night * DAY));
        app.metrics.used = Some(MbMillis::of(Bytes::from_mib(1024 * gib), hour));
        app.metrics.cores_used = cores.map(|cores| CoreMillis::of(1000 * cores, hour));
        app.metrics.cores_idle = cores.map(|_| CoreMillis::ZERO);
        app.configuration = Some(Box::new(elephant_sample::app(&[("spark.executor.memory", heap)]).conf));
        app
    }

    /// Four runs with 40 GiB and 8 cores before a change, and five after it.
    fn job(name: &str, after: (u64, Option<u64>)) -> Vec<ApplicationReport> {
        let runs = (0..9).map(|night| match night {
            0..4 => run((name, night), "4g", (40, Some(8))),
            _ => run((name, night), "2g", after),
        });
        runs.collect()
    }

    fn fleet(store: &Store, filter: &Filter, most: usize) -> Fleet {
        let answer = testing::answer(store, &Question::Overview, filter, most).unwrap();
        let View::Overview(fleet) = answer.view else { panic!() };
        *fleet
    }

    /// What a run of the first change cost before and after, and what that change saved.
    fn first(fleet: &Fleet) -> (Option<(f64, f64)>, Option<f64>) {
        fleet.realised.first().map(|change| (change.cost, change.saved_cost)).unwrap()
    }

    /// The same whether changes are kept or found.
    fn check(apps: &[ApplicationReport], prices: &str, test: impl Fn(&Store)) {
        with_prices(apps, prices, |store| {
            test(store);
            store.compare_again().unwrap();
            test(store);
        });
    }

    #[test]
    fn a_change_saves_the_difference_of_the_costs_in_each_later_run() {
        check(&job("nightly", (25, Some(4))), PRICES, |store| {
            let all = fleet(store, &Filter::default(), 9);
            // 8 × 0.035 + 40 × 0.004, and 4 × 0.035 + 25 × 0.004.
            assert_eq!(first(&all), (Some((0.44, 0.24)), Some(1.0)));
            assert_eq!((all.realised_cost, all.realised_unpriced), (Some(1.0), 0));
            // Of the runs that are selected.
            let since = Some(Timestamp::from_millis(7 * DAY));
            let later = fleet(store, &Filter { since, ..Filter::default() }, 9);
            assert_eq!(first(&later), (Some((0.44, 0.24)), Some(0.4)));
        });
    }

    #[test]
    fn less_memory_may_cost_more() {
        check(&job("nightly", (25, Some(16))), PRICES, |store| {
            let all = fleet(store, &Filter::default(), 9);
            assert!(all.realised_gb_hours > 0.0);
            assert_eq!((first(&all).1, all.realised_cost), (Some(-1.1), Some(-1.1)));
        });
    }

    #[test]
    fn the_sum_has_all_changes_with_known_costs() {
        let jobs = [
            job("a", (25, Some(4))),
            job("b", (30, Some(4))),
            // It saves most memory. Its cores are unknown, so its cost is, too.
            job("c", (5, None)),
        ];
        check(&jobs.concat(), PRICES, |store| {
            let all = fleet(store, &Filter::default(), 1);
            assert_eq!((all.realised.len(), all.realised_of), (1, 3));
            assert_eq!(first(&all), (None, None));
            assert_eq!((all.realised_cost, all.realised_unpriced), (Some(1.9), 1));
        });
        check(&job("c", (5, None)), PRICES, |store| {
            let unknown = fleet(store, &Filter::default(), 9);
            assert_eq!((unknown.realised_cost, unknown.realised_unpriced), (None, 1));
        });
        // Without a price of cores, they need not be known.
        check(&job("c", (5, None)), "currency: EUR\ngb_hour: 0.01\n", |store| {
            let memory = fleet(store, &Filter::default(), 9);
            assert_eq!(first(&memory), (Some((0.4, 0.05)), Some(1.75)));
        });
    }

    #[test]
    fn prices_are_those_of_the_first_run_with_the_change() {
        let mut apps = job("nightly", (25, None));
        for (app, queue) in apps.iter_mut().zip(["root.etl"; 4].into_iter().chain(["root.spot.a"])) {
            app.queue = Some(queue.to_owned());
        }
        // Another run that began at the same time, of another queue.
        let mut same = run(("nightly", 4), "2g", (25, None));
        same.id = "nightly_5_again".to_owned();
        same.sources = vec!["logs/again".to_owned()];
        apps.push(same);
        check(&apps, PRICES, |store| {
            // Memory stands for both halves of an instance with 16 GB, at 35 % of its price.
            let spot = |gib: f64| (0.35 * 0.192 * gib / 16.0 * 1e6).round() / 1e6;
            let all = fleet(store, &Filter::default(), 9);
            assert_eq!(first(&all).0, Some((spot(40.0), spot(25.0))));
        });
        let mut apps = job("import", (25, None));
        for app in &mut apps {
            app.engine = Engine::MapReduce;
        }
        check(&apps, PRICES, |store| {
            let all = fleet(store, &Filter::default(), 9);
            assert_eq!(first(&all).0, Some((0.52, 0.325)));
        });
    }

    #[test]
    fn without_prices_or_changes_nothing_is_priced() {
        with_stores(&job("nightly", (25, Some(4))), |store| {
            let all = fleet(store, &Filter::default(), 9);
            assert_eq!(first(&all), (None, None));
            assert_eq!((all.realised_cost, all.realised_unpriced), (None, 0));
        });
        check(&[run(("nightly", 0), "4g", (40, Some(8)))], PRICES, |store| {
            let none = fleet(store, &Filter::default(), 9);
            assert_eq!((none.realised_cost, none.realised_unpriced), (Some(0.0), 0));
        });
    }

    #[test]
    fn many_changes_are_priced_with_several_statements() {
        let few = |runs: Vec<ApplicationReport>| runs.into_iter().skip(1).take(6);
        let jobs = (0..=AT_ONCE).flat_map(|n| few(job(&format!("job {n}"), (25, Some(4)))));
        with_prices(&jobs.collect::<Vec<_>>(), PRICES, |store| {
            let all = fleet(store, &Filter::default(), 9);
            assert_eq!((all.realised_of, all.realised_unpriced), (AT_ONCE as u64 + 1, 0));
            // 0.20 in each of three runs.
            assert_eq!(all.realised_cost, Some(60.6));
        });
    }
}
