//! Advice on input of many small files.

use crate::mapreduce::support::settings::{change_towards, may_be};
use crate::mapreduce::support::splits::SplitLimits;
use elephant_base::units::Bytes;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::{Application, JobTool};
use elephant_rule::finding::Advice;
use elephant_rule::wording::change;

/// The input format of Hive that reads several files in one map task.
const HIVE_COMBINES: &str = "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat";

/// What to do if the input is many small files: larger splits alone do not combine them.
pub(super) fn combine_files(app: &Application, split: Option<Bytes>) -> Vec<Advice> {
    let hive = app.conf.text(ConfKey::HiveInputFormat).is_none_or(|format| !format.contains("Combine"));
    let pig = app.conf.flag(ConfKey::PigCombines) != Some(false);
    let mut advice: Vec<Advice> = Vec::new();
    if may_be(app, JobTool::Hive) && hive {
        let what = Advice::new("if the input of Hive is many small files, combine them");
        advice.push(what.set([change(app, ConfKey::HiveInputFormat, HIVE_COMBINES)]).conditional());
    }
    if let Some(size) = split.filter(|_| may_be(app, JobTool::Pig) && pig)
        && let Some(larger) = change_towards(app, ConfKey::PigSplitSize, size.get(), true)
    {
        let what = Advice::new("if the input of Pig is many small files, combine them");
        advice.push(what.set([larger]).conditional());
    }
    let merge = "if the input is many small files, merge them";
    // Hive has a format of its own that combines files.
    advice.push(if SplitLimits::of(app).combines || JobTool::of(app) == Some(JobTool::Hive) {
        merge.into()
    } else {
        format!("{merge}, or read them with CombineFileInputFormat").into()
    });
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_combines_files_is_not_told_to() {
        let last = |class: &str| {
            let app = elephant_sample::job(Vec::new(), &[("mapreduce.job.inputformat.class", class)]);
            combine_files(&app, None).pop().unwrap().text
        };
        assert!(
            last("org.apache.hadoop.mapreduce.lib.input.TextInputFormat").contains("CombineFileInputFormat")
        );
        let combines = last("org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat");
        assert_eq!(combines, "if the input is many small files, merge them");
        let of_hive = combine_files(&elephant_sample::job(Vec::new(), &[("hive.query.id", "q1")]), None);
        assert!(of_hive.iter().all(|line| !line.contains("CombineFileInputFormat")), "{of_hive:?}");
    }
}
