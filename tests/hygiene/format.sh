#!/bin/sh
# format.sh ROOT [CLANG_FORMAT]: C and C++ files are as .clang-format says. One version decides (14, Debian 12's), since
# versions disagree; exit 77 (skipped) when it is not there.
set -eu
root=$1
. "$(dirname "$0")/files.sh"

tool=
for candidate in ${2:+"$2"} clang-format-14 clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
    tool=$candidate
    break
  fi
done
if [ -z "$tool" ]; then
  echo "format: skipped, clang-format 14 is not installed"
  exit 77
fi
list=$(mktemp)
trap 'rm -f "$list"' EXIT
code_files >"$list"
[ -s "$list" ] || complain "no source files found below $root"
while IFS= read -r file; do
  if ! found=$(cd "$root" && "$tool" --dry-run -Werror "$file" 2>&1); then
    complain "$file: run clang-format -i on it: $(printf '%s' "$found" | head -n 1)"
  fi
done <"$list"
finish format
