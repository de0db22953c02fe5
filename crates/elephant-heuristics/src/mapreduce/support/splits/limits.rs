//! How the settings of a job limit its splits, and which of them to change.

use std::path::Path;

use crate::mapreduce::support::counters::{MissingCounters, input_bytes};
use crate::mapreduce::support::settings::change_towards;
use elephant_base::units::Bytes;
use elephant_model::model::conf::{ConfKey, defaults, parse_binary_prefix};
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, JobInput, JobTool};
use elephant_rule::finding::SettingChange;
use elephant_rule::wording::change;

/// Input formats of the old API that divide files by the number of map tasks that a job asks for.
const DIVIDE_BY_MAPS: [&str; 3] =
    ["org.apache.hadoop.mapred.", "org.apache.hadoop.streaming.", "org.apache.avro.mapred."];

/// Minimums that formats which combine files read. Above the maximum, they make the job fail.
const COMBINED_MINIMUMS: [&str; 4] = [
    "mapreduce.input.fileinputformat.split.minsize.per.node",
    "mapreduce.input.fileinputformat.split.minsize.per.rack",
    "mapred.min.split.size.per.node",
    "mapred.min.split.size.per.rack",
];

/// The settings that size splits. `FileInputFormat` makes splits of max(minimum, min(maximum, block)). Formats that
/// combine files, such as `CombineFileInputFormat`, fill each split up to the maximum, and read nothing else of these.
/// `FileInputFormat` of the old API (`org.apache.hadoop.mapred`) reads no maximum: it divides the input by the number of map
/// tasks that the job asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::mapreduce) struct SplitLimits {
    pub(in crate::mapreduce) combines: bool,
    divides_by_maps: bool,
    divides_otherwise: bool,
    minimum: Option<Bytes>,
    pub(super) maximum: Option<Bytes>,
    block: Option<Bytes>,
}

impl SplitLimits {
    pub(in crate::mapreduce) fn of(app: &Application) -> Self {
        // Sizes of 0 and 1 mean "not set".
        let size = |key: ConfKey| app.conf.bytes(key).filter(|size| size.get() > 1);
        if divided_otherwise(app).is_some() {
            return Self { divides_otherwise: true, ..Self::default() };
        }
        let combines = JobInput::of(app) == JobInput::CombinedFiles;
        let divides_by_maps = !combines && divides_by_maps(app);
        Self {
            combines,
            divides_by_maps,
            divides_otherwise: false,
            minimum: size(ConfKey::SplitMinSize).filter(|_| !combines),
            maximum: size(ConfKey::SplitMaxSize).filter(|_| !divides_by_maps),
            block: size(ConfKey::BlockSize).filter(|_| !combines),
        }
    }

    /// The largest split; `None` if the settings do not say it.
    pub(super) fn largest(self) -> Option<Bytes> {
        Some(self.without_minimum()?.max(self.minimum.unwrap_or_default()))
    }

    fn without_minimum(self) -> Option<Bytes> {
        self.maximum.into_iter().chain(self.block).min()
    }

    /// Whether map tasks read this much because of the minimum. Then nothing shows that their files cannot be split.
    pub(in crate::mapreduce) fn minimum_explains(self, read: Bytes) -> bool {
        let decides = |minimum: &Bytes| self.without_minimum().is_none_or(|other| *minimum > other);
        self.minimum.filter(decides).is_some_and(|minimum| read.get() / 2 < minimum.get())
    }

    /// Whether map tasks read this much because of a setting that makes splits larger than blocks: the minimum, or a
    /// format that combines the files of a node.
    pub(in crate::mapreduce) fn setting_explains(self, read: Bytes) -> bool {
        let fits = |maximum: Bytes| read.get() / 2 < maximum.get();
        self.minimum_explains(read) || (self.combines && self.maximum.is_none_or(fits))
    }

    /// Whether map tasks that read this much would read more with splits of `size`. Splits are as large as the settings
    /// allow already, as far as files are: map tasks that read much less have a small file each, and a split is never
    /// larger than its file.
    pub(in crate::mapreduce) fn can_grow(self, read: Bytes, size: Bytes) -> bool {
        self.largest().is_none_or(|split| size > split && read.get() > split.get() / 2)
    }

