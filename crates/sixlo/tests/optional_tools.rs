//! The helper that runs other people's programs.

mod support;

#[test]
fn scapy_answers_with_what_its_script_writes() {
    let script = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])";
    if let Some(out) = support::scapy(script, b"6lo") {
        assert_eq!(out, b"ol6");
    }
}

#[test]
fn hexadecimal_digits_go_both_ways() {
    assert_eq!(support::unhex("00 7f\nff"), [0x00, 0x7f, 0xff]);
    assert_eq!(support::hex(&[0x00, 0x7f, 0xff]), "007fff");
}
