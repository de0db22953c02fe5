//! Rules on streams: whether batches keep up with what arrives, and whether their state stays within bounds.

pub(super) mod behind;
mod names;
mod pace;
mod place;
mod remedy;
pub(super) mod state;
mod trigger;
