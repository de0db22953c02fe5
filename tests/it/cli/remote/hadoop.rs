//! A real Hadoop on this machine. `ELEPHANT_HADOOP` names a folder with the jars of Hadoop and what they need; `.ci/hdfs`
//! fetches them and runs these tests. The commands are `java -cp 'CONF:WEB:JARS/*' CLASS`, with the classes below, CONF a
//! folder with core-site.xml and hdfs-site.xml as below, and WEB one with empty pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::{PATIENCE, command, errors, output, problem};
use elephant_testing::{files_below, skipped};

const JARS: &str = "ELEPHANT_HADOOP";
/// Other folders to read, separated by colons.
const HISTORIES: &str = "ELEPHANT_HISTORIES";

/// A name node and a data node, which end with the test.
struct Hadoop {
    folder: tempfile::TempDir,
    jars: PathBuf,
    port: u16,
    nodes: Vec<Child>,
}

impl Drop for Hadoop {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

fn properties(of: &[(&str, &str)]) -> String {
    let property = |(name, value): &(&str, &str)| {
        format!("<property><name>{name}</name><value>{value}</value></property>\n")
    };
    format!("<configuration>\n{}</configuration>\n", of.iter().map(property).collect::<String>())
}

impl Hadoop {
    /// `None` if there is no Hadoop.
    fn start() -> Option<Self> {
        let Some(jars) = std::env::var_os(JARS).map(PathBuf::from) else {
            skipped::note("ELEPHANT_HADOOP does not name Hadoop's jars (.ci/hdfs fetches them)");
            return None;
        };
        // Free a moment ago; nothing else asks for ports here.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for page in ["hdfs", "datanode"] {
            let info = place("web/webapps").join(page).join("WEB-INF");
            fs::create_dir_all(&info).unwrap();
            fs::write(info.join("web.xml"), "<web-app/>").unwrap();
        }
        fs::create_dir(place("conf")).unwrap();
        let address = format!("hdfs://127.0.0.1:{port}");
        let data = place("data");
        let core = [("fs.defaultFS", address.as_str()), ("hadoop.tmp.dir", data.to_str().unwrap())];
        fs::write(place("conf/core-site.xml"), properties(&core)).unwrap();
        let any = "127.0.0.1:0";
        let hdfs = [
            ("dfs.replication", "1"),
            // Small, so that histories have several blocks.
            ("dfs.blocksize", "65536"),
            ("dfs.namenode.fs-limits.min-block-size", "4096"),
            ("dfs.namenode.http-address", any),
            ("dfs.datanode.address", any),
            ("dfs.datanode.ipc.address", any),
            ("dfs.datanode.http.address", any),
            // It needs jars that Spark does not ship.
            ("dfs.webhdfs.enabled", "false"),
            // Lists come in several answers.
            ("dfs.ls.limit", "5"),
        ];
        fs::write(place("conf/hdfs-site.xml"), properties(&hdfs)).unwrap();
        let mut hadoop = Self { folder, jars, port, nodes: Vec::new() };
        hadoop.run("org.apache.hadoop.hdfs.server.namenode.NameNode", &["-format", "-force"]);
        for class in ["namenode.NameNode", "datanode.DataNode"] {
            let node = hadoop.java(&format!("org.apache.hadoop.hdfs.server.{class}"), &[]).spawn().unwrap();
            hadoop.nodes.push(node);
        }
        // The name node leaves its safe mode once a data node is there.
        let begun = Instant::now();
        while !hadoop
            .java("org.apache.hadoop.fs.FsShell", &["-mkdir", "/started"])
            .status()
            .unwrap()
            .success()
        {
            assert!(begun.elapsed() < PATIENCE, "Hadoop does not start");
            std::thread::sleep(Duration::from_millis(500));
        }
        Some(hadoop)
    }

    fn java(&self, class: &str, args: &[&str]) -> Command {
        let folder = self.folder.path().to_str().unwrap();
        let mut java = Command::new("java");
        for package in ["java.lang", "java.util"] {
            java.args(["--add-opens", &format!("java.base/{package}=ALL-UNNAMED")]);
        }
        java.args([
            "-Xmx256m",
            "-cp",
            &format!("{folder}/conf:{folder}/web:{}/*", self.jars.display()),
            class,
        ]);
        java.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        java
    }

