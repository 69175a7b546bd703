#!/bin/sh
# header_content.sh ROOT: clef.h has only what every binding can express: no bool, long, wchar_t, FILE, unions, bit-fields,
# varargs or structs by value, and every function is exported with CLEF_API and CLEF_CALL.
set -eu
root=$1
. "$(dirname "$0")/files.sh"
header=$root/capi/clef.h

# Without comments, one declaration a line.
code=$(awk '{ text = text $0 "\n" } END {
  while ((begin = index(text, "/*")) > 0) {
    end = index(substr(text, begin), "*/")
    text = substr(text, 1, begin - 1) " " substr(text, begin + end + 1)
  }
  printf "%s", text }' "$header" | grep -v '^[[:space:]]*#' | tr '\n' ' ' | tr ';' '\n')
[ "$(printf '%s\n' "$code" | grep -c 'CLEF_CALL')" -ge 50 ] || complain "clef.h: fewer than 50 functions found"

for word in bool _Bool long short unsigned wchar_t FILE time_t union va_list ssize_t off_t; do
  if printf '%s\n' "$code" | grep -Eq "(^|[^A-Za-z0-9_])$word([^A-Za-z0-9_]|\$)"; then complain "clef.h: uses '$word'"; fi
done
if printf '%s\n' "$code" | grep -q '\.\.\.'; then complain "clef.h: variable arguments"; fi
if printf '%s\n' "$code" | grep -Eq '[A-Za-z0-9_] *: *[0-9]'; then complain "clef.h: a bit-field"; fi
if printf '%s\n' "$code" | grep -Eq '(^|[^A-Za-z0-9_])enum +[a-z]'; then complain "clef.h: a named enum (its size is the compiler's)"; fi

# A struct type may be followed by '*' only, outside its own typedef.
structs=$(printf '%s\n' "$code" | grep -Eo 'typedef struct [a-z_]+' | sed 's/.* //' | sort -u)
[ -n "$structs" ] || complain "clef.h: no struct types found"
declarations=$(printf '%s\n' "$code" | sed -E 's/typedef struct [a-z_]+( [a-z_]+)?//g; s/\} *[a-z_]+//g')
for name in $structs; do
  if found=$(printf '%s\n' "$declarations" | grep -Eo "(^|[^A-Za-z0-9_])$name( +[^* ]|[^A-Za-z0-9_* ]).*"); then
    complain "clef.h: struct '$name' by value: $(printf '%s' "$found" | head -n 1)"
  fi
done

# Functions: "CLEF_API type CLEF_CALL clef_name(...)".
if found=$(printf '%s\n' "$code" | grep -E '(^|[ *])clef_[a-z0-9_]+ *\(' | grep -v typedef |
  grep -Ev '(^|[{}]) *CLEF_API [a-z0-9_ *]* ?CLEF_CALL clef_[a-z0-9_]+\('); then
  complain "clef.h: not declared with CLEF_API and CLEF_CALL: $(printf '%s' "$found" | head -n 1)"
fi
finish header_content
