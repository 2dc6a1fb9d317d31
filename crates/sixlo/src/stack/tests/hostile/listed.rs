//! Every case has a test that bears its identifier.

use std::collections::BTreeSet;
use std::format;
use std::fs;
use std::path::Path;
use std::string::String;
use std::vec::Vec;

/// The words in the names of the tests of this folder.
fn words() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/stack/tests/hostile");
    let files = fs::read_dir(folder).expect("this folder");
    let mut words = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a text");
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.trim() != "#[test]" {
                continue;
            }
            let name = lines.next().and_then(|line| line.trim().strip_prefix("fn "));
            let name = name.and_then(|rest| rest.split('(').next()).unwrap_or_default();
            words.extend(name.split('_').map(String::from));
        }
    }
    words
}

#[test]
fn every_case_of_this_step_has_a_test_that_bears_its_identifier() {
    let link = (1..=10).map(|number| format!("xl{number}"));
    let headers = (1..=18).map(|number| format!("xh{number}"));
    let fragments = (1..=16).map(|number| format!("xf{number}"));
    let ipv6 = (1..=5).chain(7..=10).chain([20]);
    let ipv6 = ipv6.map(|number| format!("xi{number}"));
    let recoverable = (1..=20).map(|number| format!("xr{number}"));
    let words = words();
    let required = link
        .chain(headers)
        .chain(fragments)
        .chain(ipv6)
        .chain(recoverable);
    let missing: Vec<String> = required.filter(|case| !words.contains(case)).collect();
    assert!(missing.is_empty(), "no test bears {missing:?}");
}
