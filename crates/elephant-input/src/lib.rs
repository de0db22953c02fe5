//! Input: finds files, detects their kind, and decodes their bytes.
//!
//! [`discover`] walks the paths that the user named and sorts the files into an
//! [`Inventory`](inventory::Inventory): logs and histories, job configurations, and skipped files. File
//! extensions are ignored, because files come renamed, with a wrong extension or with none: each file is
//! opened, [`codec`] decompresses its first bytes, and [`kind`] detects from them what the file holds. Names
//! are used only for facts that the contents lack: the job id of a configuration ([`job_id`]), and the parts
//! of a Spark event log and their order; and a file that is named like a history and holds none has failed
//! (`history_name`). Members of zip and tar archives are treated like files in folders.
//!
//! A [`source::Source`] is read one [`part::Part`] at a time; parsers read it through a [`window`], within a
//! [`budget`]. [`inventory::Inventory::look_at_streams`] examines pipes and standard input. A problem with
//! one file is an [`error::InputError`] in the inventory and never ends the run.

mod archive;
mod blocking;
pub mod budget;
pub mod codec;
pub mod discover;
pub mod error;
pub mod follow;
mod found;
mod history_name;
pub mod inventory;
pub mod job_id;
pub mod kind;
pub mod list;
mod log_folder;
mod log_name;
mod lookahead;
mod mounts;
pub mod named;
pub mod part;
mod read_timeout;
mod reason;
mod remote;
mod sorter;
pub(crate) mod source;
mod source_path;
pub mod spread_files;
pub mod storage;
mod streams;
pub mod trace_table;
pub mod unit;
pub mod whole;
pub mod window;