    fn run(&self, class: &str, args: &[&str]) {
        let status = self.java(class, args).status().unwrap_or_else(|error| panic!("java: {error}"));
        assert!(status.success(), "{class} {args:?}");
    }

    fn shell(&self, args: &[&str]) {
        self.run("org.apache.hadoop.fs.FsShell", args);
    }

    fn url(&self) -> String {
        format!("hdfs://127.0.0.1:{}", self.port)
    }

    /// Runs a command with Hadoop's configuration.
    fn elephant(&self, user: &str, args: &[&str]) -> Output {
        let mut command = command(args);
        command.env("HADOOP_CONF_DIR", self.folder.path().join("conf")).env("HADOOP_USER_NAME", user);
        output(command)
    }
}

fn analyze(paths: &[&str]) -> Vec<String> {
    let args = ["analyze", "--format", "json", "--no-progress"];
    args.iter().chain(paths).map(|arg| (*arg).to_owned()).collect()
}

fn with(hadoop: &Hadoop, user: &str, paths: &[&str]) -> Output {
    let args = analyze(paths);
    hadoop.elephant(user, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The report without the beginning of its paths.
fn without(output: &Output, beginning: &str) -> String {
    assert!(!output.stdout.is_empty(), "{}", errors(output));
    String::from_utf8(output.stdout.clone()).unwrap().replace(beginning, "")
}

/// A copy of a folder. Hadoop's shell hides the checksums that Hadoop wrote beside files.
fn without_checksums(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in files_below(folder) {
        let place = copy.path().join(file.strip_prefix(folder).unwrap());
        if place.extension().is_none_or(|end| end != "crc") {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::copy(&file, place).unwrap();
        }
    }
    copy
}

// One test, because a Hadoop takes half a minute to start.
#[test]
fn a_real_hadoop_gives_the_bytes_of_the_folder() {
    let Some(mut hadoop) = Hadoop::start() else { return };
    let own =
        ["testdata/done", "testdata/hadoop1", "testdata/intermediate", "testdata/spark", "testdata/broken"];
    let more = std::env::var(HISTORIES).unwrap_or_default();
    let folders = own.into_iter().chain(more.split(':').filter(|folder| !folder.is_empty()));
    for (n, folder) in folders.enumerate() {
        let copy = without_checksums(&fs::canonicalize(folder).unwrap());
        let folder = copy.path();
        let place = format!("/copy{n}");
        hadoop.shell(&["-put", folder.to_str().unwrap(), &place]);
        let local = super::analyze(&[folder.to_str().unwrap()]);
        let expected = without(&local, folder.to_str().unwrap());
        for address in [hadoop.url(), "hdfs://".to_owned()] {
            let address = address + &place;
            let read = with(&hadoop, "root", &[&address]);
            assert_eq!(read.status.code(), local.status.code(), "{}", errors(&read));
            assert_eq!(without(&read, &address), expected, "{}", folder.display());
        }
    }
    refused_and_missing(&hadoop);
    // The blocks are gone, the names are not.
    hadoop.nodes[1].kill().unwrap();
    hadoop.nodes[1].wait().unwrap();
    let address = format!("{}/copy1", hadoop.url());
    let read = with(&hadoop, "root", &["--max-time", "1m", &address]);
    assert_eq!(read.status.code(), Some(2), "{}", errors(&read));
    assert!(
        errors(&read).contains("one of its blocks could not be read from any data node (tried 127.0.0.1:"),
        "{}",
        errors(&read)
    );
}

fn refused_and_missing(hadoop: &Hadoop) {
    hadoop.shell(&["-chmod", "700", "/copy1"]);
    let address = format!("{}/copy1", hadoop.url());
    let (_, message) = problem(&with(hadoop, "bob", &[&address]));
    assert!(message.contains("access was denied (Permission denied: user=bob"), "{message}");
    assert!(message.contains("check HADOOP_USER_NAME"), "{message}");
    // The other folder is read.
    let all = with(hadoop, "bob", &[&hadoop.url()]);
    let told = String::from_utf8_lossy(&all.stdout).into_owned();
    assert!(told.contains("/copy0/") && told.contains("Permission denied: user=bob"), "{}", errors(&all));
    assert!(!told.contains("/copy1/"));
    let (code, _) = problem(&with(hadoop, "bob", &[&format!("{}/missing", hadoop.url())]));
    assert_eq!(code, "not-found");
}
