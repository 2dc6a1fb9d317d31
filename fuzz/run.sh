#!/usr/bin/env bash
# Runs every fuzz target for so many seconds: fuzz/run.sh SECONDS. Needs a nightly toolchain and cargo-fuzz, and installs
# neither. The corpora in the repository are read; what is found lands in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-}
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: fuzz/run.sh SECONDS" >&2
    exit 2
fi

missing=0
if ! rustup run nightly rustc --version >/dev/null 2>&1; then
    echo 'There is no nightly toolchain (rustup toolchain install nightly --profile minimal).' >&2
    missing=1
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo 'There is no cargo-fuzz (cargo install --locked cargo-fuzz).' >&2
    missing=1
fi
[ "$missing" = 0 ] || exit 1

# The seed is fixed so that a failure belongs to the change at hand; FUZZ_SEED=0 draws one, for a search of its own.
# Without a sanitizer: the code under test has no unsafe, and runs twice as fast.
fuzz=(cargo +nightly fuzz)
"${fuzz[@]}" build --sanitizer none

found=0
for file in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$file" .rs)
    scratch=$(mktemp -d)
    echo "== $target: $seconds s"
    if ! "${fuzz[@]}" run --sanitizer none "$target" "$scratch" "fuzz/corpus/$target" -- \
        -seed="${FUZZ_SEED:-1}" -max_total_time="$seconds" -max_len=4096 -timeout=10 -print_final_stats=1 2>&1 |
        grep -E '^stat::number_of_executed_units|^stat::average|panicked|assertion|SUMMARY|Test unit|^ +left|^ +right'; then
        echo "== $target: FAILED"
        found=1
    fi
    rm -r "$scratch"
done
exit "$found"
