//! What wastes most now, and what is new.

use std::io;

use super::page;
use crate::document::{Block, Media, Section};
use crate::history::document::{Filler, remedies};
use crate::history::links::Links;
use crate::history::nodes::ranking;
use crate::history::over_time::chart;
use crate::history::unjudged::unread;
use crate::words::day;
use elephant_base::units::Timestamp;
use elephant_store::{Answer, Grouped, Grouping, Run, View};

/// What the first page has.
#[derive(Debug)]
pub struct Overview<'a> {
    /// All applications, with [`View::Overview`].
    pub all: &'a Answer,
    /// The days.
    pub days: &'a Grouped,
    /// The applications that wasted most since `since`.
    pub new: &'a [Run],
    /// From when on applications are new; `None` if no submission is known.
    pub since: Option<Timestamp>,
    /// The last applications.
    pub latest: &'a [Run],
    /// Sentences on how up to date the store is.
    pub state: &'a [String],
}

/// The first page.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn overview(overview: &Overview<'_>) -> io::Result<Vec<u8>> {
    let Overview { all, days, new, since, latest, state } = overview;
    let filler = Filler::on_site(all);
    let links = Links(Some(super::ADDRESSES));
    let mut answer = filler.sums(false);
    for sentence in *state {
        answer = answer.with(Block::Note(sentence.clone()));
    }
    let mut sections = vec![answer];
    let View::Overview(fleet) = &all.view else { return page("Overview", "/", sections) };
    if all.total.applications == 0 {
        sections.push(unread(fleet, links));
        return page("Overview", "/", sections);
    }
    let since = since.and_then(day).map(|day| format!("since {day}")).unwrap_or_default();
    sections.extend([
        Section::new("time", "Over time", "Over time").only(Media::HTML, chart(fleet).map(Block::Chart)),
        filler.listed(("new", "New", &format!("Most waste {since}")), new, true),
        filler.groups(("troubles", "Troubles"), Grouping::Trouble, &fleet.troubles, None),
        filler.ranked(("jobs", "Jobs"), Grouping::Job, &fleet.jobs, fleet),
        filler.ranked(("queues", "Queues"), Grouping::Queue, &fleet.queues, fleet),
        filler.ranked(("users", "Users"), Grouping::User, &fleet.users, fleet),
        filler.groups(("days", "Days"), Grouping::Day, days, None),
        filler.listed(("latest", "Latest", "Last applications"), latest, true),
        remedies(fleet, links),
        filler.realised_of(fleet),
        ranking(&fleet.nodes, Media::WIDE, links),
        unread(fleet, links),
    ]);
    page("Overview", "/", sections)
}
