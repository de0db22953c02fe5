//! An answer as a document: the sums first, then tables.

use super::links::Links;
use super::nodes::{ranking, summary as of_nodes};
use super::over_time::{chart, latest, trend};
use super::unjudged::{self, unread};
use super::words;
use crate::document::{
    Block, Cell, Chart, Column, Document, Drawing, Figure, Media, Row, Section, Table, Value,
};
use crate::words::plural;
use elephant_store::{Answer, Fleet, Group, Grouped, Grouping, Periods, Ranked, Realised, Run, Runs, View};

const FOOTER: &str = "from a store. Times are in UTC. 1 GB·h is one gibibyte held for one hour. What is unknown of an application is missing in the sums; what --top leaves out is in them.";

/// The answer; only its first sentences if a summary is wanted.
pub(super) fn of(answer: &Answer, summary: bool) -> Document<'_> {
    let filler = Filler::new(answer);
    let mut sections = vec![filler.sums(summary)];
    if !summary {
        filler.view(&mut sections);
    }
    Document { title: "Fleet", foot: FOOTER.to_owned(), problems: &[], sections }
}

/// Fills sections with parts of an answer.
pub(crate) struct Filler<'a> {
    answer: &'a Answer,
    /// Of costs, if there are prices.
    currency: Option<&'a str>,
    /// Where names lead to, if anywhere.
    links: Links,
}

impl<'a> Filler<'a> {
    pub(crate) fn new(answer: &'a Answer) -> Self {
        Self { answer, currency: answer.currency.as_deref(), links: Links(None) }
    }

    /// With links to the pages of a server.
    #[cfg(feature = "site")]
    pub(crate) fn on_site(answer: &'a Answer) -> Self {
        Self { links: Links(Some(crate::site::ADDRESSES)), ..Self::new(answer) }
    }

