//! Job history parsers and MapReduce rules.

mod advice;
mod avro_binary;
mod corpus_hadoop1;
mod corpus_jobconf;
mod differences;
mod oracle;
mod replay;
mod skew;
