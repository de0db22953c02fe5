//! One application: a histogram of task durations for its worst groups, coloured by cause, and the slowest tasks.

use super::causes::Palette;
use super::{Shown, sentences, words};
use crate::document::ids::PageIds;
use crate::document::{Bar, Block, Cell, Chart, Column, Row, Section, Table, Value};
use crate::words::{grouped, plural};
use elephant_analysis::stragglers::cause::StragglerCause;
use elephant_analysis::stragglers::executions::Certainty;
use elephant_base::units::{Millis, three_digits};
use elephant_engine::survey::{
    ApplicationStragglers, CauseCount, CauseCounts, GroupReport, Method, Settings, Straggler, StragglerReport,
};

/// Groups with a histogram.
const MAX_GROUPS: usize = 5;

pub(super) fn part<'a>(
    id: &str,
    app: &'a ApplicationStragglers,
    report: &'a StragglerReport,
    shown: Shown,
    palette: &Palette,
) -> Section<'a> {
    let settings = &report.settings;
    let name = app.name.as_deref().unwrap_or_default();
    let incomplete = "Log incomplete: results cover the part that was read.";
    let section = Section::job(id, "", &app.id, name)
        .with(Block::Facts(facts(app, settings)))
        .with((!app.complete).then(|| Block::Warning(incomplete.to_owned())));
    let all = with_stragglers(app);
    let most = shown.stragglers.unwrap_or(usize::MAX);
    let mut ids = PageIds::default();
    let groups = all.iter().take(MAX_GROUPS).map(|group| {
        let chart = histogram(group, settings, palette).map(Block::Chart);
        let parts = chart.into_iter().chain([Block::Table(tasks(group, most))]).collect();
        Block::Group(ids.part(id, &words::of(group)), parts)
    });
    let section = groups.fold(section, Section::with);
    let rest = all.get(MAX_GROUPS..).filter(|rest| !rest.is_empty());
    section.with(rest.map(|rest| {
        let stragglers: usize = rest.iter().map(|group| group.stragglers.len()).sum();
        let (groups, stragglers) =
            (plural(rest.len() as u64, "more group"), plural(stragglers as u64, "straggler"));
        Block::Note(format!("{groups} with {stragglers} not shown; the JSON and CSV reports have all."))
    }))
}

/// The groups that have histograms.
pub(super) fn groups_shown(app: &ApplicationStragglers) -> Vec<&GroupReport> {
    with_stragglers(app).into_iter().take(MAX_GROUPS).collect()
}

/// Groups with stragglers, the one with the longest first.
fn with_stragglers(app: &ApplicationStragglers) -> Vec<&GroupReport> {
    let mut groups: Vec<&GroupReport> =
        app.groups.iter().filter(|group| !group.stragglers.is_empty()).collect();
    let longest = |group: &GroupReport| group.stragglers.first().map(|straggler| straggler.duration);
    groups.sort_by_key(|group| (std::cmp::Reverse(longest(group)), group.kind));
    groups
}

/// "12 of 200 tasks were stragglers", and what else is known.
fn facts(app: &ApplicationStragglers, settings: &Settings) -> Vec<String> {
    let were = if app.stragglers() == 1 { "was a straggler" } else { "were stragglers" };
    let mut facts = vec![
        app.origin.name().to_owned(),
        app.status.name().to_owned(),
        format!("{} of {} {were}", grouped(app.stragglers()), plural(app.judged(), "task")),
    ];
    if settings.method == Method::Median && app.delay > Millis::ZERO {
        let why = sentences::mainly(app).filter(|_| app.waited_for.is_some());
        let why = why.map(|why| format!(": {}", why.trim_start_matches("waited for "))).unwrap_or_default();
        facts.push(format!("waited {} only for stragglers{why}", app.delay));
    }
    if app.copies.launched > 0 {
        facts.push(format!(
            "{} speculative copies, {} won; losing attempts took {}",
            grouped(app.copies.launched),
            grouped(app.copies.won),
            app.copies.lost
        ));
    }
    facts
}

