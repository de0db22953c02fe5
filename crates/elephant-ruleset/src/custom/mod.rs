//! Custom rules in YAML: values from expressions, thresholds, a message and advice, without code.
//!
//! A definition is checked when it is read: names, types, units. On an application, the rule then runs as a
//! tree with all names resolved (`node`), over facts of the model (`facts`) only: no files, no network, no
//! clock. A rule that would take too long is not evaluated; its steps are counted instead of measuring
//! time.

mod aggregate;
mod check;
mod combination;
mod compile;
mod counters;
mod definition;
mod eval;
mod example;
mod facts;
mod limit;
mod load;
mod mistake;
mod names;
mod node;
mod planned;
mod plans;
mod read;
mod reason;
pub mod reference;
mod schema;
mod scope;
mod syntax;
mod template;
mod trial;
mod unit;
mod value;

pub use compile::Over;
pub use definition::CustomRule;
pub use example::{Example, Expected, Given, Input};
pub(super) use load::{check_all, load_all, mark};
pub(super) use schema::properties;
pub use trial::Trial;
