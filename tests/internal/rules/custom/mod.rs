//! Rules that users define in YAML.

mod advice;
mod agreement;
mod docs;
mod files;
