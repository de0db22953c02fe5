//! The impact of the stragglers of one application, by one way of labelling.

use super::group::host;
use elephant_analysis::stragglers::group::{GroupStragglers, covered};
use elephant_analysis::stragglers::impact::{JobImpact, JudgedGroup, JudgedTask};
use elephant_analysis::stragglers::labels::{Labelling, Labels};
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;

/// The impact by the labels of the groups, which compare with medians, and by those of `mean`.
pub(super) fn impacts(
    app: &Application,
    views: &[GroupStragglers<'_>],
    mean: Labelling,
) -> (JobImpact, JobImpact) {
    let by_mean: Vec<Labels> = views.iter().map(|view| mean.of(&view.executions)).collect();
    let by_median: Vec<&Labels> = views.iter().map(|view| &view.labels).collect();
    (impact(app, views, &by_median), impact(app, views, &by_mean.iter().collect::<Vec<_>>()))
}

/// The impact, with the labels of each group.
fn impact(app: &Application, views: &[GroupStragglers<'_>], labels: &[&Labels]) -> JobImpact {
    let groups: Vec<JudgedGroup> =
        views.iter().zip(labels).map(|(view, labels)| judged(app, view, labels)).collect();
    JobImpact::of(&groups).with_times(waited(views, labels), took(views))
}

/// How long the application waited only for stragglers. If several groups waited at the same time, it counts once.
fn waited(views: &[GroupStragglers<'_>], labels: &[&Labels]) -> Millis {
    let hit = views.iter().zip(labels).filter(|(_, labels)| labels.count() > 0);
    covered(hit.flat_map(|(view, labels)| view.waits(&labels.stragglers)).map(|(_, period)| period))
}

/// From the start of the first judged task to the end of the last.
fn took(views: &[GroupStragglers<'_>]) -> Option<Millis> {
    let spans: Vec<(Timestamp, Timestamp)> = views.iter().filter_map(GroupStragglers::span).collect();
    let start = spans.iter().map(|(start, _)| *start).min()?;
    Millis::between(start, spans.iter().map(|(_, end)| *end).max()?)
}

fn judged(app: &Application, view: &GroupStragglers<'_>, labels: &Labels) -> JudgedGroup {
    let tasks = view.executions.tasks.iter().zip(&labels.stragglers).map(|(task, straggler)| JudgedTask {
        duration: task.duration,
        straggler: *straggler,
        node: host(app, view.group, task.attempt()),
    });
    JudgedGroup { limit: labels.limit, tasks: tasks.collect() }
}
