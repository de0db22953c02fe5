//! Finds the job id in a file name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The first `job_<digits>_<digits>` in a file name.
///
/// Hadoop writes the id at the start (`job_1_0001-….jhist`, `job_1_0001_conf.xml`, `job_1_0001_2.jhist` for
/// the second application master) or, in version 1, after the job tracker's name; the name may be
/// percent-encoded.
#[must_use]
pub fn job_id_in(name: &OsStr) -> Option<String> {
    let name = name.as_encoded_bytes();
    find(name).or_else(|| find(&percent_decoded(name)))
}

fn find(name: &[u8]) -> Option<String> {
    const PREFIX: &[u8] = b"job_";
    memchr::memmem::find_iter(name, PREFIX).find_map(|at| {
        let numbers = name.get(at + PREFIX.len()..)?;
        let first = digits(numbers)?;
        let second = digits(numbers.get(first.len()..)?.strip_prefix(b"_")?)?;
        Some(format!("job_{}_{}", std::str::from_utf8(first).ok()?, std::str::from_utf8(second).ok()?))
    })
}

/// The leading digits; `None` if there are none.
fn digits(text: &[u8]) -> Option<&[u8]> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.get(..len).filter(|digits| !digits.is_empty())
}

fn percent_decoded(name: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte == b'%'
            && let [high, low, tail @ ..] = rest
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            decoded.push(high << 4 | low);
            rest = tail;
        } else {
            decoded.push(*byte);
        }
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// The application master's attempt in the name of a staging history: 2 in `job_1526555215992_0001_2.jhist`.
#[must_use]
pub fn master_attempt_in(name: &OsStr) -> Option<u32> {
    let name = name.to_str()?;
    let rest = name.strip_prefix(&job_id_in(OsStr::new(name))?)?;
    rest.strip_prefix('_')?.split_once(".jhist")?.0.parse().ok()
}

/// Where Hadoop writes the configuration of the job with this history: next to it, or in the folder above.
#[must_use]
pub(crate) fn confs_beside(history: &Path) -> Vec<PathBuf> {
    let Some(name) = history.file_name().and_then(OsStr::to_str) else { return Vec::new() };
    let Some(id) = job_id_in(OsStr::new(name)) else { return Vec::new() };
    // In a staging folder, the attempt of the application master follows the id.
    let attempt = name.strip_suffix(".jhist").filter(|_| master_attempt_in(OsStr::new(name)).is_some());
    let until_id = name.find(&id).and_then(|at| name.get(..at + id.len()));
    let folder = history.parent().unwrap_or(Path::new(""));
    let folders = [Some(folder), folder.parent().filter(|_| folder.file_name().is_some())];
    let names: Vec<String> =
        attempt.into_iter().chain(until_id).map(|name| format!("{name}_conf.xml")).collect();
    folders.into_iter().flatten().flat_map(|folder| names.iter().map(|name| folder.join(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hadoop_writes() {
        let names = [
            (
                "job_1526555215992_0001-1526555642677-user-QuasiMonteCarlo-1-1-SUCCEEDED-default-1.jhist",
                "1526555215992_0001",
            ),
            ("job_1526555215992_0001_conf.xml", "1526555215992_0001"),
            ("job_1_0001_1.jhist", "1_0001"),
            ("job_1_0001_1_conf.xml", "1_0001"),
            ("mrconf_job_1479206441898_30784.xml", "1479206441898_30784"),
            ("host_1265616107882_job_201002080801_40864_conf.xml", "201002080801_40864"),
            (
                "host_1265616107882_job_201002080801_40864_job_name-DAILY%2F20100210%5D.gz",
                "201002080801_40864",
            ),
            ("job_201311192236_3583_1386370578196_user1_Sleep+job", "201311192236_3583"),
            ("night job_2_0003.bak", "2_0003"),
            ("nightjob_of_job_7_0004", "7_0004"),
            ("job%5F12%5F0003_conf.xml", "12_0003"),
        ];
        for (name, id) in names {
            assert_eq!(job_id_in(OsStr::new(name)), Some(format!("job_{id}")), "{name}");
        }
    }

    #[test]
    fn names_without_a_job_id() {
        for name in
            ["", "job_", "job_1", "job_1_", "job__1", "mrconf_30784.xml", "job_a_1", "job%5", "%", "%zz"]
        {
            assert_eq!(job_id_in(OsStr::new(name)), None, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_name_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(job_id_in(OsStr::from_bytes(b"\xff\xfejob_1_2\xff")), Some("job_1_2".to_owned()));
    }

    #[test]
    fn confs_are_beside_their_history_or_above() {
        let beside = |history: &str| -> Vec<String> {
            confs_beside(Path::new(history)).iter().map(|conf| conf.display().to_string()).collect()
        };
        assert_eq!(
            beside("done/01/job_1_0002-5-user-name.jhist"),
            ["done/01/job_1_0002_conf.xml", "done/job_1_0002_conf.xml"]
        );
        assert_eq!(
            beside("s/job_1_0002_3.jhist"),
            [
                "s/job_1_0002_3_conf.xml",
                "s/job_1_0002_conf.xml",
                "job_1_0002_3_conf.xml",
                "job_1_0002_conf.xml"
            ]
        );
        assert_eq!(beside("host_12_job_2010_40864_name"), ["host_12_job_2010_40864_conf.xml"]);
        assert!(beside("history.jhist").is_empty());
    }

    #[test]
    fn application_masters_number_their_attempts() {
        let attempt = |name: &str| master_attempt_in(OsStr::new(name));
        assert_eq!(attempt("job_1526555215992_0001_2.jhist"), Some(2));
        assert_eq!(attempt("job_1526555215992_0001_12.jhist.gz"), Some(12));
        assert_eq!(attempt("job_1526555215992_0001.jhist"), None);
        assert_eq!(attempt("job_1526555215992_0001-1526555642677-u-n.jhist"), None);
        assert_eq!(attempt("job_1526555215992_0001_1_conf.xml"), None);
    }
}
