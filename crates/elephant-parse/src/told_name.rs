//! What the file name of a job history contains: Hadoop repeats times of the job in it.

use std::ffi::OsStr;

use super::reading::Moments;
use elephant_base::units::Timestamp;
use elephant_input::job_id::job_id_in;

/// The job that a file is named after, and its times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToldByName {
    /// The job's id; empty if the name has none, and then all times are `None`.
    pub(super) job: String,
    /// When it was submitted.
    pub(super) submitted: Option<Timestamp>,
    /// When its application master launched it.
    pub(super) launched: Option<Timestamp>,
    /// When it ended.
    pub(super) finished: Option<Timestamp>,
    /// When the job tracker started.
    pub(super) tracker: Option<Timestamp>,
}

impl ToldByName {
    /// Reads the name of a file, which may be that of a member of an archive, after the archive's.
    #[must_use]
    pub fn read(path: &str) -> Self {
        let name = path.rsplit(['/', '!']).next().unwrap_or_default();
        let Some(job) = job_id_in(OsStr::new(name)) else { return Self::default() };
        let Some((before, after)) = name.split_once(&job) else { return Self::default() };
        let told = Self { job, ..Self::default() };
        match (before, after.chars().next()) {
            ("", Some('-')) => told.of_history_server(after),
            ("", Some('_')) => Self { submitted: number(after.split('_').nth(1)), ..told },
            // `<job tracker>_<its start>_<job>_<user>_<name>`, before Hadoop 0.20.203.
            _ => Self { tracker: number(before.rsplit('_').nth(1)), ..told },
        }
    }

    /// `<job>-<submitted>-<user>-<name>-<finished>-<maps>-<reduces>-<status>-<queue>-<launched>.jhist`; Hadoop escapes the
    /// hyphens of names (`FileNameIndexUtils`). Before 2.4 there was no launch.
    fn of_history_server(self, fields: &str) -> Self {
        let Some((fields, _)) = fields.split_once(".jhist") else { return self };
        let fields: Vec<&str> = fields.split('-').skip(1).collect();
        let [submitted, _, _, finished, maps, reduces, _, _, rest @ ..] = fields.as_slice() else {
            return self;
        };
        // A queue with a hyphen would move the launch.
        if rest.len() > 1 || maps.parse::<u32>().is_err() || reduces.parse::<u32>().is_err() {
            return self;
        }
        Self {
            submitted: number(Some(submitted)),
            finished: number(Some(finished)),
            launched: number(rest.first().copied()),
            ..self
        }
    }
}

/// A time in milliseconds. Times since 2001 have this many digits, and Hadoop is younger. Dates have fewer or more.
fn number(text: Option<&str>) -> Option<Timestamp> {
    const DIGITS: usize = 13;
    let digits =
        text.filter(|text| text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_digit()))?;
    Moments::default().read(digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(path: &str) -> [Option<i64>; 4] {
        let told = ToldByName::read(path);
        [told.submitted, told.launched, told.finished, told.tracker]
            .map(|time| time.map(Timestamp::as_millis))
    }

    #[test]
    fn names_of_job_histories_tell_times() {
        let history_server = "done/job_1416424547277_0002-1416424775281-root-Tera%2DGen-1416424785433-2-0-SUCCEEDED-default-\
                              1416424779349.jhist";
        assert_eq!(
            times(history_server),
            [Some(1_416_424_775_281), Some(1_416_424_779_349), Some(1_416_424_785_433), None]
        );
        assert_eq!(ToldByName::read(history_server).job, "job_1416424547277_0002");
        let without_launch = "a.tar!job_1329348432655_0001-1329348443227-user-Sleep+job-1329348468601-10-1-SUCCEEDED-default.jhist.gz";
        assert_eq!(times(without_launch), [Some(1_329_348_443_227), None, Some(1_329_348_468_601), None]);
        let hadoop_1 = "/logs/job_201311192236_3583_1386370578196_user1_Sleep+job";
        assert_eq!(times(hadoop_1), [Some(1_386_370_578_196), None, None, None]);
        let older = "node.example.com_1265616107882_job_201002080801_40864_job_name-DAILY%2F20100210%5D";
        assert_eq!(times(older), [None, None, None, Some(1_265_616_107_882)]);
    }

    #[test]
    fn other_names_tell_nothing() {
        for name in [
            "",
            "history.jhist",
            "job_1416424547277_0002_1.jhist",
            "job_1416424547277_0002.jhist",
            "job_1416424547277_0002-copy.jhist",
            "job_1416424547277_0002_conf.xml",
            "my-job_1416424547277_0002-1416424775281.jhist",
        ] {
            assert_eq!(times(name), [None; 4], "{name}");
        }
        // A hyphen in a queue or a name hides which field is which.
        let name = "job_1_2-1416424775281-a-b-c-1416424785433-2-0-SUCCEEDED-default-1416424779349.jhist";
        assert_eq!(times(name), [None; 4]);
    }
}
