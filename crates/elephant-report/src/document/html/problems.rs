//! Problems with the input.

use super::super::{Block, Column, Row, Section, Table, Value};
use super::frame::{MAX_PROBLEMS, ProblemRow, problem_rows};
use crate::words::grouped;
use elephant_engine::results::SourceProblem;

/// A section for them.
pub(crate) fn section(problems: &[SourceProblem]) -> String {
    let rows = problem_rows(problems);
    let cut = (rows.len() > MAX_PROBLEMS).then(|| {
        let all = grouped(problems.len() as u64);
        Block::Note(format!(
            "The first {MAX_PROBLEMS} of {all}; standard error and the JSON report list all."
        ))
    });
    let columns = [Column::text("level", 0), Column::key("file", 0, 0), Column::text("problem", 0)];
    let rows = rows.iter().take(MAX_PROBLEMS).map(|row| match row {
        ProblemRow::One(SourceProblem { source, problem }) => {
            let place = problem.position.as_ref().map(|at| format!(", {at}")).unwrap_or_default();
            let times = match problem.count {
                0 | 1 => String::new(),
                count => format!(" ({} times)", grouped(count)),
            };
            let (source, message) = (format!("{source}{place}"), format!("{}{times}", problem.message));
            Row::new([
                Value::Own(problem.level.name()).into(),
                Value::words(source).into(),
                Value::words(message).into(),
            ])
        }
        ProblemRow::More(more) => {
            let more = format!("{} more like these; the JSON report lists all.", grouped(*more));
            Row::new([Value::Own("info").into(), Value::Nothing.into(), Value::words(more).into()])
        }
    });
    let section = Section::new("problems", "Problems", "Problems with the input").with(cut);
    let mut html = String::new();
    super::section(&section.with(Block::Table(Table::new(columns, rows).in_order())), &mut html);
    html
}
