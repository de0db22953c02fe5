//! Nodes that lost their executors, and which nodes are to be excluded.

use elephant_base::units::Timestamp;
use elephant_engine::conditions::Conditions;
use elephant_engine::nodes::cluster::Cluster;
use elephant_engine::nodes::collect::{Hosts, Sample};
use elephant_engine::nodes::settings::Settings;
use elephant_engine::nodes::{self, NodeTypes, Ranking};
use elephant_model::model::Application;

/// An application with these executors: their host, and whether they were lost.
fn app(executors: &[(&str, bool)]) -> Application {
    let mut app = elephant_sample::app(&[]);
    for (id, (host, lost)) in executors.iter().enumerate() {
        let host = app.strings.intern(host);
        let executor = elephant_sample::executor(&mut app, &id.to_string());
        executor.host = host;
        if *lost {
            executor.removed_at = Some(Timestamp::from_millis(1000));
            executor.removed_reason = Some("Command exited with code 1".to_owned());
        }
    }
    app
}

fn rank(apps: &[Application]) -> Ranking {
    let (hosts, settings) = (Hosts::default(), Settings::default());
    let mut cluster = Cluster::default();
    for app in apps {
        cluster.add(&Sample::of(app, &hosts, &settings, &Conditions::default()));
    }
    nodes::rank(cluster, hosts, &NodeTypes::default(), &settings)
}

/// So many executors on a host, all lost or none.
fn on(host: &str, count: usize, lost: bool) -> Vec<(&str, bool)> {
    vec![(host, lost); count]
}

#[test]
fn a_node_that_lost_all_its_executors_leads_and_is_excluded() {
    let others = ["a", "b", "c", "d", "e", "f"].map(|host| (host, false));
    let ranking = rank(&[app(&[on("bad", 47, true), others.to_vec()].concat())]);
    let first = &ranking.nodes[0];
    assert_eq!((&*first.name, first.failed, first.to_exclude, first.tasks), ("bad", true, true, 0));
    assert_eq!((first.executors.hits, first.executors.members), (47, 47));
    assert_eq!(ranking.summary.failed, 1);
}

#[test]
fn losses_that_other_nodes_have_too_are_not_the_node() {
    let failed = |executors: &[(&str, bool)]| rank(&[app(executors)]).summary.failed;
    // An application that was stopped loses all executors.
    assert_eq!(failed(&[on("a", 9, true), on("b", 9, true)].concat()), 0);
    // There is nothing to compare with.
    assert_eq!(failed(&on("a", 47, true)), 0);
    // Two may be chance; a few of many are no reason to drain a node.
    assert_eq!(failed(&[on("a", 2, true), on("b", 9, false)].concat()), 0);
    assert_eq!(failed(&[on("a", 5, true), on("a", 20, false), on("b", 25, false)].concat()), 0);
    assert_eq!(failed(&[on("a", 5, true), on("b", 25, false)].concat()), 1);
}
