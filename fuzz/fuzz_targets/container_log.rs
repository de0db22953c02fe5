#![no_main]

elephant_rs_fuzz::fuzz!(elephant_rs_fuzz::targets::process_logs::container_log);
