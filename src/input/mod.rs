//! Input: which files there are, what they are, and how their bytes are decoded.
//!
//! [`discover`] walks the paths that the user named and sorts what it finds into an
//! [`Inventory`](inventory::Inventory): histories, job configurations, and what is neither. A file's name
//! proves nothing (histories come renamed, compressed under the wrong suffix, or with none), so each file is
//! opened, [`codec`] takes compression off its first bytes, and [`kind`] tells from them what it holds. Only
//! the job id of a configuration is taken from the name ([`job_id`]), because nothing inside has it.
//!
//! What is chosen is opened again for reading ([`inventory::Source::open`]); parsers read it through a
//! [`window`]. Trouble with one file is an [`error::InputError`] beside the others, never the end of the run.

mod archive;
pub mod codec;
pub mod discover;
pub mod error;
mod found;
pub mod inventory;
pub mod job_id;
pub mod kind;
mod log_folder;
mod log_name;
mod lookahead;
pub mod part;
pub mod source;
mod spark_log;
mod streams;
pub mod window;
