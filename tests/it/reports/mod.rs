//! Complete reports, and the HTML page.

mod browser;
mod command_pages;
mod diff;
mod html;
mod html_browser;
mod pages;
mod plans;
#[cfg(feature = "serve")]
mod served;
mod spark_recordings;
mod widths;
