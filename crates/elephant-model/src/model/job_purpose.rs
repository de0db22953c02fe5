//! What a MapReduce job is for, and what its map tasks read: from its settings, by the classes that tools use.

use super::{Application, Engine, job_type};

/// A tool that wrote the code of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobTool {
    /// A launcher: its map task starts other jobs and waits for them (Oozie, `WebHCat`).
    Launcher,
    /// Sqoop: between databases and files.
    Sqoop,
    /// `DistCp`: copies files.
    DistCp,
    /// Hive.
    Hive,
    /// Pig.
    Pig,
    /// Cascading and Scalding.
    Cascading,
    /// Hadoop Streaming: programs of any language.
    Streaming,
}

/// What decides on the number of map tasks of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobInput {
    /// Files and their splits.
    Files,
    /// Files of which a map task reads several.
    CombinedFiles,
    /// The ranges of a column of a database.
    Database,
    /// The regions of a table of `HBase`.
    Regions,
    /// The partitions of topics of Kafka.
    Kafka,
    /// A number of lines.
    Lines,
    /// A list of files to copy.
    CopyList,
    /// A number that the job asks for.
    Ranges,
}

/// The settings that name the classes of a job, the one that a job reads first.
const INPUT_FORMATS: [&str; 2] = ["mapreduce.job.inputformat.class", "mapred.input.format.class"];
const MAPPERS: [&str; 2] = ["mapreduce.job.map.class", "mapred.mapper.class"];

