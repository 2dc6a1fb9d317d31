//! Lists of seeds, in scenario files and on the command line.

use toml::Spanned;
use toml::de::DeValue;

use super::source::{BadInput, Source};

/// More seeds than this are a typing error.
const SEEDS_MAX: u64 = 1_000_000;

const IN_FILE: &str =
    "write `seeds = 10` for the seeds 1 to 10, or a list like `seeds = [4, 7]`, each seed once";

/// The value of `seeds`: a number n stands for 1 to n, a list for itself.
pub(super) fn from_toml(source: &Source, value: &Spanned<DeValue<'_>>) -> Result<Vec<u64>, BadInput> {
    let number = |value: &DeValue<'_>| {
        let number = value.as_integer()?;
        u64::from_str_radix(number.as_str(), number.radix()).ok()
    };
    let seeds: Option<Vec<u64>> = match value.get_ref() {
        DeValue::Array(items) => items.iter().map(|item| number(item.get_ref())).collect(),
        single => number(single)
            .filter(|count| *count <= SEEDS_MAX)
            .map(|count| (1..=count).collect()),
    };
    seeds
        .filter(|seeds| usable(seeds))
        .ok_or_else(|| source.complain(value.span(), "these are no seeds", IN_FILE))
}

/// The argument of `--seeds`: `10` stands for 1 to 10; otherwise a list of seeds and ranges, like `3,5,9-12`.
pub fn from_argument(argument: &str) -> Result<Vec<u64>, String> {
    let mut seeds = Vec::new();
    if let Ok(count) = argument.parse::<u64>() {
        seeds.extend(1..=count.min(SEEDS_MAX + 1));
    } else {
        for part in argument.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.trim().parse::<u64>(), last.trim().parse::<u64>()) else {
                return Err(format!(
                    "`{part}` is neither a seed nor a range of seeds like 4-20"
                ));
            };
            if last.saturating_sub(first) > SEEDS_MAX {
                return Err(format!("`{part}` are more than {SEEDS_MAX} seeds"));
            }
            seeds.extend(first..=last);
        }
    }
    if usable(&seeds) {
        Ok(seeds)
    } else {
        Err(
            "name at least one seed, and each only once: `10` for 1 to 10, or a list like `3,5,9-12`"
                .to_owned(),
        )
    }
}

/// At least one, each once, each a TOML integer.
fn usable(seeds: &[u64]) -> bool {
    let mut sorted = seeds.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    !seeds.is_empty()
        && sorted.len() == seeds.len()
        && seeds.len() as u64 <= SEEDS_MAX
        && seeds.iter().all(|seed| i64::try_from(*seed).is_ok())
}
