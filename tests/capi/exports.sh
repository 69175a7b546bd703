#!/bin/sh
# exports.sh ROOT NM SHARED STATIC: clef.h, capi/clef.map and what the built libraries make visible are one list. A library
# that was not built is given as "-".
set -eu
root=$1 nm=$2 shared=$3 static=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

tr '\n' ' ' <"$root/capi/clef.h" | grep -Eo 'CLEF_CALL clef_[a-z0-9_]+ *\(' | sed -E 's/CLEF_CALL //; s/ *\(//' | sort >"$work/header"
[ "$(wc -l <"$work/header")" -gt 100 ] || { echo "too few functions found in clef.h"; exit 1; }

compare() {
  if ! diff -u "$work/header" "$work/$1" >"$work/diff"; then
    echo "clef.h and $2 differ:"
    cat "$work/diff"
    failed=1
  fi
}

grep -Eo '^ *clef_[a-z0-9_]+;' "$root/capi/clef.map" | tr -d ' ;' | sort >"$work/map"
compare map capi/clef.map
if [ "$shared" != - ]; then
  "$nm" -D --defined-only "$shared" | awk '$(NF - 1) != "A" { sub(/@.*/, "", $NF); print $NF }' | sort >"$work/shared"
  compare shared "the shared library"
fi
if [ "$static" != - ]; then
  "$nm" --defined-only --extern-only "$static" | awk 'NF == 3 { print $3 }' | sort >"$work/static"
  compare static "the static library"
fi
exit $failed
