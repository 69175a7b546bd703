# Sourced by run and long: packages, steps, summary.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export DEBIAN_FRONTEND=noninteractive LC_ALL=C CTEST_OUTPUT_ON_FAILURE=1 CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
export CMAKE_GENERATOR=Ninja
# Further reference sets, where they lie beside the checkout.
if [ -z "${CLEF_GOLDEN_DIR:-}" ] && [ -d ../shared/golden ]; then
  CLEF_GOLDEN_DIR=$(cd ../shared/golden && pwd)
  export CLEF_GOLDEN_DIR
fi

passed=0
failed=0
failures=()
log() { printf '\n=== [%s] %s\n' "$(date +%H:%M:%S)" "$*"; }

# step NAME COMMAND...: runs it, counts it, goes on after a failure so that one run shows everything.
step() {
  local name=$1 begin=$SECONDS status=0
  shift
  log "$name"
  # A subshell with -e of its own: a function called in a condition would lose it.
  set +e
  (set -euo pipefail; "$@") </dev/null
  status=$?
  set -e
  if [ $status -eq 0 ]; then
    passed=$((passed + 1))
    log "$name: passed after $((SECONDS - begin)) s"
  else
    failed=$((failed + 1))
    failures+=("$name")
    log "$name: FAILED with status $status after $((SECONDS - begin)) s"
  fi
}

summary() {
  log "finished after $SECONDS s"
  if [ $failed -gt 0 ]; then printf 'failed: %s\n' "${failures[@]}"; fi
  printf '%s passed, %s failed\n' "$passed" "$failed"
  [ $failed -eq 0 ]
}

# packages NAME...: installs those that are missing.
packages() {
  local missing=() name sudo=
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q ' installed$' || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then sudo=sudo; fi
  $sudo apt-get update -qq
  $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# readme_command NAME: the shell block that follows the line <!-- NAME --> in README.md.
readme_command() {
  awk -v mark="<!-- $1 -->" '$0 == mark { found = 1 } found && /^```/ { if (inside) exit; inside = 1; next } found && inside' README.md
}

run_readme() {
  local command
  command=$(readme_command "$1")
  [ -n "$command" ] || { echo "README.md has no command after <!-- $1 -->"; return 1; }
  printf '%s\n' "$command"
  bash -c "set -euo pipefail; $command"
}

configure_and_build() {  # configure_and_build PRESET CMAKE-ARGUMENTS...
  local preset=$1
  shift
  cmake --preset "$preset" "$@"
  cmake --build "build-$preset"
}

fuzz_targets() { find build-fuzz/tests/fuzz -maxdepth 1 -type f -name 'fuzz_*' -executable | sort; }

# fuzz SECONDS: every target for so long, starting from its kept corpus. Findings are written to build-fuzz/findings.
fuzz() {
  local seconds=$1 target name count=0
  mkdir -p build-fuzz/findings
  for target in $(fuzz_targets); do
    name=${target##*/fuzz_}
    mkdir -p "build-fuzz/corpus/$name"
    printf -- '--- fuzz %s for %s s\n' "$name" "$seconds"
    "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 \
      -artifact_prefix="build-fuzz/findings/$name-" "build-fuzz/corpus/$name" "tests/fuzz/corpus/$name"
    count=$((count + 1))
  done
  [ $count -ge 5 ] || { echo "$count fuzz targets, at least 5 expected"; return 1; }
}
