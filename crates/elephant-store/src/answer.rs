//! Answers to questions about all applications of a store.

use super::selection::Selection;
use super::{Fleet, Grouped, Grouping, Nodes, Only, Run, Runs, Store, StoreError, Unjudged, Visible};
use elephant_base::units::Timestamp;
use elephant_engine::engine::{Filter, Sort};

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Where the waste is, how it developed, which remedies are known, and what earlier ones saved.
    Overview,
    /// Sums by what applications have in common.
    Groups(Grouping),
    /// What nodes did, and which are slow.
    Nodes,
    /// Single applications that waste most.
    Worst,
    /// Applications that could not be judged, and files that could not be read.
    Unjudged,
    /// The runs of the job with this key or name.
    Job(String),
}

/// Which applications a question is about, and how its answer lists them.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Which applications count.
    pub filter: &'a Filter,
    /// What they must have besides.
    pub only: &'a Only,
    /// `None`: days and the runs of a job in the order of time, nodes by how slow they are, all else by waste.
    pub sort: Option<Sort>,
    /// At most so many lines of each list.
    pub most: usize,
}

/// The answer, with the sums over all applications that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The sums over all of them.
    pub total: super::Group,
    /// The first submission; `None` if none is known.
    pub from: Option<Timestamp>,
    /// The last submission; `None` if none is known.
    pub until: Option<Timestamp>,
    /// The currency of the prices, if there are any.
    pub currency: Option<String>,
    /// What the question asked for.
    pub view: View,
}

/// What a question asked for, one variant for each [`Question`].
#[derive(Debug, Clone, PartialEq)]
pub enum View {
    /// Waste, remedies and savings of all applications.
    Overview(Box<Fleet>),
    /// Sums, and what they are grouped by.
    Groups(Grouping, Grouped),
    /// The nodes, the slowest first.
    Nodes(Nodes),
    /// Single applications.
    Worst(Vec<Run>),
    /// What could not be judged.
    Unjudged(Unjudged),
    /// The runs of one job.
    Job(Runs),
}

impl Store {
    /// Answers a question. `None` if there is no such job. All figures come from one snapshot, even while other processes
    /// write.
    pub fn answer(&self, question: &Question, asked: Asked<'_>) -> Result<Option<Answer>, StoreError> {
        self.database.reading(|| self.answer_about(question, &self.asked_about(&asked)?, asked))
    }

    /// The applications that a question is about.
    pub(super) fn asked_about(&self, asked: &Asked<'_>) -> Result<Selection, StoreError> {
        self.seen(Selection::of(&self.database, asked.filter, asked.only)?)
    }

    /// Without what is not visible.
    pub(super) fn seen(&self, selection: Selection) -> Result<Selection, StoreError> {
        match &self.visible {
            Some(visible) => visible.within(&self.database, selection),
            None => Ok(selection),
        }
    }

    /// From now on, only these applications are told of; all of them if it is `None`.
    pub fn set_visible(&mut self, visible: Option<Visible>) {
        self.visible = visible;
    }

    /// Whether all applications are told of.
    pub(super) const fn sees_all(&self) -> bool {
        self.visible.is_none()
    }

    /// The answer about these applications.
    pub(super) fn answer_about(
        &self,
        question: &Question,
        selection: &Selection,
        asked: Asked<'_>,
    ) -> Result<Option<Answer>, StoreError> {
        let Asked { sort, most, .. } = asked;
        let mut of_job = None;
        let view = match question {
            Question::Overview => View::Overview(Box::new(self.fleet(selection, (sort, most))?)),
            Question::Groups(grouping) => {
                View::Groups(*grouping, self.grouped(*grouping, selection, (sort, Some(most)))?)
            }
            Question::Nodes => View::Nodes(self.nodes(selection, most)?),
            Question::Worst => View::Worst(self.worst(selection, (sort, most))?),
            Question::Unjudged => View::Unjudged(self.unjudged(selection, most)?),
            Question::Job(job) => match self.job(job, selection, most)? {
                Some((runs, selected)) => {
                    of_job = Some(selected);
                    View::Job(runs)
                }
                None => return Ok(None),
            },
        };
        let selection = of_job.as_ref().unwrap_or(selection);
        let mut total = self.grouped(Grouping::Everything, selection, (None, None))?.groups;
        // That there is such a job is not told either.
        if of_job.is_some() && !self.sees_all() && total.iter().all(|total| total.applications == 0) {
            return Ok(None);
        }
        let (from, until) = self.period(selection)?;
        let total = total.pop().unwrap_or_default();
        let currency = self.prices.as_ref().map(|prices| prices.currency().to_owned());
        Ok(Some(Answer { total, from, until, currency, view }))
    }
    /// The rules that have findings in the store.
    pub fn rules(&self) -> Result<Vec<String>, StoreError> {
        if !self.sees_all() {
            let rows = self.database.reading(|| {
                let all = self.seen(Selection::of(&self.database, &Filter::default(), Only::ALL)?)?;
                self.grouped(Grouping::Rule, &all, (Some(Sort::Name), None))
            })?;
            return Ok(rows.groups.into_iter().filter_map(|group| group.key).collect());
        }
        let query =
            "SELECT DISTINCT key FROM group_sum WHERE kind = 'rule' AND applications > 0 ORDER BY key";
        self.database.rows(query, &[], |row| row.get(0))
    }
}
