#![no_main]

elephant_rs_fuzz::fuzz!(elephant_rs_fuzz::targets::gc_log::gc_log);
