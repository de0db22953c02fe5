//! Hadoop's own servers: MapReduce's history server and YARN's resource manager. They do not deliver histories, but
//! their answers say where these are.

use std::io::Read;

use reqwest::{Response, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Patience;
use super::server::{Body, joined, parts};

/// The servers, each with the path that identifies it and a text in the answer.
const SERVERS: [(Server, [&str; 4], &str); 2] = [
    (Server::History, ["ws", "v1", "history", "info"], "\"historyInfo\""),
    (Server::ResourceManager, ["ws", "v1", "cluster", "info"], "\"clusterInfo\""),
];
/// First parts of the paths of such servers. A gateway may prepend its own folders.
const BEGINNINGS: [&str; 3] = ["ws", "jobhistory", "cluster"];
/// Maximum size of an answer in bytes; the settings of a job take less.
const MOST: u64 = 16 << 20;
/// Levels of folders in the folder of finished jobs: year, month, day and a serial number.
const BELOW_DONE: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    History,
    ResourceManager,
}

/// What to read instead of a server of Hadoop; `None` if it is no such server. `ask` asks for an address.
pub(super) fn instead(
    url: &Url,
    patience: &Patience,
    ask: &dyn Fn(Url) -> Option<Response>,
) -> Option<String> {
    let parts = parts(url);
    let start = parts.iter().position(|part| BEGINNINGS.contains(part)).unwrap_or(parts.len());
    let before = parts.get(..start).unwrap_or_default();
    let at = |folders: &[&str]| joined(url, &[before, folders].concat());
    let text = |url| {
        let mut text = String::new();
        body(ask(url)?, patience).read_to_string(&mut text).ok()?;
        Some(text)
    };
    let is = |(_, info, says): &&(Server, [&str; 4], &str)| {
        text(at(info.as_slice())).is_some_and(|text| text.contains(says))
    };
    match SERVERS.iter().find(is)?.0 {
        Server::ResourceManager => Some(
            "it is YARN's resource manager, which has no histories; name the folder of job histories \
             (mapreduce.jobhistory.done-dir) or of event logs (spark.eventLog.dir), or Spark's history server \
             (http://HOST:18080)"
                .to_owned(),
        ),
        Server::History => {
            let named = parts.iter().find(|part| part.starts_with("job_")).copied();
            let jobs = |rest: &[&str]| at(&[&["ws", "v1", "history", "mapreduce", "jobs"], rest].concat());
            let latest = || {
                let mut url = jobs(&[]);
                url.set_query(Some("limit=1"));
                let list: List = json(ask(url)?, patience)?;
                list.jobs?.job.into_iter().next().map(|job| job.id)
            };
            let id = named.map(str::to_owned).or_else(latest);
            let settings: Option<Settings> =
                id.and_then(|id| json(ask(jobs(&[id.as_str(), "conf"]))?, patience));
            let path = settings.map(|settings| settings.conf.path);
            let folder = path.as_deref().and_then(|path| folder(path, named.is_none()));
            Some(history(folder, named))
        }
    }
}

/// What to read instead of a history server: the folder of a job, or that of all.
fn history(folder: Option<&str>, job: Option<&str>) -> String {
    let read = match (folder, job) {
        (Some(folder), Some(job)) => format!("--app {job} {folder}"),
        (Some(folder), None) => folder.to_owned(),
        (None, _) => {
            "name it (mapreduce.jobhistory.done-dir), such as hdfs://NAMENODE:8020/mr-history/done".to_owned()
        }
    };
    format!(
        "it is MapReduce's history server, which serves totals but not the job histories; read the folder of the job histories instead: {read}"
    )
}

/// The folder of a job's configuration and history, or the one of all finished jobs. A job that has just ended is not in it
/// yet.
fn folder(conf: &str, of_all: bool) -> Option<&str> {
    let (folder, _) = conf.rsplit_once('/')?;
    if !of_all {
        return Some(folder);
    }
    let mut done = folder;
    for _ in 0..BELOW_DONE {
        let (above, number) = done.rsplit_once('/')?;
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        done = above;
    }
    Some(done)
}

#[derive(Debug, Deserialize)]
struct List {
    jobs: Option<Jobs>,
}

#[derive(Debug, Deserialize)]
struct Jobs {
    #[serde(default)]
    job: Vec<Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    id: String,
}

#[derive(Debug, Deserialize)]
struct Settings {
    conf: Conf,
}

#[derive(Debug, Deserialize)]
struct Conf {
    path: String,
}

fn json<T: DeserializeOwned>(answer: Response, patience: &Patience) -> Option<T> {
    serde_json::from_reader(std::io::BufReader::new(body(answer, patience))).ok()
}

fn body(answer: Response, patience: &Patience) -> impl Read {
    Body::of(answer, patience.silence).take(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_all_jobs_is_above_the_days() {
        let conf = "hdfs://nn:8020/mr-history/done/2026/11/20/000000/job_1_2_conf.xml";
        assert_eq!(folder(conf, true), Some("hdfs://nn:8020/mr-history/done"));
        assert_eq!(folder(conf, false), Some("hdfs://nn:8020/mr-history/done/2026/11/20/000000"));
        assert_eq!(folder("hdfs://nn/mr-history/tmp/bob/job_1_2_conf.xml", true), None);
        assert_eq!(folder("x", false), None);
    }
}
