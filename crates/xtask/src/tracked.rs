//! Figures in files that are tracked: a change that makes one larger has to change the file, too.

use std::path::PathBuf;

use crate::tools::{self, Failure};

/// How much larger a figure may be than what the file says, in percent.
const TOLERANCE_PERCENT: u64 = 2;

/// How much smaller it may be before the file is out of date, in percent, and at least so many.
const STALE_PERCENT: u64 = 10;
const STALE_MIN: u64 = 16;

/// A table of figures: a name for each line, and a number for each column, or none.
pub(crate) struct Figures {
    /// The file in docs/measured/.
    pub(crate) file: &'static str,
    /// What it begins with: what was measured, a line each.
    pub(crate) remarks: Vec<String>,
    /// The heads of the columns, that of the names first.
    pub(crate) columns: Vec<String>,
    pub(crate) lines: Vec<(String, Vec<Option<u64>>)>,
}

impl Figures {
    fn path(&self) -> PathBuf {
        tools::root().join("docs/measured").join(self.file)
    }

    fn text(&self) -> String {
        let mut text: String = self
            .remarks
            .iter()
            .map(|remark| format!("# {remark}\n"))
            .collect();
        text += &format!("{}\n", self.columns.join(","));
        for (name, numbers) in &self.lines {
            text += name;
            for number in numbers {
                text += &format!(",{}", number.map_or(String::new(), |number| number.to_string()));
            }
            text += "\n";
        }
        text
    }

    /// Writes the file.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let path = self.path();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::Wrong(format!("{}: {error}", folder.display())))?;
        }
        tools::write(&path, self.text())
    }

    /// Compares with the file: fails if a figure has grown, if it has shrunk so far that the file says nothing any more, or
    /// if one of the two has a figure that the other has not. If not the whole table was measured, lines may lack.
    pub(crate) fn check(&self, whole: bool) -> Result<(), Failure> {
        let kept = tools::text(&tools::read(self.path())?);
        let complaints = self.complaints(&kept, whole);
        if complaints.is_empty() {
            return Ok(());
        }
        Err(Failure::Wrong(format!(
            "figures differ from docs/measured/{}; if that is meant, run the command without --check and commit the file:\n{}",
            self.file,
            complaints.join("\n")
        )))
    }

    fn complaints(&self, kept: &str, whole: bool) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut lines = kept.lines().filter(|line| !line.starts_with('#'));
        if lines.next() != Some(self.columns.join(",").as_str()) {
            return vec!["  other columns".to_owned()];
        }
        let mut known = 0;
        for line in lines {
            let mut fields = line.split(',');
            let name = fields.next().unwrap_or_default();
            let Some((_, now)) = self.lines.iter().find(|(own, _)| own == name) else {
                if whole {
                    complaints.push(format!("  {name} is no longer measured"));
                }
                continue;
            };
            known += 1;
            for ((before, now), column) in fields.zip(now).zip(&self.columns[1..]) {
                let (Ok(before), Some(now)) = (before.parse::<u64>(), *now) else {
                    continue;
                };
                if now * 100 > before * (100 + TOLERANCE_PERCENT) {
                    complaints.push(format!("  {name}, {column}: {before} became {now}"));
                } else if now * 100 < before * (100 - STALE_PERCENT) && now + STALE_MIN < before {
                    complaints.push(format!(
                        "  {name}, {column}: {before} became {now}, the file is out of date"
                    ));
                }
            }
        }
        if known < self.lines.len() {
            complaints.push("  figures that the file does not have".to_owned());
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(number: u64) -> Figures {
        Figures {
            file: "example.csv",
            remarks: vec!["made by hand".to_owned()],
            columns: ["part", "rom", "ram"].map(str::to_owned).to_vec(),
            lines: vec![("ipv6".to_owned(), vec![Some(number), None])],
        }
    }

    #[test]
    fn a_figure_may_grow_by_two_percent_and_no_more() {
        let kept = figures(100).text();
        assert_eq!(figures(102).complaints(&kept, true), Vec::<String>::new());
        assert_eq!(figures(91).complaints(&kept, true), Vec::<String>::new());
        assert_eq!(
            figures(103).complaints(&kept, true),
            ["  ipv6, rom: 100 became 103"]
        );
    }

    #[test]
    fn a_figure_that_appears_or_disappears_is_told() {
        let nothing = Figures {
            lines: Vec::new(),
            ..figures(1)
        };
        assert_eq!(
            nothing.complaints(&figures(1).text(), true),
            ["  ipv6 is no longer measured"]
        );
        assert_eq!(
            figures(1).complaints(&nothing.text(), true),
            ["  figures that the file does not have"]
        );
    }
    #[test]
    fn a_file_that_says_far_too_much_is_out_of_date() {
        let kept = figures(1000).text();
        assert_eq!(figures(900).complaints(&kept, true), Vec::<String>::new());
        assert_eq!(
            figures(899).complaints(&kept, true),
            ["  ipv6, rom: 1000 became 899, the file is out of date"]
        );
        // A few bytes do not matter, whatever part they are.
        assert_eq!(
            figures(4).complaints(&figures(20).text(), true),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_part_of_the_table_is_compared_with_its_part_of_the_file() {
        let mut kept = figures(100);
        kept.lines.push(("udp".to_owned(), vec![Some(1), Some(1)]));
        assert_eq!(figures(100).complaints(&kept.text(), false), Vec::<String>::new());
        assert_eq!(
            figures(110).complaints(&kept.text(), false),
            ["  ipv6, rom: 100 became 110"]
        );
    }
}