/// Where a tool shows.
enum Sign {
    /// A setting of this name.
    Setting(&'static str),
    /// A mapper or an input format whose name contains this.
    Class(&'static str),
}

use JobTool as Tool;
use Sign::{Class, Setting};

/// The first sign that fits decides. Settings of a workflow reach the jobs that it starts, so classes come first.
const TOOLS: [(Sign, JobTool); 16] = [
    (Class("OozieLauncherInputFormat"), Tool::Launcher),
    (Class("oozie.action.hadoop.LauncherMapper"), Tool::Launcher),
    (Class("templeton.tool.LaunchMapper"), Tool::Launcher),
    (Class(".sqoop."), Tool::Sqoop),
    (Class("org.apache.hadoop.tools.mapred."), Tool::DistCp),
    (Class("org.apache.hadoop.tools.DistCp"), Tool::DistCp),
    (Class("org.apache.hadoop.hive."), Tool::Hive),
    (Class("org.apache.pig."), Tool::Pig),
    (Class("cascading."), Tool::Cascading),
    (Class("org.apache.hadoop.streaming."), Tool::Streaming),
    (Setting("stream.map.streamprocessor"), Tool::Streaming),
    (Setting("pig.script"), Tool::Pig),
    (Setting("hive.query.id"), Tool::Hive),
    (Setting("hive.mapred.mode"), Tool::Hive),
    (Setting("cascading.app.frameworks"), Tool::Cascading),
    (Setting("cascading.flow.id"), Tool::Cascading),
];

/// Input formats by the end of their names; formats that combine files by any part of it.
const INPUTS: [(&str, JobInput); 9] = [
    ("DBInputFormat", JobInput::Database),
    ("TableInputFormat", JobInput::Regions),
    ("TableSnapshotInputFormat", JobInput::Regions),
    ("KafkaInputFormat", JobInput::Kafka),
    ("EtlInputFormat", JobInput::Kafka),
    ("NLineInputFormat", JobInput::Lines),
    ("RangeInputFormat", JobInput::Ranges),
    ("UniformSizeInputFormat", JobInput::CopyList),
    ("DynamicInputFormat", JobInput::CopyList),
];

impl JobTool {
    /// The tool of a job; `None` if its configuration is missing or shows none.
    #[must_use]
    #[doc(hidden)]
    pub fn of(app: &Application) -> Option<Self> {
        if app.engine != Engine::MapReduce {
            return None;
        }
        let named = |names: [&str; 2]| names.into_iter().find_map(|name| app.conf.setting(name));
        let classes = [named(INPUT_FORMATS), named(MAPPERS)];
        let fits = |sign: &Sign| match *sign {
            Setting(name) => app.conf.raw(name).is_some(),
            Class(part) => classes.iter().flatten().any(|class| class.contains(part)),
        };
        let by_table = TOOLS.iter().find(|(sign, _)| fits(sign)).map(|(_, tool)| *tool);
        // A launcher whose classes are unknown.
        let launches = || classes.iter().all(Option::is_none) && job_type(app) == Some("OozieLauncher");
        by_table.or_else(|| launches().then_some(Self::Launcher))
    }

    /// Whether the map tasks wait for something else by design: their time and their number are no trouble.
    #[must_use]
    #[doc(hidden)]
    pub const fn waits_by_design(self) -> bool {
        matches!(self, Self::Launcher)
    }
}

impl JobInput {
    /// What the map tasks of a job read, by its input format: files, if that is unknown.
    #[must_use]
    #[doc(hidden)]
    pub fn of(app: &Application) -> Self {
        let of_job = INPUT_FORMATS.into_iter().find_map(|name| app.conf.setting(name));
        let by_name = |class: &String| INPUTS.iter().find(|(name, _)| class.ends_with(name));
        if let Some((_, input)) = of_job.as_ref().and_then(by_name) {
            return *input;
        }
        let class = of_job.or_else(|| app.conf.setting("hive.input.format"));
        let combines = class.is_some_and(|class| class.contains("Combine"));
        if combines { Self::CombinedFiles } else { Self::Files }
    }

    /// Whether map tasks read files whose splits have sizes.
    #[must_use]
    #[doc(hidden)]
    pub const fn is_files(self) -> bool {
        matches!(self, Self::Files | Self::CombinedFiles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::conf::Property;

    fn job(settings: &[(&str, &str)]) -> Application {
        let mut app = Application::new(Engine::MapReduce);
        for (name, value) in settings {
            app.conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
        }
        app
    }

    #[test]
    fn tools_are_known_by_classes_and_else_by_settings() {
        let format = |class| ("mapreduce.job.inputformat.class", class);
        let mapper = |class| ("mapreduce.job.map.class", class);
        let launcher = ("oozie.launcher.action.main.class", "org.apache.oozie.action.hadoop.HiveMain");
        for (settings, tool) in [
            (&[format("org.apache.oozie.action.hadoop.OozieLauncherInputFormat")][..], Some(Tool::Launcher)),
            (&[launcher], Some(Tool::Launcher)),
            (&[launcher, mapper("com.example.Words$Map")], None),
            (&[format("org.apache.sqoop.mapreduce.db.DataDrivenDBInputFormat")], Some(Tool::Sqoop)),
            (&[mapper("com.cloudera.sqoop.mapreduce.TextImportMapper")], Some(Tool::Sqoop)),
            (&[format("org.apache.hadoop.tools.mapred.UniformSizeInputFormat")], Some(Tool::DistCp)),
            (&[("mapred.mapper.class", "org.apache.hadoop.hive.ql.exec.mr.ExecMapper")], Some(Tool::Hive)),
            (&[("hive.query.id", "q1")], Some(Tool::Hive)),
            (&[("pig.script", "abc")], Some(Tool::Pig)),
            (&[("cascading.flow.id", "ABC")], Some(Tool::Cascading)),
            (&[("stream.map.streamprocessor", "cat")], Some(Tool::Streaming)),
            (&[mapper("com.example.Words$Map")], None),
            (&[], None),
        ] {
            assert_eq!(JobTool::of(&job(settings)), tool, "{settings:?}");
        }
    }

    #[test]
    fn input_formats_tell_what_map_tasks_read() {
        let of = |class| JobInput::of(&job(&[("mapreduce.job.inputformat.class", class)]));
        for (class, input) in [
            ("org.apache.hadoop.mapreduce.lib.input.TextInputFormat", JobInput::Files),
            ("org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat", JobInput::CombinedFiles),
            ("org.apache.hadoop.mapreduce.lib.db.DataDrivenDBInputFormat", JobInput::Database),
            ("org.apache.hadoop.mapreduce.lib.db.DBInputFormat", JobInput::Database),
            ("org.apache.hadoop.hbase.mapreduce.TableInputFormat", JobInput::Regions),
            ("org.apache.hadoop.hbase.mapreduce.MultiTableInputFormat", JobInput::Regions),
            ("org.apache.hadoop.hive.kafka.KafkaInputFormat", JobInput::Kafka),
            ("org.apache.hadoop.tools.mapred.lib.DynamicInputFormat", JobInput::CopyList),
            ("org.apache.hadoop.mapreduce.lib.input.NLineInputFormat", JobInput::Lines),
        ] {
            assert_eq!(of(class), input, "{class}");
        }
        assert_eq!(JobInput::of(&job(&[])), JobInput::Files);
        let hive = [("hive.input.format", "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat")];
        assert_eq!(JobInput::of(&job(&hive)), JobInput::CombinedFiles);
    }
}