    /// The change that makes splits of at least `size`, or of up to `size` if the format combines files.
    pub(in crate::mapreduce) fn larger(self, app: &Application, size: Bytes) -> Option<SettingChange> {
        let (key, rises) = if self.combines {
            // Without a maximum, a split holds all blocks of a node.
            (ConfKey::SplitMaxSize, self.maximum.is_some_and(|now| now < size))
        } else {
            (ConfKey::SplitMinSize, self.minimum.is_none_or(|now| now < size))
        };
        (rises && !self.divides_otherwise).then(|| change(app, key, size.get()))
    }

    /// The changes that make splits of at most `size`; none if the settings allow no larger ones. A larger minimum has to
    /// fall, because a maximum has no effect below it.
    pub(in crate::mapreduce) fn smaller(self, app: &Application, size: Bytes) -> Vec<SettingChange> {
        if self.divides_otherwise {
            return Vec::new();
        }
        let minimum = self.minimum.filter(|now| *now > size);
        let mut changes: Vec<SettingChange> = Vec::new();
        changes.extend(minimum.map(|_| change(app, ConfKey::SplitMinSize, size.get())));
        // Without the larger minimum, blocks may be small enough.
        let falls = self.maximum.is_none_or(|now| now > size);
        let is_enough = minimum.is_some() && self.block.unwrap_or(defaults::BLOCK) <= size;
        if falls && !is_enough {
            changes.extend(if self.divides_by_maps {
                maps_of(app, size).and_then(|maps| change_towards(app, ConfKey::Maps, maps, true))
            } else {
                Some(change(app, ConfKey::SplitMaxSize, size.get()))
            });
        }
        if self.combines {
            changes.extend(smaller_minimums(app, size));
        }
        changes
    }
}

/// How to change the number of map tasks, if settings for the size of splits do not.
pub(in crate::mapreduce) fn divided_otherwise(app: &Application) -> Option<&'static str> {
    let tool = JobTool::of(app);
    Some(match JobInput::of(app) {
        JobInput::Files | JobInput::CombinedFiles => return None,
        JobInput::Lines => {
            "change how many lines a map task reads (mapreduce.input.lineinputformat.linespermap)"
        }
        JobInput::Regions => {
            "a map task reads a region of the table: split large regions, merge small ones, and begin the keys of rows with a \
             salt if some regions get most of them"
        }
        JobInput::Database if tool == Some(JobTool::Sqoop) => {
            "change the number of map tasks (Sqoop: --num-mappers), with a --split-by column whose values are even"
        }
        JobInput::Database => {
            "change the number of map tasks (mapreduce.job.maps; Sqoop: --num-mappers), with an even column to split by"
        }
        JobInput::Kafka => {
            "a map task reads partitions of the topics: change their number, or how many map tasks may run"
        }
        JobInput::Ranges => "change the number of map tasks (mapreduce.job.maps)",
        JobInput::CopyList => {
            "change the number of map tasks (DistCp: -m); a file is copied by one map task, unless -blocksperchunk divides it"
        }
    })
}

/// Whether the job's input has the name of a gzip file.
pub(in crate::mapreduce) fn reads_gzip(app: &Application) -> bool {
    let names = ["mapreduce.input.fileinputformat.inputdir", "mapred.input.dir"];
    let mut inputs = names.into_iter().filter_map(|name| app.conf.raw(name));
    let is_gzip = |path: &str| {
        Path::new(path.trim()).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
    };
    inputs.any(|paths| paths.split(',').any(is_gzip))
}

/// Whether the job divides its input by the number of map tasks that it asks for. Since Hadoop 2, `Job` notes which API a
/// job uses; before, only a job of the old API has a class for its map tasks under this name. Other formats of the old
/// API, such as those of ORC and Parquet, size their splits themselves.
fn divides_by_maps(app: &Application) -> bool {
    let has = |name: &str| app.conf.setting(name).is_some();
    let is_new = app.conf.setting("mapred.mapper.new-api").map(|flag| flag.eq_ignore_ascii_case("true"));
    let is_old = !is_new.unwrap_or_else(|| has("mapreduce.job.map.class") || !has("mapred.mapper.class"));
    let format = app.conf.setting("mapred.input.format.class");
    is_old && format.is_none_or(|class| DIVIDE_BY_MAPS.iter().any(|package| class.starts_with(package)))
}

/// How many map tasks to ask for, so that none reads more than `size`.
fn maps_of(app: &Application, size: Bytes) -> Option<u64> {
    let maps = app.group(TaskKind::Map)?;
    let inputs = maps.winners().filter_map(|row| input_bytes(maps, row, MissingCounters::Unknown));
    let read = inputs.fold(0, |sum: u64, input| sum.saturating_add(u64::try_from(input).unwrap_or_default()));
    let wanted = read.div_ceil(size.get().max(1));
    (wanted > maps.tasks.len() as u64).then_some(wanted)
}

