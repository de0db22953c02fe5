//! Work that a speculative copy would do a second time outside of the application.

use elephant_model::model::{Application, Engine};

/// Actions of Spark whose functions act on their own: nothing commits what they did only once.
const ACTIONS: [&str; 2] = ["foreach at ", "foreachPartition at "];
/// The settings with the class that writes the output, the new one first.
const OUTPUT_FORMATS: [&str; 2] = ["mapreduce.job.outputformat.class", "mapred.output.format.class"];
/// Output formats of MapReduce that write rows without a commit of the task's output: Hadoop's into a database, and
/// Sqoop's exports.
const FORMATS: [&str; 2] = ["DBOutputFormat", "ExportOutputFormat"];

/// Why a copy of a task would repeat its effects; `None` if nothing shows that it would.
pub(super) fn repeated(app: &Application) -> Option<String> {
    match app.engine {
        Engine::Spark => in_action(app),
        Engine::MapReduce => in_output(app),
        // Hive and Pig commit what they write.
        Engine::Tez => None,
    }
}

fn in_action(app: &Application) -> Option<String> {
    let stages = &app.spark.as_deref()?.stages;
    let acts = |name: &str| ACTIONS.iter().any(|action| name.starts_with(action));
    stages.iter().find_map(|stage| {
        let name = stage.name.as_deref().filter(|name| acts(name))?;
        Some(format!("stage {} ({name}) acts outside of Spark, and a copy of a task does so again", stage.id))
    })
}

fn in_output(app: &Application) -> Option<String> {
    let format = OUTPUT_FORMATS.into_iter().find_map(|name| app.conf.setting(name))?;
    let named = FORMATS.iter().find(|known| format.ends_with(*known))?;
    Some(format!("{named} writes rows without a commit, and a copy of a task writes them again"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::table::Outcome;

    #[test]
    fn actions_with_effects_of_their_own_are_known() {
        let of = |name: &str| {
            let mut app = elephant_sample::app(&[]);
            elephant_sample::stage(&mut app, 3, &[(Outcome::Succeeded, 10)]);
            elephant_sample::spark(&mut app).stages[0].name = Some(name.into());
            repeated(&app)
        };
        assert!(of("foreachPartition at Load.scala:20").is_some_and(|why| why.contains("stage 3.0")));
        assert!(of("foreach at load.py:7").is_some());
        assert_eq!(of("saveAsTextFile at Load.scala:20"), None);
        assert_eq!(of("collect at foreach.scala:1"), None);
    }

    #[test]
    fn output_formats_without_a_commit_are_known() {
        let of = |class: &str| {
            let settings = [(OUTPUT_FORMATS[0], class)];
            repeated(&elephant_sample::job(Vec::new(), &settings))
        };
        assert!(of("org.apache.hadoop.mapreduce.lib.db.DBOutputFormat").is_some());
        assert!(of("org.apache.sqoop.mapreduce.ExportOutputFormat").is_some());
        assert_eq!(of("org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"), None);
    }
}