    pub(crate) fn sums(&self, summary: bool) -> Section<'a> {
        let answer = self.answer;
        let mut section = Section::new("answer", "Answer", "").with(Block::Headline(words::extent(answer)));
        if answer.total.applications == 0 {
            return section;
        }
        section =
            section.with(Block::Lead(words::costs(answer))).only(Media::HTML, Block::Figures(self.figures()));
        match &answer.view {
            View::Overview(fleet) if !summary => section
                .only(Media::PLAIN, words::saved_so_far(fleet, self.currency).map(Block::Lead))
                .only(Media::TEXT, words::unread(fleet).map(Block::Lead))
                .only(Media::TEXT, of_nodes(&fleet.nodes).map(Block::Lead)),
            View::Job(runs) if !summary => {
                let changes = runs.changes.iter().map(|change| Block::Lead(words::change(change)));
                let none = Block::Lead("neither run time nor memory changed its level".to_owned());
                let none = runs.changes.is_empty().then_some(none);
                let month = words::per_month(answer).map(Block::Lead);
                month.into_iter().chain(changes).chain(none).fold(section, Section::with)
            }
            _ => section,
        }
    }

    pub(crate) fn figures(&self) -> Vec<Figure<'a>> {
        let total = &self.answer.total;
        let hours = |hours: Option<f64>| Value::known(hours, |hours| Value::Amount(hours, "GB·h"));
        let money = |cost| words::money_text(cost, self.currency);
        let judged = total.judged_gb_hours.filter(|judged| Some(*judged) != total.used_gb_hours);
        let of = judged.map(|judged| format!(" of the {} GB·h that can be judged", words::amount(judged)));
        let share = words::share(total).map(|share| format!("{share:.0}\u{a0}%"));
        let share = share.into_iter().chain(of).collect::<String>();
        let figure = |name, value, remarks: Vec<Option<String>>| Figure {
            name,
            value,
            remarks: remarks.into_iter().flatten().collect(),
        };
        let runs = format!("{} failed, {} killed, {} not judged", total.failed, total.killed, total.unjudged);
        let mut figures = vec![
            figure("Applications", total.applications.into(), vec![Some(runs)]),
            figure("Used", hours(total.used_gb_hours), vec![money(total.cost)]),
            figure("Not needed", hours(total.wasted_gb_hours), vec![Some(share)]),
            figure("Known remedies save", hours(total.saved_gb_hours), vec![money(total.saved_cost)]),
        ];
        if let View::Overview(fleet) = &self.answer.view
            && fleet.realised_of > 0
        {
            let by = format!("by {}", plural(fleet.realised_of, "change"));
            let saved = Value::Amount(fleet.realised_gb_hours, "GB·h");
            let remarks = vec![Some(by), money(fleet.realised_cost)];
            figures.push(figure("Changed configurations saved", saved, remarks));
        }
        figures
    }

    fn view(&self, sections: &mut Vec<Section<'a>>) {
        let total = self.answer.total.applications;
        match &self.answer.view {
            View::Overview(fleet) if total == 0 => sections.push(unread(fleet, self.links)),
            View::Overview(fleet) => self.fleet(fleet, sections),
            View::Groups(grouping, grouped) => {
                sections.push(self.groups(("groups", "Groups"), *grouping, grouped, None));
            }
            View::Nodes(all) => sections.push(ranking(all, Media::ALL, self.links)),
            View::Worst(runs) => {
                let hidden = words::hidden(total, runs.len());
                sections.push(self.runs(runs, true).hiding(hidden, self.links.more()));
            }
            View::Unjudged(unjudged) => sections.extend(unjudged::sections(unjudged, self.links)),
            View::Job(Runs { shown, of, .. }) => {
                let hidden = words::hidden(*of, shown.len());
                sections.push(self.runs(shown, false).hiding(hidden, self.links.earlier()));
            }
        }
    }

    fn fleet(&self, fleet: &'a Fleet, sections: &mut Vec<Section<'a>>) {
        let mut time =
            Section::new("time", "Over time", "Over time").only(Media::HTML, chart(fleet).map(Block::Chart));
        if let Some((table, earlier)) = latest(fleet) {
            time = time.only(Media::PLAIN, Block::Table(table));
            let note = format!("{} earlier (`--format json`)", crate::words::grouped(earlier));
            time = time.only(Media::PLAIN, (earlier > 0).then_some(Block::Note(note)));
        }
        sections.extend([
            time,
            self.ranked(("jobs", "Jobs"), Grouping::Job, &fleet.jobs, fleet),
            self.groups(("troubles", "Troubles"), Grouping::Trouble, &fleet.troubles, None),
            self.ranked(("users", "Users"), Grouping::User, &fleet.users, fleet),
            self.ranked(("queues", "Queues"), Grouping::Queue, &fleet.queues, fleet),
            remedies(fleet, self.links),
            self.realised_of(fleet),
            ranking(&fleet.nodes, Media::WIDE, self.links),
            unread(fleet, self.links),
        ]);
    }

    /// Sums of groups of a fleet, with the waste of each over time if that is known.
    pub(crate) fn ranked(
        &self,
        part: (&'static str, &'static str),
        grouping: Grouping,
        ranked: &'a Ranked,
        fleet: &'a Fleet,
    ) -> Section<'a> {
        let series = fleet.periods.as_ref().map(|periods| (ranked, periods));
        self.groups(part, grouping, &ranked.grouped, series)
    }

    /// Sums of groups, with the waste of each over time if that is known.
    pub(crate) fn groups(
        &self,
        (id, title): (&'static str, &'static str),
        grouping: Grouping,
        grouped: &'a Grouped,
        series: Option<(&'a Ranked, &'a Periods)>,
    ) -> Section<'a> {
        let section = Section::new(id, title, title);
        if grouped.groups.is_empty() {
            return section;
        }
        let trends = grouped.groups.iter().enumerate().map(|(place, _)| {
            let (ranked, periods) = series?;
            trend(ranked.over_time.get(place)?, periods)
        });
        let trends: Vec<_> = trends.collect();
        let on_page = |wanted: bool| if wanted { Media::HTML } else { Media::NONE };
        let any = |count: fn(&Group) -> u64| grouped.groups.iter().any(|group| count(group) > 0);
        let killed = if any(|group| group.killed) { Media::ALL } else { Media::NONE };
        let unmeasured = if any(|group| group.unmeasured) { Media::WIDE } else { Media::NONE };
        // Findings have no saving of their own.
        let saves = if grouping == Grouping::Rule { Media::PLAIN } else { Media::ALL };
        let columns = [
            Column::key(grouping.name(), 12, 48),
            Column::text("not needed over time, each to its own scale", 0)
                .only(on_page(trends.iter().any(Option::is_some))),
            Column::number("runs", 5),
            Column::number("failed", 6),
            Column::number("killed", 6).only(killed),
            Column::number("memory unknown", 0).only(unmeasured),
            Column::number("GB·h", 7),
            Column::number("wasted", 7).long("not needed").in_list("wasted"),
            Column::number("%", 4).long("share").in_list("wasted %"),
            Column::number("saves", 7).long("remedies save").in_list("saves GB·h").only(saves),
        ];
        let rows = grouped.groups.iter().zip(trends).map(|(group, trend)| {
            Row::new(self.cells(grouping, group, trend).into_iter().chain(self.cost(group.cost)))
        });
        let table = Table::new(columns.into_iter().chain(self.cost_column(6)), rows);
        section
            .with(Block::Table(table))
            .hiding(words::hidden(grouped.of, grouped.groups.len()), self.links.more())
    }

    fn cells(&self, grouping: Grouping, group: &'a Group, trend: Option<Chart>) -> [Cell<'a>; 10] {
        let amount = |value: Option<f64>| Cell::from(words::hours(value));
        let key = group.key.as_deref();
        [
            self.links.group(key.into(), grouping, key),
            trend.map_or(Value::Nothing, |chart| Value::Drawing(Drawing::Bars(chart))).into(),
            group.applications.into(),
            group.failed.into(),
            group.killed.into(),
            group.unmeasured.into(),
            amount(group.used_gb_hours),
            amount(group.wasted_gb_hours),
            Value::known(words::share(group), |share| Value::Percent(share, 0)).into(),
            amount(group.saved_gb_hours),
        ]
    }

    fn cost_column(&self, least: usize) -> Option<Column> {
        self.currency.map(|currency| Column::number(currency.to_owned(), least).on_page("Cost"))
    }

    fn cost(&self, cost: Option<f64>) -> Option<Cell<'a>> {
        self.currency.map(|currency| Value::known(cost, |cost| Value::Amount(cost, currency)).into())
    }

    /// What changes of configurations saved.
    pub(crate) fn realised_of(&self, fleet: &'a Fleet) -> Section<'a> {
        let unpriced = words::unpriced(fleet)
            .map(|without| Block::Note(format!("The money saved so far is {without}.")));
        self.realised(&fleet.realised, fleet.realised_of).only(Media::HTML, unpriced)
    }

    /// Some of so many changes.
    pub(crate) fn realised(&self, changes: &'a [Realised], of: u64) -> Section<'a> {
        const NOTE: &str = "Medians of runs that succeeded, before and after. At least three of each are compared, for the same input if it is known; changes below 10 %, and those that chance makes in one of twenty cases, are left out. Other things may have changed at the same time, such as the code.";
        let section = Section::new("realised", "Changes", "What changed configurations saved");
        if changes.is_empty() {
            return section;
        }
        let costs = if self.currency.is_some() { Media::HTML } else { Media::NONE };
        let columns = [
            Column::key("job", 0, 0),
            Column::text("since", 0),
            Column::text("changed", 0),
            Column::number("GB·h a run", 0),
            Column::number("cost of a run", 0).only(costs),
            Column::number("run time", 0),
            Column::number("runs", 0),
            Column::number("saved so far", 0),
            Column::number("cost saved", 0).only(costs),
            Column::text("confidence", 0),
        ];
        let rows = changes.iter().map(|change| {
            let cost = words::costs_of_run(change, self.currency);
            let saved = Value::known(change.saved_cost.zip(self.currency), |(saved, currency)| {
                Value::Amount(saved, currency)
            });
            let cost_saved = change.saved_cost.map(|saved| saved >= 0.0);
            let changed = Value::words(words::settings_as_code(change));
            Row::new([
                self.links.group(words::job_of(change).into(), Grouping::Job, Some(&change.job)),
                Value::Sorted(words::since(change), None).into(),
                changed.into(),
                Value::Sorted(words::before_after(change), Some(change.used_gb_hours.1)).into(),
                Value::Sorted(cost, change.cost.map(|(_, after)| after)).into(),
                Value::Sorted(words::run_times(change), change.run_time.map(|(_, after)| after.as_f64()))
                    .into(),
                Value::Sorted(format!("{} → {}", change.runs.0, change.runs.1), Some(change.runs.1 as f64))
                    .into(),
                Cell::from(Value::Amount(change.saved_gb_hours, "GB·h")).better(change.saved_gb_hours >= 0.0),
                cost_saved.into_iter().fold(Cell::from(saved), Cell::better),
                change.confidence.name().into(),
            ])
        });
        let sentences = changes.iter().map(|change| words::realised(change, self.currency)).collect();
        section
            .only(Media::HTML, Block::Note(NOTE.to_owned()))
            .only(Media::PLAIN, Block::Label("changed configurations".to_owned()))
            .only(Media::PLAIN, Block::List(sentences))
            .only(Media::HTML, Block::Table(Table::new(columns, rows)))
            .hiding(words::hidden(of, changes.len()), self.links.more())
    }

    /// Runs, with the names of their jobs and what to change if they are of several jobs.
    fn runs(&self, runs: &'a [Run], named: bool) -> Section<'a> {
        self.listed(("runs", "Applications", "Applications"), runs, named)
    }

    /// The same with another id, link and title.
    pub(crate) fn listed(
        &self,
        (id, link, title): (&str, &str, &str),
        runs: &'a [Run],
        named: bool,
    ) -> Section<'a> {
        let section = Section::new(id, link, title);
        if runs.is_empty() {
            return section;
        }
        let wide = |wanted: bool| if wanted { Media::WIDE } else { Media::NONE };
        // An id of YARN and a cost fit into 80 columns.
        let columns = [
            Column::text("started", 10),
            Column::key(if named { "application" } else { "run" }, 20, 48).long("application").with_end(),
            Column::text("user", 0).only(Media::HTML),
            Column::text("status", 6),
            Column::number("took", 7),
            Column::number("GB·h", 5),
            Column::number("wasted", 6).long("not needed").in_list("wasted"),
            Column::text("first trouble", 0).only(Media::WIDE),
            Column::text("what to change", 0).only(wide(named)),
        ];
        let rows = runs.iter().map(|run| {
            let trouble = run.trouble.as_ref();
            let remedy = trouble.and_then(|(_, remedy)| remedy.as_deref());
            let cause = trouble.map(|(cause, _)| format!("{}: {cause}", run.severity.name()));
            let known: Vec<&str> =
                run.name.as_deref().filter(|_| named).into_iter().chain(cause.as_deref()).collect();
            let first = trouble.map_or_else(
                || Value::Nothing.into(),
                |(cause, _)| {
                    Cell::from(Value::words(cause.as_str())).badge(run.severity, run.severity.name())
                },
            );
            let user = run.user.as_deref();
            let words = |words: Option<&'a str>| words.map_or(Value::Nothing, Value::words);
            let cells: [Cell<'a>; 9] = [
                run.submitted.into(),
                self.links
                    .application(run.id.as_str().into(), &run.id)
                    .remark(run.name.as_deref().map(Value::from)),
                self.links.group(user.map_or(Value::Nothing, Value::from).into(), Grouping::User, user),
                run.status.as_str().into(),
                run.run_time.into(),
                words::hours(run.used_gb_hours).into(),
                words::hours(run.wasted_gb_hours).into(),
                first,
                words(remedy).into(),
            ];
            Row::new(cells.into_iter().chain(self.cost(run.cost)))
                .below((!known.is_empty()).then(|| known.join(", ")))
                .below(remedy.filter(|_| named).map(|remedy| format!("→ {remedy}")))
        });
        let table = Table::new(columns.into_iter().chain(self.cost_column(5)), rows);
        // A server has the order, of which this is a part.
        let is_part = named && self.links.0.is_some();
        section.with(Block::Table(if is_part { table.in_order() } else { table }))
    }
}

pub(crate) fn remedies(fleet: &Fleet, links: Links) -> Section<'_> {
    const NOTE: &str = "A job has one value for all its runs, never lower than what one of them needed. `elephant-rs analyze` on an application's history has its whole configuration to paste.";
    let section = Section::new("remedies", "Remedies", "Settings that save most");
    if fleet.remedies.is_empty() {
        return section;
    }
    let columns = [
        Column::key("setting", 16, 60),
        Column::text("change", 6),
        Column::number("runs", 5).long("applications").in_list("runs"),
        Column::number("jobs", 5),
        Column::number("saves", 7).long("saves GB·h").in_list("saves GB·h"),
        Column::number("time", 8).long("saves time").in_list("saves time"),
        Column::text("most often", 0).only(Media::WIDE),
    ];
    let rows = fleet.remedies.iter().map(|remedy| {
        let most = words::remedy(remedy);
        let below = format!("most often {most}");
        let name = Value::Code(remedy.setting.as_str().into());
        let cells = [
            name.into(),
            Value::Own(remedy.direction.name()).into(),
            remedy.applications.into(),
            remedy.jobs.into(),
            words::hours(remedy.saved_gb_hours).into(),
            remedy.saved_time.into(),
            Value::words(most).into(),
        ];
        Row::new(cells).below(below)
    });
    section
        .with(Block::Table(Table::new(columns, rows)))
        .hiding(words::hidden(fleet.remedies_of, fleet.remedies.len()), links.more())
        .only(Media::HTML, Block::Note(NOTE.to_owned()))
}
