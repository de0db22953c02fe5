//! Input: which files there are, what they are, and how their bytes are decoded.

pub mod window;