/// The minimums per node and rack that exceed a maximum of `size`, lowered to it.
fn smaller_minimums(app: &Application, size: Bytes) -> impl Iterator<Item = SettingChange> {
    COMBINED_MINIMUMS.into_iter().filter_map(move |name| {
        let from = app.conf.raw(name)?;
        parse_binary_prefix(&from).filter(|now| *now > size)?;
        Some(SettingChange { setting: name.to_owned(), from: Some(from), to: size.get().to_string() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: &str = "mapreduce.input.fileinputformat.split.minsize";
    const MAX: &str = "mapreduce.input.fileinputformat.split.maxsize";
    const BLOCK: (&str, &str) = ("dfs.blocksize", "128m");
    const COMBINES: (&str, &str) =
        ("mapreduce.job.inputformat.class", "org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat");

    /// The settings of splits of at most this many MiB, with their values in MiB.
    fn smaller(settings: &[(&str, &str)], mib: u64) -> Vec<(String, u64)> {
        let app = elephant_sample::job(Vec::new(), settings);
        let changes = SplitLimits::of(&app).smaller(&app, Bytes::from_mib(mib));
        changes.into_iter().map(|it| (it.setting, it.to.parse::<u64>().unwrap() >> 20)).collect()
    }

    fn named(changes: &[(&str, u64)]) -> Vec<(String, u64)> {
        changes.iter().map(|(name, mib)| ((*name).to_owned(), *mib)).collect()
    }

    #[test]
    fn a_minimum_above_the_split_falls_because_a_maximum_has_no_effect_below_it() {
        assert_eq!(smaller(&[BLOCK, (MIN, "8g")], 512), named(&[(MIN, 512)]));
        // A block is larger than the split, or may be.
        assert_eq!(smaller(&[BLOCK, (MIN, "8g")], 64), named(&[(MIN, 64), (MAX, 64)]));
        assert_eq!(smaller(&[BLOCK, (MIN, "8g"), (MAX, "32m")], 64), named(&[(MIN, 64)]));
        assert_eq!(smaller(&[(MIN, "8g")], 64), named(&[(MIN, 64), (MAX, 64)]));
        // A lower minimum does no harm, and neither do those that mean "not set".
        assert_eq!(smaller(&[BLOCK, (MIN, "1m")], 64), named(&[(MAX, 64)]));
        assert_eq!(smaller(&[BLOCK, (MIN, "1"), (MAX, "0")], 64), named(&[(MAX, 64)]));
        assert_eq!(smaller(&[(MAX, "64m")], 64), []);
        assert_eq!(smaller(&[], 64), named(&[(MAX, 64)]));
    }

    #[test]
    fn hadoop_1_gets_its_own_names() {
        let old = [("dfs.block.size", "67108864"), ("mapred.min.split.size", "4294967296")];
        assert_eq!(smaller(&old, 1024), named(&[("mapred.min.split.size", 1024)]));
    }

    #[test]
    fn formats_without_splits_of_files_have_advice_of_their_own() {
        let of = |class| {
            divided_otherwise(&elephant_sample::job(
                Vec::new(),
                &[("mapreduce.job.inputformat.class", class)],
            ))
        };
        assert!(of("org.apache.hadoop.hbase.mapreduce.TableInputFormat").unwrap().contains("region"));
        assert!(of("org.apache.hadoop.mapreduce.lib.db.DataDrivenDBInputFormat").unwrap().contains("Sqoop"));
        assert_eq!(of("org.apache.hadoop.mapreduce.lib.input.TextInputFormat"), None);
        assert_eq!(divided_otherwise(&elephant_sample::job(Vec::new(), &[])), None);
    }

    #[test]
    fn jobs_of_the_old_api_ask_for_more_map_tasks() {
        const OLD: (&str, &str) = ("mapred.mapper.new-api", "false");
        const MAPS: (&str, &str) = ("mapreduce.job.maps", "4");
        let asked = |settings: &[(&str, &str)]| {
            let app = elephant_sample::job(vec![elephant_sample::maps(&[(600, 1024); 4])], settings);
            let changes = SplitLimits::of(&app).smaller(&app, Bytes::from_mib(256));
            changes.into_iter().map(|it| format!("{}={}", it.setting, it.to)).collect::<Vec<_>>().join(" ")
        };
        let format = |class| ("mapred.input.format.class", class);
        assert_eq!(asked(&[OLD, MAPS, BLOCK]), "mapreduce.job.maps=16");
        assert_eq!(asked(&[OLD, MAPS, (MAX, "64m")]), "mapreduce.job.maps=16");
        assert_eq!(
            asked(&[OLD, MAPS, format("org.apache.hadoop.streaming.AutoInputFormat")]),
            "mapreduce.job.maps=16"
        );
        // Without a larger minimum, blocks are small enough.
        assert_eq!(asked(&[OLD, MAPS, BLOCK, (MIN, "1g")]), format!("{MIN}=268435456"));
        let hadoop_1 = [("mapred.mapper.class", "Words"), ("mapred.map.tasks", "4")];
        assert_eq!(asked(&hadoop_1), "mapred.map.tasks=16");
        // Other formats size their splits themselves, and jobs of the new API by the maximum.
        let orc = format("org.apache.hadoop.hive.ql.io.orc.OrcInputFormat");
        let by_size = format!("{MAX}=268435456");
        for settings in [&[OLD, MAPS, orc][..], &[("mapred.mapper.new-api", "true"), MAPS], &[MAPS], &[]] {
            assert_eq!(asked(settings), by_size, "{settings:?}");
        }
    }

    #[test]
    fn formats_that_combine_files_read_only_the_maximum() {
        let larger = |settings: &[(&str, &str)]| {
            let app = elephant_sample::job(Vec::new(), settings);
            SplitLimits::of(&app).larger(&app, Bytes::from_mib(96)).map(|it| it.setting)
        };
        assert_eq!(larger(&[COMBINES, (MAX, "1m")]).as_deref(), Some(MAX));
        assert_eq!(larger(&[COMBINES]), None);
        assert_eq!(larger(&[COMBINES, (MAX, "256m")]), None);
        assert_eq!(larger(&[BLOCK, (MAX, "1m")]).as_deref(), Some(MIN));
        assert_eq!(larger(&[BLOCK, (MIN, "1g")]), None);
        // Their other minimums must not exceed the maximum.
        let per_node = "mapreduce.input.fileinputformat.split.minsize.per.node";
        let split = smaller(&[COMBINES, (MIN, "8g"), (per_node, "512m")], 256);
        assert_eq!(split, named(&[(MAX, 256), (per_node, 256)]));
    }

    #[test]
    fn the_class_of_the_job_counts_before_that_of_hive() {
        let combines =
            |settings: &[(&str, &str)]| SplitLimits::of(&elephant_sample::job(Vec::new(), settings)).combines;
        let hive = ("hive.input.format", "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat");
        let text =
            ("mapreduce.job.inputformat.class", "org.apache.hadoop.mapreduce.lib.input.TextInputFormat");
        assert!(combines(&[hive]) && combines(&[COMBINES]));
        assert!(!combines(&[hive, text]) && !combines(&[text]) && !combines(&[]));
    }

    #[test]
    fn a_large_minimum_proves_nothing_about_files() {
        let explains = |settings: &[(&str, &str)], mib: u64| {
            SplitLimits::of(&elephant_sample::job(Vec::new(), settings))
                .minimum_explains(Bytes::from_mib(mib))
        };
        assert!(explains(&[BLOCK, (MIN, "2g")], 2048) && explains(&[(MIN, "2g")], 2300));
        assert!(!explains(&[BLOCK, (MIN, "2g")], 5000) && !explains(&[BLOCK, (MIN, "64m")], 100));
        assert!(!explains(&[BLOCK], 2048) && !explains(&[], 0));
    }

    #[test]
    fn small_files_stay_small_with_larger_splits() {
        let grows = |settings: &[(&str, &str)], read: u64, size: u64| {
            let limits = SplitLimits::of(&elephant_sample::job(Vec::new(), settings));
            limits.can_grow(Bytes::from_mib(read), Bytes::from_mib(size))
        };
        assert!(grows(&[], 1, 24) && grows(&[BLOCK], 120, 300));
        // Splits are not smaller than a block, and not larger than a file.
        assert!(!grows(&[BLOCK], 1, 24) && !grows(&[BLOCK], 1, 300) && !grows(&[BLOCK], 120, 128));
        // The job's own maximum makes them small.
        assert!(grows(&[BLOCK, (MAX, "16777216")], 15, 24));
        assert!(grows(&[BLOCK, COMBINES, (MAX, "1048576")], 1, 24));
    }
}
