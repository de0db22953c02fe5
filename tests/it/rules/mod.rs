//! Rule files and the commands about rules.

mod custom_command;
mod files;
