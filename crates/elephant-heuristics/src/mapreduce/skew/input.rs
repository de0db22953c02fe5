//! Uneven input that is no file: what divides it more evenly.

use elephant_model::model::{Application, JobInput, JobTool};
use elephant_rule::finding::Advice;

/// The setting with the column by whose values Sqoop divides a table.
const SPLIT_BY: &str = "mapreduce.jdbc.input.orderby";
/// Longer names of columns are expressions.
const LONGEST_NAME: usize = 60;

/// How to divide the input of map tasks evenly; `None` if it is files.
pub(super) fn against(app: &Application) -> Option<Advice> {
    let text = match JobInput::of(app) {
        JobInput::Files | JobInput::CombinedFiles => return None,
        JobInput::Database => return Some(of_database(app)),
        JobInput::Regions => {
            "a map task reads a region of the table, and some regions have far more rows: split these regions, and begin the \
             keys of rows with a salt, so that new rows are distributed evenly"
        }
        JobInput::Kafka => {
            "a map task reads partitions of the topics, and some have far more messages: write messages with keys that are \
             distributed evenly, or use more partitions"
        }
        JobInput::Lines => {
            "give a map task fewer lines (mapreduce.input.lineinputformat.linespermap), because some lines make far more work"
        }
        JobInput::CopyList => {
            "a file is copied by one map task: let free map tasks take the next files (DistCp: -strategy dynamic, with more map \
             tasks, -m), and divide large files (-blocksperchunk)"
        }
        JobInput::Ranges => "use more map tasks (mapreduce.job.maps), because some ranges make far more work",
    };
    Some(text.into())
}

fn of_database(app: &Application) -> Advice {
    let column = app.conf.setting(SPLIT_BY).filter(|name| name.len() <= LONGEST_NAME);
    let column = column.map(|name| format!(" ({name})")).unwrap_or_default();
    let what = format!("the values of the column that divides the table{column} are uneven: ");
    let how = if JobTool::of(app) == Some(JobTool::Sqoop) {
        "use --split-by with a column whose values are distributed evenly, a --boundary-query that leaves out gaps and \
         outliers, or more map tasks on an even column (--num-mappers)"
    } else {
        "divide by a column whose values are distributed evenly, with a bounding query that leaves out gaps and outliers \
         (mapreduce.jdbc.input.bounding.query), or ask for more map tasks (mapreduce.job.maps)"
    };
    Advice::new(what + how)
}
