//! A client that speaks JSON-RPC through pipes, and shows every message.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::thread::JoinHandle;

use elephant_mcp::{MOST_BYTES, McpError, Options, Stopper, serve_on};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::runtime::Runtime;

/// A server in a thread, and its only client.
pub(crate) struct Client {
    runtime: Runtime,
    answers: BufReader<ReadHalf<DuplexStream>>,
    requests: WriteHalf<DuplexStream>,
    server: JoinHandle<Result<(), McpError>>,
    pub stopper: Stopper,
    last: i64,
}

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub is_error: bool,
    pub text: String,
    pub structured: Value,
}

impl Client {
    /// A client that has not said anything yet.
    pub(crate) fn connect(options: Options) -> Self {
        let (here, there) = tokio::io::duplex(1 << 16);
        let stopper = Stopper::default();
        let stop = stopper.clone();
        let server = std::thread::spawn(move || serve_on(options, &stop, || tokio::io::split(there)));
        let (answers, requests) = tokio::io::split(here);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Self { runtime, answers: BufReader::new(answers), requests, server, stopper, last: 0 }
    }

    pub(crate) fn start(options: Options) -> Self {
        let mut client = Self::connect(options);
        let version = "2025-11-25";
        let about = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "0" } });
        let answer = client.request("initialize", &about);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, line: &str) {
        let sent = async {
            self.requests.write_all(format!("{line}\n").as_bytes()).await?;
            self.requests.flush().await
        };
        self.runtime.block_on(sent).unwrap();
    }

    /// Sends a request, and returns its id.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// The next message.
    pub(crate) fn message(&mut self) -> Value {
        let mut line = String::new();
        self.runtime.block_on(self.answers.read_line(&mut line)).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The answer to a request, when nothing else is expected.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.message();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)), "{answer}");
        answer
    }

    /// Calls a tool, and checks what holds for every answer: it fits the schema that the tool announces, and the bound.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Told {
        let answer = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{answer}");
        let structured = result["structuredContent"].clone();
        let told = Told { is_error: result["isError"] == true, text, structured };
        if told.is_error {
            assert_eq!((told.text.contains('\n'), &told.structured), (false, &Value::Null), "{told:?}");
            return told;
        }
        let size = told.text.len() + told.structured.to_string().len();
        assert!(size <= MOST_BYTES, "{tool} {arguments}: {size} bytes");
        let wrong: Vec<String> =
            output_schemas()[tool].iter_errors(&told.structured).map(|error| format!("{error}")).collect();
        assert!(wrong.is_empty(), "{tool} {arguments}: {wrong:?} in {}", told.structured);
        told
    }

    /// The same of a tool that must not fail.
    pub(crate) fn told(&mut self, tool: &str, arguments: &Value) -> Told {
        let told = self.call(tool, arguments);
        assert!(!told.is_error, "{tool} {arguments}: {}", told.text);
        told
    }

    /// The message of a tool that must fail.
    pub(crate) fn fails(&mut self, tool: &str, arguments: &Value) -> String {
        let told = self.call(tool, arguments);
        assert!(told.is_error, "{tool} {arguments}: {}", told.structured);
        told.text
    }

    /// All parts of an answer.
    pub(crate) fn parts(&mut self, tool: &str, arguments: &Value) -> Vec<Told> {
        let (mut parts, mut arguments) = (Vec::new(), arguments.clone());
        loop {
            let part = self.told(tool, &arguments);
            let next = part.structured["next"].clone();
            assert_eq!(next.is_string(), part.text.ends_with("cursor = next."), "{}", part.text);
            parts.push(part);
            if next.is_null() {
                return parts;
            }
            assert!(parts.len() < 1000, "{tool} {arguments}: {next}");
            arguments["cursor"] = next;
        }
    }

    /// All items of a list in all parts.
    pub(crate) fn all(&mut self, tool: &str, arguments: &Value, list: &str) -> Vec<Value> {
        let parts = self.parts(tool, arguments);
        parts.iter().flat_map(|part| part.structured[list].as_array().unwrap().clone()).collect()
    }

    /// Closes the connection, and waits for the server.
    pub(crate) fn close(self) -> Result<(), McpError> {
        drop((self.answers, self.requests));
        self.server.join().unwrap()
    }

    /// Waits for a server that was told to stop.
    pub(crate) fn ended(self) -> Result<(), McpError> {
        self.server.join().unwrap()
    }
}

/// What the server says of its tools.
pub(crate) fn tools() -> &'static [Value] {
    static TOOLS: OnceLock<Vec<Value>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let mut client = Client::start(super::library::empty());
        client.request("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone()
    })
}

fn output_schemas() -> &'static BTreeMap<String, jsonschema::Validator> {
    static SCHEMAS: OnceLock<BTreeMap<String, jsonschema::Validator>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let compiled = |tool: &Value| {
            let name = tool["name"].as_str().unwrap().to_owned();
            (name, jsonschema::validator_for(&tool["outputSchema"]).unwrap())
        };
        tools().iter().map(compiled).collect()
    })
}
