#![no_main]

elephant_rs_fuzz::fuzz!(elephant_rs_fuzz::targets::histories::answers);
