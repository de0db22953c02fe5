//! Custom.

mod advice;
mod agreement;
