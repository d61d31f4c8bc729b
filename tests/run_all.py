#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests: first the optimised build, then AddressSanitizer and
# UndefinedBehaviorSanitizer with the fuzzers (IPOIB_FUZZ_SECONDS in all, 80 by default), then ThreadSanitizer.
#   scripts/test [--fast|--quick|--long]     --fast: without the second half, and without what takes guests, Slurm, other
#                                     programs' packages or every page; --quick: without the second half; --long: those
#                                     alone that all this leaves out, the lab's further kernels, changed drivers, recipes,
#                                     DHCP programs, a bisection, several guests, a fuzzed one, the commands of
#                                     docs/lab.md, the pages that a whole selftest writes, the programs of others that
#                                     read our reports, two builds that must be the same, and what sanitizers do not
#                                     look at each time (75 minutes, 900 MB)
set -euo pipefail
cd "$(dirname "$0")/.."

which=${1:-all}
case $which in
  all | --fast | --quick | --long) ;;
  *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

scripts/setup --yes test
jobs=$(nproc)
build() {
  cmake --preset "$1" -Wno-dev >/dev/null
  cmake --build --preset "$1" -j "$jobs"
}
run() { ctest --preset "$1" -j "${2:-$jobs}" --timeout 600; }

build test
if [ "$which" = --fast ]; then
  ctest --preset test -j "$jobs" --timeout 600 \
    -E '^(lab_|ci_|fleet|packages|package|documentation|wireshark|opensm|ssh|fuzzing|html|tidy)'
  exit
fi
if [ "$which" = --long ]; then
  status=0
  ctest --preset test -C Long -L '^long$' -j 2 --timeout 1800 || status=$?
  build asan
  ctest --preset asan -C Long -L '^rest$' -j "$jobs" || status=$?
  exit "$status"
fi
if [ "$which" = --quick ]; then
  run test $((jobs + 1))
  exit
fi

# The guests of the lab wait more than they work: one test more than processors runs at a time, and the second half is
# built of what they leave, and no more. Its tests, which have limits of their own, come afterwards.
log=build/asan.log
mkdir -p build
set -m
build asan >"$log" 2>&1 &
second=$!
set +m
renice -n 19 -g "$second" >/dev/null
trap 'kill -- -$second 2>/dev/null || true' EXIT
status=0
run test $((jobs + 1)) || status=$?
renice -n 0 -g "$second" >/dev/null 2>&1 || true
if wait "$second"; then
  # Of threads one program knows: what only they could break is for another sanitizer. It is built of what is left.
  log=build/tsan.log
  set -m
  { build tsan && build/tsan/tests/threads_test; } >"$log" 2>&1 &
  second=$!
  set +m
  renice -n 19 -g "$second" >/dev/null
  run asan || status=$?
  renice -n 0 -g "$second" >/dev/null 2>&1 || true
  wait "$second" || { status=1; cat "$log"; }
  tail -3 "$log"
else
  status=1
  cat "$log"
fi
trap - EXIT
exit "$status"
