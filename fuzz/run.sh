#!/usr/bin/env bash
# Runs every fuzz target: fuzz/run.sh SECONDS for so long, with a seed of its own; fuzz/run.sh alone with as many inputs as take
# some 20 s, always the same ones, so that what fails belongs to the change at hand. Needs a nightly toolchain and
# cargo-fuzz, and installs neither. The corpora in the repository are read; what is found lands in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-}
if [ $# -gt 1 ] || ! [[ $seconds =~ ^([1-9][0-9]*)?$ ]]; then
    echo "usage: fuzz/run.sh [SECONDS]" >&2
    exit 2
fi

# Inputs for a target that takes long for one.
declare -A inputs=([ghc]=40000 [mesh]=30000 [reassembly]=200000 [stack_script]=80000 [tcp_script]=80000)

# What bounds the run of a target.
bound() {
    if [ -n "$seconds" ]; then
        echo "-seed=0 -max_total_time=$seconds"
    else
        echo "-seed=1 -runs=${inputs[$1]:-3000000}"
    fi
}

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

# Without a sanitizer: the code under test has no unsafe, and runs twice as fast.
fuzz=(cargo +nightly fuzz)
"${fuzz[@]}" build --sanitizer none

found=0
for file in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$file" .rs)
    scratch=$(mktemp -d)
    read -ra bounds < <(bound "$target")
    echo "== $target: ${bounds[*]}"
    if ! "${fuzz[@]}" run --sanitizer none "$target" "$scratch" "fuzz/corpus/$target" -- \
        "${bounds[@]}" -max_len=4096 -timeout=10 -print_final_stats=1 2>&1 |
        grep -E '^stat::number_of_executed_units|^stat::average|panicked|assertion|SUMMARY|Test unit|^ +left|^ +right'; then
        echo "== $target: FAILED"
        found=1
    fi
    rm -r "$scratch"
done
exit "$found"