/// The tasks that are no stragglers, and above them the stragglers by cause. `None` without tasks.
fn histogram(group: &GroupReport, settings: &Settings, palette: &Palette) -> Option<Chart> {
    let steps = &group.histogram.steps;
    let sentence = sentences::limit(group, settings);
    let caption = format!("Time per task: {}", words::of(group));
    let bars =
        steps.iter().zip(group.causes_by_step()).enumerate().map(|(place, (&(from, count), causes))| {
            let is_last = place + 1 == steps.len();
            let mut parts = vec![("ok", count.saturating_sub(causes.stragglers()) as f64)];
            let by_cause = palette.in_order(&causes).into_iter();
            parts.extend(by_cause.map(|(count, class)| (class, count.primary as f64)));
            let named = sentences::causes(&causes);
            let why = if named.is_empty() { String::new() } else { format!("; {named}") };
            let label = if group.histogram.open && is_last { format!("{from}+") } else { from.to_string() };
            let is_marked = group.histogram.limit.is_some_and(|limit| place >= limit);
            let text = format!("{}: {}{why}", range(steps, place), plural(count, "task"));
            Some(Bar { label, parts, text, is_marked })
        });
    let bars: Vec<Option<Bar>> = bars.collect();
    let limit = group.histogram.limit.filter(|_| !bars.is_empty());
    let tick = |(place, (from, _)): (usize, &(Millis, u64))| match place {
        0 => "0".to_owned(),
        place if place % 3 == 0 => from.to_string(),
        _ => String::new(),
    };
    let mut keys = vec![("ok", "no straggler".to_owned())];
    keys.extend(limit.map(|_| ("limit", "limit".to_owned())));
    let mut legend = vec![vec![("", sentence.clone())], keys];
    legend.extend(by_cause(group, palette).into_iter().map(|key| vec![key]));
    steps.iter().any(|(_, count)| *count > 0).then(|| Chart {
        label: format!("{caption}: {sentence}"),
        caption,
        told: Some(format!("{}: {sentence}", words::of(group))),
        ticks: steps.iter().enumerate().map(tick).chain([String::new()]).collect(),
        bars,
        limit,
        legend,
        remark: group.histogram.open.then_some("The last bar holds all longer tasks."),
    })
}

/// "5 s to 6 s", "from 10 s".
fn range(steps: &[(Millis, u64)], place: usize) -> String {
    let from = |place: usize| steps.get(place).map(|step| step.0);
    let start = from(place).unwrap_or_default();
    from(place + 1).map_or_else(|| format!("from {start}"), |end| format!("{start} to {end}"))
}

/// The causes of the stragglers with their colours: "data skew: 12 (10 measured, 2 inferred)".
fn by_cause(group: &GroupReport, palette: &Palette) -> Vec<(&'static str, String)> {
    let mut counts = CauseCounts::default();
    counts.add(group.stragglers.iter().filter_map(|straggler| straggler.cause.as_ref()));
    let entry = |(count, class): (CauseCount, &'static str)| {
        let sure = count.confidence().to_string();
        let sure = if sure.is_empty() { String::new() } else { format!(" ({sure})") };
        (class, format!("{}: {}{sure}", count.cause.display_name(), grouped(count.primary)))
    };
    palette.in_order(&counts).into_iter().map(entry).collect()
}

/// The slowest tasks.
fn tasks(group: &GroupReport, most: usize) -> Table<'_> {
    let columns = [
        Column::text("task", 8),
        Column::key("node", 10, 22),
        Column::number("took", 13),
        Column::number("times", 6),
        Column::number("DoS", 6).on_page("DoS-index"),
        Column::text("cause", 0).only(crate::document::Media::HTML),
    ];
    let more = group.stragglers.len().saturating_sub(most) as u64;
    Table::new(columns, group.stragglers.iter().take(most).map(task))
        .figure("tasks", format!("Slowest tasks: {}", words::of(group)))
        .note((more > 0).then(|| format!("and {} more (--tasks)", grouped(more))))
}

fn task(straggler: &Straggler) -> Row<'_> {
    let sign = match straggler.certainty {
        Certainty::AtLeast => ">",
        Certainty::Estimated => "~",
        Certainty::Measured => "",
    };
    let took = format!("{sign}{}", sentences::exact(straggler.duration));
    let cause = straggler.cause.as_ref();
    let cells = [
        straggler.task.map_or(Value::Own("?"), |task| Value::Sorted(task.to_string(), None)).into(),
        straggler.node.as_deref().map_or(Value::Own("?"), Value::from).into(),
        Value::Sorted(took, Some(straggler.duration.as_f64())).into(),
        times(straggler.times_reference),
        times(straggler.dos_index),
        cause.map_or_else(|| Value::Nothing.into(), cell),
    ];
    Row::new(cells).below(cause.map(why))
}

/// "2.3×"; a task without input that took time has an infinite index.
fn times<'a>(value: Option<f64>) -> Cell<'a> {
    let text = |value: f64| {
        if value.is_finite() { format!("{}×", three_digits(value)) } else { "no input".to_owned() }
    };
    Value::known(value, |value| Value::Sorted(text(value), Some(value))).into()
}

fn cell(cause: &StragglerCause) -> Cell<'_> {
    let confidence = cause.confidence.map(|confidence| Value::Own(confidence.name()));
    Cell::from(Value::Own(cause.primary.display_name()))
        .remark(confidence)
        .remark(sentences::fact(cause).map(Value::words))
}

/// The primary cause, its confidence, and its evidence.
fn why(cause: &StragglerCause) -> String {
    let confidence = cause.confidence.map(|it| format!(" ({})", it.name())).unwrap_or_default();
    let fact = sentences::fact(cause).map(|fact| format!(": {fact}")).unwrap_or_default();
    format!("{}{confidence}{fact}", cause.primary.display_name())
}
