//! Rules that users define in YAML: values from expressions, thresholds, a message and advice, without code.

mod aggregate;
mod compile;
mod eval;
mod facts;
mod names;
mod node;
mod parse;
mod scope;
mod unit;
