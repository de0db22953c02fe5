//! Whether a file is named as Spark or Hadoop name a history. Such a file without a history is damaged.
//!
//! Only whole names count: `application_1_2` and `application_1_2_1.zstd.inprogress`, but neither `application_1_2.log`
//! nor `app-1.py`, which may be anything about an application.

use std::ffi::OsStr;
use std::path::Path;

use super::log_name::{self, Role, is_number};

/// What compression and Spark add to a name.
const ENDINGS: [&str; 12] = [
    ".gz",
    ".gzip",
    ".zst",
    ".zstd",
    ".bz2",
    ".xz",
    ".lz4",
    ".lzf",
    ".snappy",
    ".sz",
    ".inprogress",
    ".compact",
];

/// Whether the path is that of a history.
pub(super) fn is_history(path: &Path) -> bool {
    let text = |name: Option<&OsStr>| name.and_then(OsStr::to_str).map(str::to_owned);
    let Some(name) = text(path.file_name()) else { return false };
    let folder = text(path.parent().and_then(Path::file_name)).unwrap_or_default();
    let name = without_endings(&name);
    let is_jhist = name.strip_suffix(".jhist").is_some_and(|job| !job.is_empty());
    is_jhist || is_spark_log(&folder, name) || is_hadoop1_history(name)
}

fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

fn without_endings(name: &str) -> &str {
    let mut rest = name;
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| rest.strip_suffix(ending)) {
        rest = shorter;
    }
    rest
}

/// `application_1_2`, `app-1-2`, `local-1`, `spark-` with an id of Kubernetes, `events_1_…` of one of these, and any
/// `events_1_…` in the folder of a rolling log.
fn is_spark_log(folder: &str, name: &str) -> bool {
    let is_part = || {
        matches!(log_name::role(folder, name), Some((_, Role::Part { .. }))) && name.starts_with("events_")
    };
    if log_name::is_rolling_folder(folder) && is_part() {
        return true;
    }
    // Answers of web servers about an application have its id as name, too.
    let (id, _) = log_name::application_of_file(name);
    let is_whole = |id: String| !id.starts_with("app-") || id.matches('-').count() > 1;
    !has_ending(name, "json") && id.is_some_and(is_whole)
}

/// `job_<minute>_<n>_<milliseconds>_<user>_<name>`, or `<host>_<milliseconds>_job_<minute>_<n>_<user>_<name>` in early
/// versions.
fn is_hadoop1_history(name: &str) -> bool {
    if has_ending(name, "xml") {
        return false;
    }
    let is_time = |text: &str| text.len() == 13 && is_number(text);
    let is_new = || {
        let (submitted, user) = after_job(name)?.split_once('_')?;
        (is_time(submitted) && user.contains('_')).then_some(())
    };
    let is_early = |at: usize| {
        let (before, job) = (name.get(..at)?, name.get(at + 1..)?);
        let (_, started) = before.rsplit_once('_')?;
        (is_time(started) && after_job(job)?.contains('_')).then_some(())
    };
    is_new().is_some() || name.match_indices("_job_").any(|(at, _)| is_early(at).is_some())
}

/// What follows the id of a job of Hadoop 1, which contains the minute at which its job tracker started.
fn after_job(name: &str) -> Option<&str> {
    let (minute, rest) = name.strip_prefix("job_")?.split_once('_')?;
    let (number, rest) = rest.split_once('_')?;
    (minute.len() == 12 && is_number(minute) && is_number(number)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_have_the_names_that_spark_and_hadoop_write() {
        for path in [
            "job_1526555215992_0001-1526555642677-user-Pi-1526555658299-1-1-SUCCEEDED-default-1526555648931.jhist",
            "done/job_1_0001_1.jhist.gz",
            "job_201311192236_3583_1386370578196_user1_Sleep+job",
            "host.example.org_1265616107882_job_201002080801_40864_job_name-DAILY%2F20100210%5D.gz",
            "application_1628109047826_1317105",
            "application_1656321732247_0006_2.zstd.inprogress",
            "app-20200706201101-0003.lz4",
            "local-1430917381535_2",
            "spark-110be3a8424d4a2789cb88134418217b",
            "eventlog_v2_my.app/events_2_my.app.zstd",
            "copy/events_2_local-1623876083964",
        ] {
            assert!(is_history(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn other_files_may_hold_anything() {
        for path in [
            "application_1_0001.log",
            "application_1479206441898_35341.json",
            "app-1",
            "app-1.py",
            "app-20200706201101-0003.stderr",
            "app",
            "local-sql-supported",
            ".jhist",
            ".job_1_0001.jhist.crc",
            "job_1526555215992_0001.summary",
            "job_1526555215992_0001_conf.xml",
            "job_201311192236_3583_conf.xml",
            "host_1265616107882_job_201002080801_40864_conf.xml",
            "job_201311192236_3583",
            "job_201311192236_3583_output_part_1",
            "eventlog_v2_my.app/appstatus_my.app",
            "eventlog_v2_my.app/README",
            "copy/events_2_my.app",
            "_SUCCESS",
            "README.md",
        ] {
            assert!(!is_history(Path::new(path)), "{path}");
        }
    }
}
