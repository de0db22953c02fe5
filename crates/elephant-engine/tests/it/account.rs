//! Where the run time went, and the headlines of troubles, over real logs.

use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::What;
use elephant_model::model::Engine;
use elephant_ruleset::RuleSet;
use elephant_testing::shared;

#[test]
fn the_parts_of_the_run_time_add_up_to_it() {
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let (mut accounts, mut queries) = (0, 0);
    for app in &analyze(&[corpus, runs], &rules, Options::default()).applications {
        let Some(account) = &app.account else {
            let run_time = app.metrics.run_time.filter(|time| *time > Millis::ZERO);
            assert_eq!(run_time, None, "{}: a run with a start and an end has an account", app.id);
            continue;
        };
        assert_eq!(account.parts.iter().map(|part| part.time).sum::<Millis>(), account.total, "{}", app.id);
        assert!(account.parts.len() <= 7, "{}: {:?}", app.id, account.parts);
        if let Some(run_time) = app.metrics.run_time.filter(|_| app.engine == Engine::MapReduce) {
            assert_eq!(account.total, run_time, "{}", app.id);
        }
        let told = account.parts.iter().filter(|part| !matches!(part.what, What::Rest { .. }));
        let times: Vec<Millis> = told.map(|part| part.time).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{}: largest first: {times:?}", app.id);
        accounts += 1;
        let of_query = |part: &elephant_engine::results::Part| match &part.what {
            What::Phase { owner, .. } | What::Stages { owner, .. } => {
                owner.as_ref().is_some_and(|owner| owner.query.is_some())
            }
            What::Idle { .. } | What::Rest { .. } => false,
        };
        queries += u32::from(account.parts.iter().any(of_query));
    }
    assert!(accounts >= 100 && queries >= 40, "{accounts} accounts, {queries} with queries");
}

#[test]
fn headlines_have_no_limits() {
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut places = 0;
    for app in &analyze(&[corpus, runs], &rules, Options::default()).applications {
        for trouble in &app.troubles {
            for severity in Severity::ALL {
                let limit = format!("({} from", severity.name());
                assert!(!trouble.statement.contains(&limit), "{}: {}", app.id, trouble.statement);
            }
            places += u32::from(!trouble.place.is_empty());
        }
    }
    assert!(places >= 50, "{places} troubles with a place");
}
