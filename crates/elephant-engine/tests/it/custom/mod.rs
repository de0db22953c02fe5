//! Custom.

mod advice;
mod agreement;
mod plans;
