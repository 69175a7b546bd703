#!/bin/sh
# header_compile.sh ROOT CC CXX: clef.h alone, included twice, as C99, C11, C17 and C++17 with the strictest warnings;
# the headers of include/clef likewise as C++17 and C++20, with and without exceptions and RTTI, each one alone too. Other
# compilers of the machine are tried as well.
set -eu
root=$1
cc=$2
cxx=$3
. "$(dirname "$0")/files.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=0
warnings='-Wall -Wextra -pedantic -Werror -Wshadow -Wconversion -Wundef'

compile() {  # compile COMPILER LANGUAGE SOURCE FLAGS...
  compiler=$1
  printf "$3" >"$work/unit.$2"
  unit=$work/unit.$2
  shift 3
  runs=$((runs + 1))
  if ! "$compiler" -fsyntax-only $warnings "$@" -I"$root/capi" -I"$root/include" "$unit" >"$work/log" 2>&1; then
    complain "$compiler $*: $(head -n 3 "$work/log")"
  fi
}

distinct() {  # those that are there, each once, by what they really are
  for compiler in "$@"; do
    path=$(command -v "$compiler") && printf '%s %s\n' "$(readlink -f "$path")" "$compiler"
  done | awk '!seen[$1]++ { print $2 }'
}

c_unit='#include "clef.h"\n#include "clef.h"\nextern clef_status unit(void);\nclef_status unit(void) { return CLEF_OK; }\n'
for compiler in $(distinct "$cc" gcc clang-14 clang-19); do
  for standard in c99 c11 c17; do
    compile "$compiler" c "$c_unit" -std=$standard -Wstrict-prototypes -Wmissing-prototypes
  done
done
for compiler in $(distinct "$cxx" g++ clang++-14 clang++-19); do
  for exceptions in -fexceptions '-fno-exceptions -fno-rtti'; do
    compile "$compiler" cpp '#include "clef.h"\n#include "clef.h"\n' -std=c++17 $exceptions -Wold-style-cast
    compile "$compiler" cpp '#include <clef/clef.hpp>\n#include <clef/clef.hpp>\n' -std=c++17 $exceptions -Wold-style-cast
  done
  compile "$compiler" cpp '#include <clef/clef.hpp>\n' -std=c++20 -Wold-style-cast
done
for header in "$root"/include/clef/*.hpp; do
  name=clef/$(basename "$header")
  compile "$cxx" cpp "#include <$name>\n#include <$name>\n" -std=c++17 -fno-exceptions -fno-rtti
done
[ "$runs" -gt 0 ] || complain "no compiler found"
printf '%s compilations\n' "$runs"
finish header_compile
