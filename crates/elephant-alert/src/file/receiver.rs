//! Receivers: who is told, and how.

use super::endpoint::{self, Endpoint};
use super::entries::{Entry, Reader};
use super::listed;
use super::quiet::{self, Quiet};
use elephant_base::units::Millis;
use elephant_rule::params::yaml::{Kind, Node, Span, Spanned};

/// The kinds of receivers, and a key of each.
const KINDS: [&str; 5] = ["slack", "alertmanager", "cloudevents", "mail", "openlineage"];
const KEYS: [&str; 6] = ["slack", "alertmanager", "cloudevents", "mail", "openlineage", "quiet"];
const OF_MAIL: [&str; 3] = ["to", "from", "command"];
const EXAMPLE: &str = "write for example {slack: {url_env: SLACK_WEBHOOK}}";
/// A name is part of a key in the store.
const MOST_OF_NAME: usize = 100;

/// Alertmanager shows an alert for so long: until about the next run of a daily job.
const RESOLVE_AFTER: Millis = Millis::new(86_400_000);
/// Sends what it reads; a dot alone on a line does not end it.
const SENDMAIL: [&str; 2] = ["/usr/sbin/sendmail", "-i"];

/// Who is told, and how.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    pub(crate) name: String,
    pub(crate) to: To,
    pub(crate) quiet: Option<Quiet>,
    /// Where it is in the file.
    pub(super) span: Span,
}

/// How a receiver is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum To {
    /// A webhook of Slack.
    Slack(Endpoint),
    /// An Alertmanager, which shows an alert for so long.
    Alertmanager(Endpoint, Millis),
    /// A webhook that takes `CloudEvents`.
    CloudEvents(Endpoint),
    /// A server of lineage, with the namespace of jobs whose settings name none.
    OpenLineage(Endpoint, Option<String>),
    /// People.
    Mail(Mail),
}

/// People, and the program that sends them a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mail {
    pub(crate) to: Vec<String>,
    pub(crate) from: Option<String>,
    /// The program with its arguments; the recipients follow.
    pub(crate) command: Vec<String>,
}

impl Receiver {
    /// The kind of receiver.
    pub(crate) const fn kind(&self) -> &'static str {
        match self.to {
            To::Slack(_) => "slack",
            To::Alertmanager(..) => "alertmanager",
            To::CloudEvents(_) => "cloudevents",
            To::OpenLineage(..) => "openlineage",
            To::Mail(_) => "mail",
        }
    }

    /// Its address and token, if it is told by HTTP.
    pub(crate) const fn endpoint(&self) -> Option<&Endpoint> {
        match &self.to {
            To::Slack(endpoint)
            | To::Alertmanager(endpoint, _)
            | To::CloudEvents(endpoint)
            | To::OpenLineage(endpoint, _) => Some(endpoint),
            To::Mail(_) => None,
        }
    }

    /// Whether it can be told.
    pub(super) fn check(&self) -> Result<(), String> {
        self.endpoint().map_or(Ok(()), Endpoint::check)
    }

    fn read((name, node): Entry<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let entries = reader.entries(node, "a receiver", &KEYS, EXAMPLE)?;
        let kinds: Vec<Entry<'_>> =
            entries.iter().copied().filter(|(key, _)| KINDS.contains(&key.value.as_str())).collect();
        let quiet = entries.iter().find(|(key, _)| key.value == "quiet");
        let quiet = quiet.and_then(|(_, node)| {
            let text = reader.text(node)?;
            let read = Quiet::parse(&text);
            read.map_err(|why| reader.error(&node.span, why, Some(quiet::EXAMPLE.to_owned()))).ok()
        });
        let [kind] = kinds.as_slice() else {
            let message = format!("a receiver has one of the keys {}", KINDS.join(", "));
            reader.error(&name.span, message, Some(EXAMPLE.to_owned()));
            return None;
        };
        let to = to(*kind, reader)?;
        Some(Self { name: name.value.clone(), to, quiet, span: name.span.clone() })
    }
}

