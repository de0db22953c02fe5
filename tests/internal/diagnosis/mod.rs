//! The kinds of failures, on the texts of real histories.

mod corpus;
