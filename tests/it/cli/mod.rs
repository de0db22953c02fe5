//! The commands as users run them.

mod analyze;
mod completions;
mod filters;
mod inputs;
mod manners;
mod nodes;
mod order_and_summary;
mod simulate;
mod stragglers;
mod whatif;
