//! Rules that users define in YAML.

mod agreement;
mod docs;
mod files;
