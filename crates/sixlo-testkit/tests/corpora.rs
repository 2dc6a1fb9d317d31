//! Every file that fuzzing left in the corpora goes through its target.

use std::fs;
use std::path::Path;

/// The most files and bytes that a corpus may have in the repository.
const FILES_MAX: usize = 60;
const BYTES_MAX: u64 = 100_000;

#[test]
fn every_file_of_every_corpus_keeps_the_promises_of_its_target() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, target) in sixlo_testkit::TARGETS {
        let folder = corpora.join(name);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let (mut count, mut bytes) = (0, 0);
        for file in files {
            let path = file.expect("a file").path();
            let input = fs::read(&path).expect("a file that can be read");
            println!("{}", path.display());
            target(&input);
            count += 1;
            bytes += input.len() as u64;
        }
        assert!(count > 0, "the corpus of {name} is empty");
        assert!(
            count <= FILES_MAX && bytes <= BYTES_MAX,
            "the corpus of {name} has {count} files of {bytes} bytes: minimise it"
        );
    }
}

#[test]
fn every_corpus_and_every_fuzz_target_belongs_to_a_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut expected: Vec<_> = sixlo_testkit::TARGETS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    expected.sort();
    for folder in ["corpus", "fuzz_targets"] {
        let entries = fs::read_dir(fuzz.join(folder)).expect("a folder of fuzz");
        let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let mut names: Vec<_> = entries
            .filter_map(|entry| stem(&entry.expect("an entry").path()))
            .collect();
        names.sort();
        assert_eq!(names, expected, "in {folder}");
    }
}
