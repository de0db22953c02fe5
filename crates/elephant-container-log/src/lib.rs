//! What failed, by the logs of containers, drivers, executors and application masters: chains of exceptions, each with its
//! kind, its innermost cause and the user's own frame.
//!
//! Logs are recognised by content ([`recognise`]): `yarn logs` text, pages of the node manager, lines of Kubernetes and
//! Docker, Spark's JSON lines, the layouts of log4j, and bare stack traces. [`read`] reads one as a stream, in memory that
//! does not grow with the log: equal chains are counted once, and every limit that was reached is told.
//!
//! Invariants, held by tests:
//! - No input makes it fail: what is not understood is no chain.
//! - A [`Chain`] holds no message unless [`Options::messages`] asks for it, and then it is masked. Facts taken from messages
//!   are numbers, sizes, durations and ids.
//! - Nothing is followed or fetched.

mod builder;
mod chain;
mod classifier;
mod digest;
mod envelope;
mod events;
mod facts;
mod fingerprint;
mod form;
mod frame;
mod head;
mod ids;
mod json_line;
mod layout;
mod limits;
mod lines;
mod mask;
mod origin;
mod own;
mod owner;
mod page;
mod python;
mod reader;
mod sections;

pub use chain::{Cause, Chain};
pub use classifier::{Classifier, Fault, Kind, Match, Part, Rule, classify_line};
pub use digest::{Digest, Section};
pub use facts::is_harmless;
pub use form::{Form, Recognised, recognise};
pub use frame::Frame;
pub use ids::{Ids, ids_in};
pub use limits::Skipped;
pub use mask::masked;
pub use origin::Origin;
pub use owner::Owner;
pub use reader::{Options, read};
