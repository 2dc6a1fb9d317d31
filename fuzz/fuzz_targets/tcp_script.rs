#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sixlo_testkit::tcp_script(data));
