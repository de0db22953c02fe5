//! A headless Chromium, controlled through `ChromeDriver` with the W3C `WebDriver` protocol.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Only one browser runs at a time, because each uses a whole processor.
static TURN: Mutex<()> = Mutex::new(());

/// A browser with one window; dropping this closes both.
pub(super) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

fn in_path(names: &[&str]) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let candidates =
        names.iter().flat_map(|name| std::env::split_paths(&folders).map(move |folder| folder.join(name)));
    candidates.into_iter().find(|path| path.is_file())
}

impl Browser {
    /// Returns `None` if Chromium is missing; the test is then skipped, except under `CI=true`.
    #[track_caller]
    pub(super) fn start() -> Option<Self> {
        let chromium = in_path(&["chromium", "chromium-browser", "google-chrome"]);
        let Some((chromium, driver)) = chromium.zip(in_path(&["chromedriver"])) else {
            assert!(!elephant_testing::is_ci(), "Chromium or ChromeDriver is missing");
            elephant_testing::skipped::note("no Chromium or ChromeDriver");
            return None;
        };
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port =
            |line: String| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok();
        let port = lines.find_map(port);
        // Later output must be read, or the pipe fills up.
        std::thread::spawn(move || lines.for_each(drop));
        let folder = tempfile::tempdir().unwrap();
        let mut browser = Self { driver, port: port.unwrap(), session: String::new(), folder, _turn: turn };
        let profile = format!("--user-data-dir={}", browser.folder.path().join("profile").display());
        let mut arguments: Vec<&str> = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
            --disable-background-networking --disable-component-update --disable-sync"
            .split_whitespace()
            .collect();
        arguments.push(&profile);
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments, "binary": chromium},
            "goog:loggingPrefs": {"browser": "ALL"},
            "unhandledPromptBehavior": "ignore",
        }}});
        let session = browser.call("POST", "", &wanted);
        session["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        browser.window(1400, 1000);
        Some(browser)
    }

    /// Sends one command and returns its value. `ChromeDriver` uses HTTP/1.1 with content lengths, on this machine
    /// only.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        let session = if self.session.is_empty() {
            "/session".to_owned()
        } else {
            format!("/session/{}", self.session)
        };
        let head = format!(
            "{method} {session}{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap();
                }
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let value = answer["value"].clone();
        assert!(value.get("error").is_none(), "{method} {path}: {value}");
        value
    }

    /// Sends a command of Chromium's own protocol.
    pub(super) fn command(&self, name: &str, parameters: &Value) -> Value {
        self.call("POST", "/goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    /// Sets the window size.
    pub(super) fn window(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Sets the preferred colour scheme: light or dark.
    pub(super) fn prefer(&self, scheme: &str) {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.command("Emulation.setEmulatedMedia", &media);
    }

    /// Sets whether scripts run in pages opened from now on.
    pub(super) fn scripts(&self, run: bool) {
        self.command("Emulation.setScriptExecutionDisabled", &json!({"value": !run}));
    }

    /// Opens a page by way of a file.
    pub(super) fn open(&self, page: &str) {
        let path = self.folder.path().join("report.html");
        std::fs::write(&path, page).unwrap();
        self.go(&path, "");
    }

    /// Opens a page in a fresh document, as a pasted link to `target` does.
    pub(super) fn open_at(&self, page: &str, target: &str) {
        let path = self.folder.path().join("report.html");
        std::fs::write(&path, page).unwrap();
        self.call("POST", "/url", &json!({"url": "about:blank"}));
        self.go(&path, &format!("#{target}"));
    }

    fn go(&self, path: &Path, target: &str) {
        self.call("POST", "/url", &json!({"url": format!("file://{}{target}", path.display())}));
        // On a busy machine the driver may return before the page is there.
        let is_there = "location.protocol === 'file:' && document.readyState === 'complete'";
        for _ in 0..500 {
            if self.value(is_there) == json!(true) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("{} was not loaded within ten seconds", path.display());
    }

    /// Opens a page of a server.
    pub(super) fn visit(&self, address: &str) {
        self.call("POST", "/url", &json!({"url": address}));
    }

    /// Waits until another page than this one is there.
    pub(super) fn left(&self, before: &Value) {
        for _ in 0..500 {
            let there = self.value("document.readyState === 'complete' && location.href");
            if there != json!(false) && there != *before {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{before} is still there after ten seconds");
    }

    /// The value of an expression, even if the page's own scripts are disabled. Waits for a promise.
    pub(super) fn value(&self, expression: &str) -> Value {
        let wanted = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let outcome = self.command("Runtime.evaluate", &wanted);
        assert!(outcome.get("exceptionDetails").is_none(), "{expression}: {outcome}");
        outcome["result"]["value"].clone()
    }

    /// The CPU time of the page's main thread up to now.
    pub(super) fn cpu_milliseconds(&self) -> f64 {
        self.command("Performance.enable", &json!({}));
        let metrics = self.command("Performance.getMetrics", &json!({}));
        let is_cpu = |metric: &&Value| metric["name"] == "ThreadTime";
        let time = metrics["metrics"].as_array().unwrap().iter().find(is_cpu).unwrap();
        time["value"].as_f64().unwrap() * 1000.0
    }

    /// Types keys into the focused element.
    pub(super) fn keys(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key.to_string()})))
            .collect();
        let keyboard = json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]});
        self.call("POST", "/actions", &keyboard);
    }

    /// The console messages since the last call.
    pub(super) fn console(&self) -> Vec<String> {
        let entries = self.call("POST", "/se/log", &json!({"type": "browser"}));
        entries.as_array().unwrap().iter().map(ToString::to_string).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", "", &Value::Null);
        }
        // ChromeDriver also ends its browser.
        self.driver.kill().unwrap();
        self.driver.wait().unwrap();
    }
}
