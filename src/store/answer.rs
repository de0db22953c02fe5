//! Answers to questions about all applications of a store.

use super::selection::Selection;
use super::{Fleet, Grouped, Grouping, Nodes, Run, Runs, Store, StoreError};
use crate::engine::Filter;
use crate::units::Timestamp;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// Where the waste is, how it developed, which remedies are known, and what earlier ones saved.
    Overview,
    /// Sums by what applications have in common.
    Groups(Grouping),
    /// What nodes did, and which are slow.
    Nodes,
    /// Single applications that waste most.
    Worst,
    /// The runs of the job with this key or name.
    Job(String),
}

/// The answer, with the sums over all applications that it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) total: super::Group,
    /// The first and the last submission.
    pub(crate) from: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    /// The currency of the prices, if there are any.
    pub(crate) currency: Option<String>,
    pub(crate) view: View,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum View {
    Overview(Box<Fleet>),
    Groups(Grouping, Grouped),
    Nodes(Nodes),
    Worst(Vec<Run>),
    Job(Runs),
}

impl Store {
    /// Answers a question about the applications that `filter` admits, with at most `most` lines. `None` if there is no
    /// such job. All figures come from one snapshot, even while other processes write.
    pub(crate) fn answer(
        &self,
        question: &Question,
        filter: &Filter,
        most: usize,
    ) -> Result<Option<Answer>, StoreError> {
        self.database.reading(|| self.answer_about(question, &Selection::of(&self.database, filter)?, most))
    }

    fn answer_about(
        &self,
        question: &Question,
        selection: &Selection,
        most: usize,
    ) -> Result<Option<Answer>, StoreError> {
        let mut of_job = None;
        let view = match question {
            Question::Overview => View::Overview(Box::new(self.fleet(selection, most)?)),
            Question::Groups(grouping) => {
                View::Groups(*grouping, self.grouped(*grouping, selection, Some(most))?)
            }
            Question::Nodes => View::Nodes(self.nodes(selection, most)?),
            Question::Worst => View::Worst(self.worst(selection, most)?),
            Question::Job(job) => match self.job(job, selection, most)? {
                Some((runs, selected)) => {
                    of_job = Some(selected);
                    View::Job(runs)
                }
                None => return Ok(None),
            },
        };
        let selection = of_job.as_ref().unwrap_or(selection);
        let mut total = self.grouped(Grouping::Everything, selection, None)?.groups;
        let (from, until) = self.period(selection)?;
        let total = total.pop().unwrap_or_default();
        let currency = self.prices.as_ref().map(|prices| prices.currency().to_owned());
        Ok(Some(Answer { total, from, until, currency, view }))
    }
}
