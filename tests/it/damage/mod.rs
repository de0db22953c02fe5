//! Truncated, damaged and incomplete histories, and what reports say about them.

mod missing_data;
mod reports;
mod spark;
mod spark_report;
mod time_limit;
mod unreadable_numbers;
