//! Files that appear whole or not at all.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

/// What an unfinished file's or folder's name begins with.
pub(crate) const PART: &str = ".part-";

/// Writes a file beside its place and moves it there when it is whole. An error leaves what was there before.
pub fn replace(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut name = OsString::from(PART);
    name.push(path.file_name().unwrap_or_default());
    let part = path.with_file_name(name);
    let result = write(&part).and_then(|()| fs::rename(&part, path));
    if result.is_err() {
        // The error is what the user needs to hear; a leftover is overwritten next time.
        let _ = fs::remove_file(&part);
    }
    result
}
