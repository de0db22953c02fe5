//! Causes, costs and days over all applications.

use super::causes::Palette;
use super::{distributions, sentences};
use crate::document::{Axis, Block, Cell, Column, Drawing, Media, Row, Section, Table, Value};
use crate::words::{grouped, plural};
use elephant_analysis::stragglers::impact::Impact;
use elephant_base::units::{Millis, three_digits};
use elephant_engine::survey::{Settings, StragglerDay, Total};

/// Days that a page lists.
const MAX_DAYS: usize = 60;
/// Servers that are named.
const MAX_SERVERS: usize = 5;

/// What the columns of days count.
const DAYS: &str = "The colours are those of the causes above. The causes next to the day are those of all stragglers. The columns of the DoS-index (time per input over that of the group) count tasks, including those with so little input that they took no longer than others. The last column has the causes of the stragglers with an index of 10 or more.";

pub(super) fn causes_and_costs<'a>(
    total: &'a Total,
    settings: &Settings,
    palette: &Palette,
    media: Media,
) -> Section<'a> {
    let causes = (total.causes.stragglers() > 0).then(|| causes(total, palette));
    let costs = (total.by_median.tasks > 0).then(|| costs(total, settings));
    let tables: Vec<Block<'_>> = causes.into_iter().chain(costs).map(Block::Table).collect();
    let tables = (!tables.is_empty()).then_some(Block::Beside(tables));
    // On a page, the sentences are below their charts.
    let in_text = if media == Media::HTML { Media::NONE } else { Media::TEXT };
    Section::new("causes", "Causes and costs", "Causes and costs")
        .only(media, tables)
        .only(in_text, distributions::delays(&total.by_median.delays).map(Block::Note))
        .only(in_text, distributions::per_server(&total.by_median.per_server).map(Block::Note))
        .only(Media::HTML, distributions::charts(&total.by_median))
}

fn causes<'a>(total: &'a Total, palette: &Palette) -> Table<'a> {
    let columns = [
        Column::key("cause", 20, 34),
        Column::drawn(Axis::Shares).only(Media::HTML),
        Column::number("stragglers", 10).on_page("Count"),
        Column::number("share", 6),
        Column::number("apps", 5).only(Media::TEXT),
        Column::text("confidence", 10).only(Media::TEXT),
    ];
    let rows = total.causes.by_frequency().into_iter().map(|(count, percent)| {
        let confidence = count.confidence().to_string();
        let sure = (!confidence.is_empty()).then(|| Value::words(confidence.clone()));
        let bar = Drawing::Shares(vec![(palette.class(count.cause), percent / 100.0)]);
        Row::new([
            Cell::from(Value::Own(count.cause.display_name())).remark(sure),
            Value::Drawing(bar).into(),
            count.primary.into(),
            Value::Sorted(format!("{} %", three_digits(percent)), Some(percent)).into(),
            count.applications.into(),
            Value::words(confidence).into(),
        ])
    });
    Table::new(columns, rows).figure("shares", "Stragglers by cause")
}

/// Table 2 of Garraghan et al. (2019), by the median and by the mean.
fn costs<'a>(total: &'a Total, settings: &Settings) -> Table<'a> {
    let columns = [
        Column::key("impact of stragglers", 28, usize::MAX).on_page("Measure"),
        Column::number("by the median", 15),
        Column::number("by the mean", 15),
    ];
    let row = |name: &'static str, value: &dyn Fn(&Impact) -> Value<'static>| {
        let sides = [&total.by_median, &total.by_mean].map(|impact| Cell::from(value(impact)));
        Row::new([Cell::from(Value::Own(name))].into_iter().chain(sides))
    };
    let rows = [
        row("tasks that were stragglers", &|impact| part(impact.stragglers, impact.tasks)),
        row("applications with stragglers", &|impact| part(impact.jobs_hit, impact.jobs)),
        row("median excess of stragglers", &|impact| seconds(impact.median_excess)),
        row("delay after the slowest other task", &|impact| seconds(impact.median_job_delay)),
        row("extra task time", &|impact| {
            Value::known(impact.extra_compute, |share| Value::Sorted(percent(share), Some(share)))
        }),
        row("nodes with stragglers", &|impact| part(impact.servers_hit, impact.servers)),
    ];
    let waste = total.speculation_waste.filter(|&waste| waste > 0.0);
    Table::new(columns, rows)
        .figure("costs", "What stragglers cost")
        .note(waste.map(|waste| format!("Losing attempts took {} of the task time.", percent(waste))))
        .note(servers(&total.by_median))
        .note(sentences::not_counted(total, settings))
}

