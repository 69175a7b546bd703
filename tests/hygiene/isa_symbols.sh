#!/bin/sh
# isa_symbols.sh OBJECT_LIST NM WANTED: objects of kernels/x86 and kernels/arm define nothing weak or unique (the linker
# could take that copy, with its instructions, for the whole program) and need nothing but memory functions.
# WANTED: how many such objects there must be at least.
set -eu
objects=$1
nm=$2
wanted=$3
. "$(dirname "$0")/files.sh"

count=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
grep -E 'kernels\.dir/(\./)?(x86|arm)/' "$objects" >"$list" || true
while IFS= read -r object; do
  count=$((count + 1))
  name=$(basename "$object")
  if found=$("$nm" "$object" | awk '$(NF - 1) ~ /^[WwVvu]$/ && NF == 3 { print $NF }' | head -n 3) && [ -n "$found" ]; then
    complain "$name: weak or unique definitions: $(printf '%s' "$found" | tr '\n' ' ')"
  fi
  if found=$("$nm" -u "$object" | awk '{ print $NF }' |
    grep -Ev '^(_GLOBAL_OFFSET_TABLE_|memcpy|memset|memmove|__stack_chk_fail|_ZN4clef7kernels3(x86|arm).*)$' | head -n 3) && [ -n "$found" ]; then
    complain "$name: needs other code: $(printf '%s' "$found" | tr '\n' ' ')"
  fi
done <"$list"
[ "$count" -ge "$wanted" ] || complain "$count kernel objects, at least $wanted expected"
printf '%s objects\n' "$count"
finish isa_symbols
