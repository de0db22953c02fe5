//! Input: which files there are, what they are, and how their bytes are decoded.
//!
//! [`discover`] walks the paths that the user named and sorts what it finds into an
//! [`Inventory`](inventory::Inventory): histories, job configurations, and what is neither. A file's name
//! proves nothing (histories come renamed, compressed under the wrong suffix, or with none), so each file is
//! opened, [`codec`] takes compression off its first bytes, and [`kind`] tells from them what it holds. Only
//! what nothing inside tells is taken from names: the job id of a configuration ([`job_id`]), and which files
//! of a folder are the parts of one event log of Spark, and in which order. Members of zip and tar archives
//! are treated as files in folders.
//!
//! A [`source::Source`] is read [`part::Part`] by part, each opened again; parsers read it through a
//! [`window`], within a [`budget`]. Streams are looked at by [`inventory::Inventory::look_at_streams`]. Trouble with one file is an [`error::InputError`] beside the others, never the end of the run.

mod archive;
pub mod budget;
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
mod patience;
pub mod source;
mod streams;
pub(crate) mod whole;
pub mod window;
