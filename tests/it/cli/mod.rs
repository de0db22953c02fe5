//! The commands as users run them.

mod analyze;
mod completions;
mod filters;
mod manners;
mod nodes;
mod simulate;
mod stragglers;
mod whatif;
