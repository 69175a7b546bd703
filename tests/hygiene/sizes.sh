#!/bin/sh
# sizes.sh ROOT: a hand-written file stays under 800 lines (aim: 400); generated tables and clef.h under 1,200.
set -eu
root=$1
. "$(dirname "$0")/files.sh"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
source_files >"$list"
[ -s "$list" ] || complain "no source files found below $root"
while IFS= read -r file; do
  case $file in
    capi/clef.h | src/base/unicode_tables.cpp) limit=1200 ;;
    *) limit=800 ;;
  esac
  lines=$(wc -l <"$root/$file")
  if [ "$lines" -gt "$limit" ]; then
    complain "$file: $lines lines, the limit is $limit"
  elif [ "$lines" -gt 400 ] && [ "$limit" -eq 800 ]; then
    printf 'note: %s has %s lines, 400 is the aim\n' "$file" "$lines"
  fi
done <"$list"
finish sizes
