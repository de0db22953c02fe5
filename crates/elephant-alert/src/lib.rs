//! Tells people and programs what is new or worse in the applications that were read.
//!
//! [`Recent`] notes the applications of a reading that ended lately, [`Recent::news`] compares them as `check` does and
//! returns an [`Alert`] for each job, and [`deliver`] brings each to its receivers, which an [`AlertFile`] names. Nothing
//! here decides what is new or worse: the gate does. A receiver that does not answer takes a bounded time; what it did not
//! get waits in the store.

mod dry_run;
mod facts;
mod file;
mod lineage;
mod news;
mod receivers;
mod recent;
mod sending;
mod texts;

pub use dry_run::dry_run;
pub use facts::{Alert, Change, FoundBy, Identity, News, Run};
pub use file::{AlertFile, AlertFileError};
pub use lineage::{Lineage, Parent};
pub use news::Judging;
pub use receivers::{Body, Message};
pub use recent::{Recent, Told};
pub use sending::{Delivered, deliver};
