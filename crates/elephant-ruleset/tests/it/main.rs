//! Rule sets against the oracle, and rules of rule files.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod custom;
mod exceptions;
mod mapreduce;
mod tez;