/// "Most stragglers ran on …".
fn servers(impact: &Impact) -> Option<String> {
    let named =
        impact.worst_servers.iter().take(MAX_SERVERS).map(|(node, ran)| {
            format!("{node} ({} of {})", grouped(ran.stragglers), plural(ran.tasks, "task"))
        });
    let named: Vec<String> = named.collect();
    (impact.servers_hit > 0 && impact.servers > 1)
        .then(|| format!("Most stragglers ran on {}.", named.join(", ")))
}

/// "12 (3 %)".
fn part(part: u64, whole: u64) -> Value<'static> {
    let share = (whole > 0).then(|| format!(" ({:.0} %)", 100.0 * part as f64 / whole as f64));
    Value::Sorted(format!("{}{}", grouped(part), share.unwrap_or_default()), Some(part as f64))
}

fn seconds(seconds: Option<f64>) -> Value<'static> {
    seconds.and_then(Millis::from_seconds).into()
}

fn percent(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

/// Stragglers by the day of submission, with their causes (figures 5 and 6, and table 3 of Garraghan et al.).
pub(super) fn days<'a>(total: &'a Total, palette: &Palette, media: Media) -> Section<'a> {
    let section = Section::new("days", "Days", "Days");
    let days = &total.days;
    if days.len() < 2 {
        return section;
    }
    let earlier = days.len().saturating_sub(MAX_DAYS);
    let shown = |place: usize| if place < earlier { Media::TEXT } else { Media::ALL };
    let (page, text) = (|column: Column| column.only(Media::HTML), |column: Column| column.only(Media::TEXT));
    let columns = [
        Column::key("day", 16, usize::MAX),
        page(Column::drawn(Axis::Shares)),
        text(Column::number("applications", 12)),
        Column::number("stragglers", 11),
        Column::number("tasks", 8),
        text(Column::number("DoS ≥ 2.5", 10)),
        text(Column::number("DoS ≥ 10", 9)),
    ];
    let rows = days.iter().enumerate().map(|(place, day)| {
        let applications = plural(day.applications, "application");
        let cells = [
            Cell::from(crate::words::day(day.begin)).remark(Value::words(applications)),
            Value::Drawing(shares(day, palette)).into(),
            day.applications.into(),
            day.stragglers.into(),
            day.tasks.into(),
            day.dos.map(|(report, _)| report).into(),
            day.dos.map(|(_, diagnose)| diagnose).into(),
        ];
        Row::new(cells).only(shown(place))
    });
    let more = (earlier > 0)
        .then(|| Block::Note(format!("and {}, in the JSON report", plural(earlier as u64, "earlier day"))));
    let bars = Table::new(columns, rows).figure("days", "Stragglers by day of submission");
    let section = section
        .only(media, Block::Table(bars))
        .only(Media::HTML, more)
        .only(Media::HTML, Block::Note(DAYS.to_owned()))
        .only(Media::HTML, Block::Table(causes_by_day(days.get(earlier..).unwrap_or_default())));
    let correlations = total.correlations.iter().map(|one| Block::Told(sentences::correlation(one)));
    correlations.fold(section, |section, sentence| section.only(media, sentence))
}

/// The stragglers among the tasks by cause.
fn shares(day: &StragglerDay, palette: &Palette) -> Drawing {
    let share = |count: u64| count as f64 / day.tasks.max(1) as f64;
    let parts = palette.in_order(&day.causes).into_iter();
    Drawing::Shares(parts.map(|(count, class)| (class, share(count.primary))).collect())
}

fn causes_by_day(days: &[StragglerDay]) -> Table<'_> {
    let columns = [
        Column::key("day", 0, 0),
        Column::text("causes of stragglers", 0),
        Column::number("DoS-index ≥ 2.5", 0),
        Column::number("DoS-index ≥ 10", 0),
        Column::text("causes of stragglers ≥ 10", 0),
    ];
    let count = |count: Option<u64>| count.map_or(Value::Own("unknown"), Value::from).into();
    let row = |day: &'_ StragglerDay| {
        Row::new([
            crate::words::day(day.begin).into(),
            Value::words(sentences::causes(&day.causes)).into(),
            count(day.dos.map(|(report, _)| report)),
            count(day.dos.map(|(_, diagnose)| diagnose)),
            Value::words(sentences::causes(&day.diagnosed)).into(),
        ])
    };
    Table::new(columns, days.iter().map(row)).in_order().named("Causes by day")
}
