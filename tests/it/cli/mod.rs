//! The commands as users run them.

mod analyze;
mod completions;
mod filters;
mod manners;
mod nodes;
mod stragglers;
mod whatif;
