//! A server of PostgreSQL on this machine, for the tests of a process.
//!
//! It is started with `initdb` and `postgres` in a temporary folder, listens on 127.0.0.1 only, and ends with the process.
//! As root, it runs as `nobody`, because PostgreSQL refuses root. Without PostgreSQL the tests are skipped, except with
//! `ELEPHANT_POSTGRES=1`.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::skipped;

/// With this variable, a missing server fails the tests.
const REQUIRED: &str = "ELEPHANT_POSTGRES";
const PATIENCE: Duration = Duration::from_secs(60);
const NOBODY: u32 = 65_534;

/// The user whose password is asked for.
pub const GUARDED: &str = "guarded";
pub const PASSWORD: &str = "open,sesame";

/// Stops the server and removes its folder when the process that holds its input ends, however it ends.
const KEEPER: &str = r#"trap "" INT TERM
folder=$1
shift
"$@" >"$folder/log" 2>&1 &
server=$!
read -r _
kill -INT $server
wait $server
rm -rf "$folder""#;

/// A running server.
pub struct Server {
    programs: PathBuf,
    port: u16,
    databases: AtomicUsize,
    /// Closed by the end of the process.
    _keeper: ChildStdin,
}

/// The server of this process. `None` if PostgreSQL is not installed.
#[track_caller]
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    or_skip(SERVER.get_or_init(|| programs().map(|programs| Server::start(programs, None))).as_ref())
}

/// Another server, which offers TLS with this certificate and its key.
#[track_caller]
pub fn encrypting_server(certificate: (&Path, &Path)) -> Option<Server> {
    or_skip(programs().map(|programs| Server::start(programs, Some(certificate))))
}

#[track_caller]
fn or_skip<T>(server: Option<T>) -> Option<T> {
    if server.is_none() {
        assert!(std::env::var_os(REQUIRED).is_none(), "PostgreSQL is missing");
        skipped::note("PostgreSQL is not installed (apt-get install postgresql)");
    }
    server
}

/// The folder of `initdb` and `postgres`; Debian does not have them on the path.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut versions: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    versions.sort();
    folders.extend(versions.into_iter().rev());
    folders.into_iter().find(|folder| {
        ["initdb", "postgres", "psql", "createdb"].iter().all(|program| folder.join(program).exists())
    })
}

impl Server {
    #[allow(clippy::zombie_processes)] // the keeper ends with this process
    fn start(programs: PathBuf, certificate: Option<(&Path, &Path)>) -> Self {
        let folder = tempfile::Builder::new().prefix("elephant-postgres-").tempdir().unwrap().keep();
        let is_root = fs::metadata(&folder).unwrap().uid() == 0;
        let give = |path: &Path, mode: u32| {
            if is_root {
                std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        give(&folder, 0o700);
        let as_user = |program: &str| {
            let program = programs.join(program);
            if !is_root {
                return vec![program.display().to_string()];
            }
            let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
            let words = ["setpriv".to_owned()].into_iter().chain(ids);
            words.chain(["--clear-groups".to_owned(), program.display().to_string()]).collect()
        };
        let data = folder.join("data");
        let words = as_user("initdb");
        let mut initdb = Command::new(&words[0]);
        initdb.args(&words[1..]).arg("-D").arg(&data);
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        let made = initdb.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let rules = fs::read_to_string(data.join("pg_hba.conf")).unwrap();
        // With a certificate, this user comes in over TLS only.
        let kind = if certificate.is_some() { "hostssl" } else { "host" };
        let guard = format!("{kind} all {GUARDED} 127.0.0.1/32 scram-sha-256\n");
        let last = format!("host all {GUARDED} 127.0.0.1/32 reject\n");
        fs::write(data.join("pg_hba.conf"), guard + &last + &rules).unwrap();
        // The port was free a moment ago, and nothing else asks for ports here.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "sh"]).arg(&folder).args(as_user("postgres")).arg("-D").arg(&data);
        keeper.args(["-h", "127.0.0.1", "-k", "", "-F", "-p", &port.to_string()]);
        if let Some((certificate, key)) = certificate {
            keeper.args(["-c", "ssl=on", "-c", "ssl_cert_file=server.crt", "-c", "ssl_key_file=server.key"]);
            for (from, to) in [(certificate, "server.crt"), (key, "server.key")] {
                fs::copy(from, data.join(to)).unwrap();
                give(&data.join(to), 0o600);
            }
        }
        let child = keeper.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = child.stderr(Stdio::null()).spawn().unwrap();
        let server =
            Self { programs, port, databases: AtomicUsize::new(0), _keeper: child.stdin.take().unwrap() };
        server.wait(&folder);
        let password = format!("CREATE ROLE {GUARDED} LOGIN PASSWORD '{PASSWORD}'");
        server.sql("postgres", &password);
        server
    }

    fn wait(&self, folder: &Path) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() || !self.run("postgres", "SELECT 1").0 {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < PATIENCE, "PostgreSQL does not start: {log}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The address of a new database. Its order of texts is not that of bytes where PostgreSQL can do that.
    pub fn database(&self) -> String {
        let name = format!("test{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let create = |more: &[&str]| {
            let mut create = self.command("createdb");
            create.args(["--template=template0", "--encoding=UTF8"]).args(more).arg(&name);
            create.output().unwrap()
        };
        let mut made = create(&["--locale-provider=icu", "--icu-locale=en-US"]);
        if !made.status.success() {
            made = create(&[]);
        }
        assert!(made.status.success(), "createdb: {}", String::from_utf8_lossy(&made.stderr));
        self.address("postgres", &name)
    }

    /// The address of a database for a user.
    pub fn address(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    /// What a statement prints in the database of an address, or of this name.
    pub fn sql(&self, database: &str, statement: &str) -> String {
        let (succeeded, printed) = self.run(database, statement);
        assert!(succeeded, "{statement}: {printed}");
        printed
    }

    fn run(&self, database: &str, statement: &str) -> (bool, String) {
        let name = database.rsplit('/').next().unwrap();
        let mut psql = self.command("psql");
        let Output { status, stdout, stderr } =
            psql.args(["-X", "-q", "-A", "-t", "-d", name, "-c", statement]).output().unwrap();
        let printed = String::from_utf8_lossy(if status.success() { &stdout } else { &stderr });
        (status.success(), printed.trim_end().to_owned())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.args(["-h", "127.0.0.1", "-U", "postgres", "-p", &self.port.to_string()]);
        command.stdin(Stdio::null());
        command
    }
}
