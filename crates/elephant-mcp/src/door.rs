//! Messages that come one by one, as by HTTP: each is answered without knowing the ones before.

use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, Implementation, InitializeRequestParams, ProtocolVersion,
};
use rmcp::service::serve_directly;
use rmcp::transport::OneshotTransport;

use super::agent::{Agent, Turns};
use super::library::Options;
use super::told::Value;

/// Answers single messages.
#[derive(Clone)]
pub struct Door<T>(Agent<T>);

/// What becomes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// This is its answer, as JSON.
    Answer(Vec<u8>),
    /// It needs none.
    Accepted,
    /// It is none of the protocol; the text says why.
    Refused(String),
}

impl<T: Turns> Door<T> {
    /// Answers from these, with questions that take such turns.
    pub fn new(options: Options, turns: T) -> Self {
        Self(Agent::new(options, turns))
    }

    /// The reply to a message of a client that speaks this version, if it says which.
    pub async fn reply(&self, version: Option<&str>, message: &[u8]) -> Reply {
        let Some(version) = known(version) else {
            return Reply::Refused("this version of the protocol is not known here".to_owned());
        };
        let message = match serde_json::from_slice::<ClientJsonRpcMessage>(message) {
            Ok(message @ ClientJsonRpcMessage::Request(_)) => message,
            Ok(_) => return Reply::Accepted,
            Err(error) => {
                let why = Value::of(&error.to_string());
                return Reply::Refused(format!("this is no message of the protocol: {why}"));
            }
        };
        let (transport, mut answers) = OneshotTransport::new(message);
        let client = InitializeRequestParams::new(ClientCapabilities::default(), Implementation::new("", ""));
        // If the client goes, this is dropped, and with it the question.
        let service = serve_directly(self.0.clone(), transport, Some(client.with_protocol_version(version)));
        let answer = answers.recv().await;
        drop(service);
        match answer.map(|answer| serde_json::to_vec(&answer)) {
            Some(Ok(answer)) => Reply::Answer(answer),
            Some(Err(_)) | None => Reply::Refused("this message has no answer".to_owned()),
        }
    }
}

/// The version that a client says it speaks, if it is one whose messages stand alone; the first one with HTTP if it says
/// nothing.
fn known(version: Option<&str>) -> Option<ProtocolVersion> {
    let version = version.unwrap_or("2025-03-26");
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter().filter(|known| known.has_initialize());
    known.find(|known| known.as_str() == version).cloned()
}
