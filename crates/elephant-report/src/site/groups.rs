//! What a user or a queue used and wasted, and the nodes.

use std::io;

use super::page;
use crate::document::{Block, Media, Section};
use crate::history::document::{Filler, remedies};
use crate::history::links::Links;
use crate::history::nodes::{ranking, summary};
use crate::history::over_time::chart;
use crate::history::words;
use elephant_store::{Answer, Grouping, Nodes, Run, View};

/// The page of a user or a queue: an answer with [`View::Overview`], and the latest applications. `what` is "user" or
/// "queue".
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn group(what: &str, name: &str, answer: &Answer, latest: &[Run]) -> io::Result<Vec<u8>> {
    let filler = Filler::on_site(answer);
    let links = Links(Some(super::ADDRESSES));
    let title = format!("{what} {name}");
    let own = Section::new("answer", "Answer", "")
        .with(Block::Headline(title.clone()))
        .with(Block::Lead(words::extent(answer)))
        .with(Block::Lead(words::costs(answer)))
        .with(Block::Figures(filler.figures()));
    let View::Overview(fleet) = &answer.view else { return page(&title, "", vec![own]) };
    let others = match what {
        "user" => filler.ranked(("queues", "Queues"), Grouping::Queue, &fleet.queues, fleet),
        _ => filler.ranked(("users", "Users"), Grouping::User, &fleet.users, fleet),
    };
    let sections = vec![
        own,
        Section::new("time", "Over time", "Over time").only(Media::HTML, chart(fleet).map(Block::Chart)),
        remedies(fleet, links),
        filler.groups(("troubles", "Troubles"), Grouping::Trouble, &fleet.troubles, None),
        filler.ranked(("jobs", "Jobs"), Grouping::Job, &fleet.jobs, fleet),
        others,
        filler.listed(("latest", "Latest", "Last applications"), latest, true),
        filler.realised_of(fleet),
    ];
    page(&title, "", sections)
}

/// The page of the nodes, the slowest first.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn nodes(nodes: &Nodes) -> io::Result<Vec<u8>> {
    let told = summary(nodes).unwrap_or_else(|| "no history names a node".to_owned());
    let answer = Section::new("answer", "", "").with(Block::Headline(told));
    page("Nodes", "/nodes", vec![answer, ranking(nodes, Media::NONE, Links(Some(super::ADDRESSES)))])
}
