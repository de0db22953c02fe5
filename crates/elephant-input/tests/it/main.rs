//! Decompression, block by block.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod blocks;
mod codec;
