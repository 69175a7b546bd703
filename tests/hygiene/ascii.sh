#!/bin/sh
# ascii.sh ROOT: sources are ASCII with LF line ends, no tabs in C and C++, no blanks at line ends, a newline at the end.
set -eu
root=$1
. "$(dirname "$0")/files.sh"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
source_files >"$list"
[ -s "$list" ] || complain "no source files found below $root"
carriage_return=$(printf '\r')
tab=$(printf '\t')
while IFS= read -r file; do
  path=$root/$file
  if found=$(grep -n '[^ -~'"$tab"']' "$path"); then complain "$file: not ASCII, or CR: $(printf '%s' "$found" | head -n 1)"; fi
  if grep -q "$carriage_return" "$path"; then complain "$file: CR line ends"; fi
  if found=$(grep -n '[ '"$tab"']$' "$path"); then complain "$file: blank at a line's end: line ${found%%:*}"; fi
  if [ -s "$path" ] && [ -n "$(tail -c 1 "$path")" ]; then complain "$file: no newline at the end"; fi
  case $file in
    *.cpp | *.hpp | *.h | *.c)
      if found=$(grep -n "$tab" "$path"); then complain "$file: tab: line ${found%%:*}"; fi
      ;;
  esac
done <"$list"
finish ascii
