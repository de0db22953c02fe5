//! How the settings of a job limit its splits, and which of them to change.

use super::super::change;
use crate::finding::SettingChange;
use crate::model::Application;
use crate::model::conf::{ConfKey, defaults, parse_binary_prefix};
use crate::units::Bytes;

/// The settings that name the input format, the one that a job reads first.
const INPUT_FORMATS: [&str; 2] = ["mapreduce.job.inputformat.class", "mapred.input.format.class"];

/// Minimums that formats which combine files read. Above the maximum, they make the job fail.
const COMBINED_MINIMUMS: [&str; 4] = [
    "mapreduce.input.fileinputformat.split.minsize.per.node",
    "mapreduce.input.fileinputformat.split.minsize.per.rack",
    "mapred.min.split.size.per.node",
    "mapred.min.split.size.per.rack",
];

/// The settings that size splits. `FileInputFormat` makes splits of max(minimum, min(maximum, block)). Formats that
/// combine files, such as `CombineFileInputFormat`, fill each split up to the maximum, and read nothing else of these.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::heuristics::mapreduce) struct SplitLimits {
    pub(in crate::heuristics::mapreduce) combines: bool,
    minimum: Option<Bytes>,
    pub(super) maximum: Option<Bytes>,
    block: Option<Bytes>,
}

impl SplitLimits {
    pub(in crate::heuristics::mapreduce) fn of(app: &Application) -> Self {
        // Sizes of 0 and 1 mean "not set".
        let size = |key: ConfKey| app.conf.bytes(key).filter(|size| size.get() > 1);
        let combines = combines_files(app);
        Self {
            combines,
            minimum: size(ConfKey::SplitMinSize).filter(|_| !combines),
            maximum: size(ConfKey::SplitMaxSize),
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
    pub(in crate::heuristics::mapreduce) fn minimum_explains(self, read: Bytes) -> bool {
        let decides = |minimum: &Bytes| self.without_minimum().is_none_or(|other| *minimum > other);
        self.minimum.filter(decides).is_some_and(|minimum| read.get() / 2 < minimum.get())
    }

    /// Whether map tasks that read this much would read more with splits of `size`. Splits are as large as the settings
    /// allow already, as far as files are: map tasks that read much less have a small file each, and a split is never
    /// larger than its file.
    pub(in crate::heuristics::mapreduce) fn can_grow(self, read: Bytes, size: Bytes) -> bool {
        self.largest().is_none_or(|split| size > split && read.get() > split.get() / 2)
    }

    /// The change that makes splits of at least `size`, or of up to `size` if the format combines files.
    pub(in crate::heuristics::mapreduce) fn larger(
        self,
        app: &Application,
        size: Bytes,
    ) -> Option<SettingChange> {
        let (key, rises) = if self.combines {
            // Without a maximum, a split holds all blocks of a node.
            (ConfKey::SplitMaxSize, self.maximum.is_some_and(|now| now < size))
        } else {
            (ConfKey::SplitMinSize, self.minimum.is_none_or(|now| now < size))
        };
        rises.then(|| change(app, key, size.get()))
    }

    /// The changes that make splits of at most `size`; none if the settings allow no larger ones. A larger minimum has to
    /// fall, because a maximum has no effect below it.
    pub(in crate::heuristics::mapreduce) fn smaller(
        self,
        app: &Application,
        size: Bytes,
    ) -> Vec<SettingChange> {
        let minimum = self.minimum.filter(|now| *now > size);
        let mut changes: Vec<SettingChange> = Vec::new();
        changes.extend(minimum.map(|_| change(app, ConfKey::SplitMinSize, size.get())));
        // Without the larger minimum, blocks may be small enough.
        let falls = self.maximum.is_none_or(|now| now > size);
        let is_enough = minimum.is_some() && self.block.unwrap_or(defaults::BLOCK) <= size;
        if falls && !is_enough {
            changes.push(change(app, ConfKey::SplitMaxSize, size.get()));
        }
        if self.combines {
            changes.extend(smaller_minimums(app, size));
        }
        changes
    }
}

/// Whether map tasks read several files each. The class of the job counts; Hive names its own.
fn combines_files(app: &Application) -> bool {
    let of_job = INPUT_FORMATS.iter().find_map(|name| app.conf.setting(name));
    let of_hive = || app.conf.text(ConfKey::HiveInputFormat);
    of_job.or_else(of_hive).is_some_and(|class| class.contains("Combine"))
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
    use crate::internal::sample;

    const MIN: &str = "mapreduce.input.fileinputformat.split.minsize";
    const MAX: &str = "mapreduce.input.fileinputformat.split.maxsize";
    const BLOCK: (&str, &str) = ("dfs.blocksize", "128m");
    const COMBINES: (&str, &str) =
        ("mapreduce.job.inputformat.class", "org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat");

    /// The settings of splits of at most this many MiB, with their values in MiB.
    fn smaller(settings: &[(&str, &str)], mib: u64) -> Vec<(String, u64)> {
        let app = sample::job(Vec::new(), settings);
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
    fn formats_that_combine_files_read_only_the_maximum() {
        let larger = |settings: &[(&str, &str)]| {
            let app = sample::job(Vec::new(), settings);
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
            |settings: &[(&str, &str)]| SplitLimits::of(&sample::job(Vec::new(), settings)).combines;
        let hive = ("hive.input.format", "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat");
        let text =
            ("mapreduce.job.inputformat.class", "org.apache.hadoop.mapreduce.lib.input.TextInputFormat");
        assert!(combines(&[hive]) && combines(&[COMBINES]));
        assert!(!combines(&[hive, text]) && !combines(&[text]) && !combines(&[]));
    }

    #[test]
    fn a_large_minimum_proves_nothing_about_files() {
        let explains = |settings: &[(&str, &str)], mib: u64| {
            SplitLimits::of(&sample::job(Vec::new(), settings)).minimum_explains(Bytes::from_mib(mib))
        };
        assert!(explains(&[BLOCK, (MIN, "2g")], 2048) && explains(&[(MIN, "2g")], 2300));
        assert!(!explains(&[BLOCK, (MIN, "2g")], 5000) && !explains(&[BLOCK, (MIN, "64m")], 100));
        assert!(!explains(&[BLOCK], 2048) && !explains(&[], 0));
    }

    #[test]
    fn small_files_stay_small_with_larger_splits() {
        let grows = |settings: &[(&str, &str)], read: u64, size: u64| {
            let limits = SplitLimits::of(&sample::job(Vec::new(), settings));
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