/// Reads how a receiver is told.
fn to((kind, node): Entry<'_>, reader: &mut Reader<'_>) -> Option<To> {
    let more: &[&str] = match kind.value.as_str() {
        "alertmanager" => &["resolve_after"],
        "openlineage" => &["namespace"],
        "mail" => return mail(kind, node, reader).map(To::Mail),
        _ => &[],
    };
    let keys: Vec<&str> = endpoint::KEYS.iter().chain(more).copied().collect();
    let entries =
        reader.entries(node, "where the receiver is", &keys, "write for example {url_env: NAME}")?;
    let find = |wanted: &str| entries.iter().find(|(key, _)| key.value == wanted).map(|(_, node)| *node);
    let is_secret = kind.value == "slack";
    let endpoint = endpoint::read((&entries, &kind.span), is_secret, reader)?;
    Some(match kind.value.as_str() {
        "slack" => To::Slack(endpoint),
        "alertmanager" => {
            let after = find("resolve_after").and_then(|node| reader.time(node));
            To::Alertmanager(endpoint, after.unwrap_or(RESOLVE_AFTER))
        }
        "openlineage" => {
            let namespace = find("namespace").and_then(|node| reader.text(node));
            To::OpenLineage(endpoint, namespace)
        }
        _ => To::CloudEvents(endpoint),
    })
}

fn mail(kind: &Spanned<String>, node: &Node, reader: &mut Reader<'_>) -> Option<Mail> {
    let entries = reader.entries(node, "recipients", &OF_MAIL, "write for example {to: data@example.com}")?;
    let command = SENDMAIL.map(str::to_owned).to_vec();
    let mut mail = Mail { to: Vec::new(), from: None, command };
    for (key, node) in entries {
        let texts: Vec<(&Node, String)> =
            listed(node).into_iter().filter_map(|node| Some((node, reader.text(node)?))).collect();
        if key.value == "command" {
            mail.command = texts.into_iter().map(|(_, text)| text).collect();
            if mail.command.is_empty() {
                reader.error(
                    &node.span,
                    "the program is missing",
                    Some(format!("write for example [{}]", SENDMAIL.join(", "))),
                );
            }
            continue;
        }
        for (node, address) in &texts {
            if !is_address(address) {
                let help = Some("write for example data@example.com, without a name".to_owned());
                reader.error(&node.span, format!("\"{address}\" is no mail address"), help);
            }
        }
        if key.value == "from" && texts.len() > 1 {
            reader.error(&node.span, "a mail has one sender", Some("write one address".to_owned()));
        }
        let mut addresses = texts.into_iter().map(|(_, address)| address);
        match key.value.as_str() {
            "to" => mail.to = addresses.collect(),
            "from" => mail.from = addresses.next(),
            _ => {}
        }
    }
    if mail.to.is_empty() {
        reader.error(&kind.span, "the mail has no recipient", Some("add to: data@example.com".to_owned()));
    }
    Some(mail)
}

/// Whether it is an address that needs no quotes in a header, and is no option of a program.
fn is_address(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.@".contains(c);
    let parts = text.split_once('@').filter(|(local, host)| {
        !local.is_empty() && !host.is_empty() && !host.contains('@') && !local.starts_with('-')
    });
    parts.is_some() && text.chars().all(fits)
}

/// Reads the receivers of a file.
pub(super) fn read_all(node: &Node, reader: &mut Reader<'_>) -> Vec<Receiver> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("expected receivers by their names, got {}", node.what());
        reader.error(
            &node.span,
            message,
            Some("write for example team: {slack: {url_env: NAME}}".to_owned()),
        );
        return Vec::new();
    };
    let mut receivers = Vec::new();

    for (name, node) in entries {
        let fits = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        if name.value.is_empty() || name.value.len() > MOST_OF_NAME || !name.value.chars().all(fits) {
            let message = format!("a name has letters, digits, -, _ and ., at most {MOST_OF_NAME} bytes");
            reader.error(&name.span, message, None);
        }
        receivers.extend(Receiver::read((name, node), reader));
    }
    receivers
}
