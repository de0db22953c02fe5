use super::*;
use crate::Only;
use crate::record;
use crate::testing::with_stores;
use elephant_base::units::{Bytes, MbMillis};
use elephant_engine::engine::Filter;
use elephant_engine::results::ApplicationReport;
use elephant_model::model::Status;

/// A run of an hour with this heap, which held `gib` GiB.
fn nightly(night: i64, heap: &str, gib: u64, status: Status) -> ApplicationReport {
    let mut app = ApplicationReport::blank(&format!("app_{night:03}"));
    app.name = Some("nightly".to_owned());
    app.status = status;
    app.sources = vec![format!("logs/app_{night:03}")];
    app.submitted_at = Some(Timestamp::from_millis(night * 86_400_000));
    app.metrics.run_time = Some(Millis::from_secs(3600));
    app.metrics.used = Some(MbMillis::of(Bytes::from_mib(1024 * gib), Millis::from_secs(3600)));
    app.configuration = Some(Box::new(elephant_sample::app(&[("spark.executor.memory", heap)]).conf));
    app
}

fn of(store: &Store) -> Vec<Realised> {
    let found =
        store.changes(&Selection::of(&store.database, &Filter::default(), Only::ALL).unwrap()).unwrap();
    store.realised(found).unwrap()
}

/// The same in each database.
fn realised(apps: &[ApplicationReport]) -> Vec<Realised> {
    let all = std::sync::Mutex::new(Vec::new());
    with_stores(apps, |store| {
        let found = of(store);
        store.compare_again().unwrap();
        assert_eq!(found, of(store));
        all.lock().unwrap().push(found);
    });
    let mut all = all.into_inner().unwrap();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
    all.pop().unwrap()
}

#[test]
fn a_changed_heap_saves_the_difference_of_the_medians_in_each_later_run() {
    let mut apps: Vec<_> = (0..4).map(|night| nightly(night, "4g", 40, Status::Succeeded)).collect();
    apps.push(nightly(4, "4g", 400, Status::Failed));
    apps.extend((5..10).map(|night| nightly(night, "2g", 25, Status::Succeeded)));
    let [change] = &realised(&apps)[..] else { panic!() };
    assert_eq!((change.first.as_str(), change.runs), ("app_005", (4, 5)));
    assert_eq!(change.since, Some(Timestamp::from_millis(5 * 86_400_000)));
    assert_eq!(change.used_gb_hours, (40.0, 25.0));
    assert!((change.saved_gb_hours - 75.0).abs() < 1e-9);
    let [setting] = &change.changed[..] else { panic!() };
    assert_eq!(setting.setting, "spark.executor.memory");
    assert_eq!((setting.from.as_deref(), setting.to.as_deref()), (Some("4g"), Some("2g")));
    assert!(!setting.advised);
}

#[test]
fn a_recommended_value_is_told_however_it_is_written() {
    let apps: Vec<_> = (0..6)
        .map(|night| {
            let (heap, gib) = if night < 3 { ("4g", 40) } else { ("2g", 25) };
            nightly(night, heap, gib, Status::Succeeded)
        })
        .collect();
    with_stores(&apps, |store| {
        let advice = "INSERT INTO setting (application, n, name, old, new) \
                      SELECT application, 0, 'spark.executor.memory', '4g', '2048m' FROM application \
                      WHERE id = 'app_001'";
        store.database.execute(advice, &[]).unwrap();
        let [change] = &of(store)[..] else { panic!() };
        assert!(change.changed.iter().all(|setting| setting.advised), "{change:?}");
    });
}

#[test]
fn kept_changes_are_those_of_all_runs() {
    let night = |night: i64, (heap, gib): (&str, u64)| nightly(night, heap, gib, Status::Succeeded);
    let apps: Vec<_> = (0..9).map(|n| night(n, if n < 4 { ("4g", 40) } else { ("2g", 25) })).collect();
    with_stores(&apps, |store| {
        let kept = || store.database.count("SELECT count(*) FROM job_change", &[]).unwrap();
        let stale = || store.database.count("SELECT count(*) FROM stale_job", &[]).unwrap();
        assert_eq!((kept(), stale()), (0, 1));
        store.compare_again().unwrap();
        assert_eq!((kept(), stale()), (1, 0));
        // Other runs of the job, one of them before the change.
        for app in [night(9, ("2g", 5)), night(-1, ("4g", 60)), night(10, ("8g", 9))] {
            record::application(&store.database, 1, &app).unwrap();
            let found = of(store);
            let all = |filter: &Filter| {
                store.changes(&Selection::of(&store.database, filter, Only::ALL).unwrap()).unwrap().len()
            };
            assert_eq!((found.len(), stale()), (1, 1));
            assert_eq!(all(&Filter { ids: vec!["*".parse().unwrap()], ..Filter::default() }), 1);
            store.compare_again().unwrap();
            assert_eq!((of(store), stale()), (found, 0));
        }
        // Runs since a day after the change still have it.
        let day = |day: i64| Timestamp::from_millis(day * 86_400_000);
        let later = Filter { since: Some(day(6)), until: Some(day(8)), ..Filter::default() };
        let later = store.changes(&Selection::of(&store.database, &later, Only::ALL).unwrap()).unwrap();
        assert_eq!((later.len(), later[0].step.runs_since), (1, 2));
        // Other engines have no such job.
        let other = Filter { engine: Some(elephant_model::model::Engine::MapReduce), ..Filter::default() };
        assert!(
            store.changes(&Selection::of(&store.database, &other, Only::ALL).unwrap()).unwrap().is_empty()
        );
        // Too few runs are left.
        store.prune(Timestamp::from_millis(3 * 86_400_000)).unwrap();
        assert_eq!((of(store), kept(), stale()), (Vec::new(), 0, 0));
    });
}

#[test]
fn a_smaller_cluster_is_no_change_of_settings() {
    // The same job on two clusters: one with large executors all the time, one with small ones later on.
    let night = |n: i64, cluster: &str, (heap, gib): (&str, u64)| {
        let mut app = nightly(n, heap, gib, Status::Succeeded);
        app.id = format!("{}_{cluster}", app.id);
        app.sources = vec![format!("{cluster}/{}", app.id)];
        app.cluster = Some(cluster.to_owned());
        app
    };
    let large = (0..8).map(|n| night(n, "large", ("8g", 80)));
    let small = (8..16).map(|n| night(n, "small", ("2g", 20)));
    let moved: Vec<_> = large.chain(small).collect();
    assert_eq!(realised(&moved), [], "the runs that cost less are on another cluster");
    // A change on one of them is that of this one, and only its runs count.
    let both = (0..10).flat_map(|n| {
        let small = if n < 5 { ("4g", 40) } else { ("2g", 20) };
        [night(n, "large", ("8g", 80)), night(n, "small", small)]
    });
    let [change] = &realised(&both.collect::<Vec<_>>())[..] else { panic!() };
    assert_eq!((change.cluster.as_deref(), change.runs), (Some("small"), (5, 5)));
    assert_eq!(change.used_gb_hours, (40.0, 20.0));
    assert!((change.saved_gb_hours - 100.0).abs() < 1e-9);
}
