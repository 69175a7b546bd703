#!/bin/sh
# selftest.sh CC NM: each check of this folder finds the fault that it is for. A small tree passes, then one fault at a time.
set -u
cc=$1
nm=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
runs=0

tree() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree/src/base" "$work/tree/src/json" "$work/tree/capi" "$work/tree/examples"
  printf '#include <stdint.h>\nint one();\n' >"$work/tree/src/base/one.hpp"
  printf '#include "base/one.hpp"\n#include <simdjson.h>\nint two();\n' >"$work/tree/src/json/two.hpp"
  {
    printf '#include <stddef.h>\n#define CLEF_API\n#define CLEF_CALL\ntypedef struct clef_thing clef_thing;\n'
    i=0
    while [ $i -lt 50 ]; do
      printf 'CLEF_API int CLEF_CALL clef_f%s(const clef_thing *thing, size_t n);\n' $i
      i=$((i + 1))
    done
  } >"$work/tree/capi/clef.h"
}

expect() {  # expect STATUS CHECK ARGUMENTS...
  wanted=$1
  check=$2
  shift 2
  runs=$((runs + 1))
  output=$("$here/$check.sh" "$@" 2>&1)
  status=$?
  if { [ "$wanted" = pass ] && [ $status -ne 0 ]; } || { [ "$wanted" = fail ] && [ $status -ne 1 ]; }; then
    printf 'selftest %s: wanted %s, got status %s (%s):\n%s\n' "$runs" "$wanted" $status "$check" "$output"
    failures=$((failures + 1))
  fi
}

fault() {  # fault CHECK FILE CONTENT: the tree with this text added to FILE must be refused
  tree
  mkdir -p "$(dirname "$work/tree/$2")"
  printf "$3" >>"$work/tree/$2"
  expect fail "$1" "$work/tree"
}

tree
for check in includes sizes ascii words header_content; do expect pass $check "$work/tree"; done
fault includes src/base/one.hpp '#include "json/two.hpp"\n'
fault includes src/base/one.hpp '#include <simdjson.h>\n'
fault includes src/base/one.hpp '#  include <iostream>\n'
fault includes src/base/one.hpp '#include "../json/two.hpp"\n'
fault includes src/json/two.hpp '#include <thread>\n'
fault includes src/json/two.hpp '#include <Eigen/Core>\n'
fault includes src/json/two.hpp '#include "elsewhere/two.hpp"\n'
fault includes src/kernels/x86/dot.cpp '#include <vector>\n'
fault includes src/other/three.cpp '#include <stdint.h>\n'
fault includes tests/json/t.cpp '#include <catch2/catch.hpp>\n'
fault includes examples/a.cpp '#include "base/one.hpp"\n'
fault includes include/clef/clef.hpp '#include "base/one.hpp"\n'
fault includes capi/clef.h '#include <stdio.h>\n'
fault sizes src/base/long.cpp "$(awk 'BEGIN { for (i = 0; i < 801; i++) printf "// line\\n" }')"
fault ascii src/base/one.hpp '// caf\303\251\n'
fault ascii src/base/one.hpp '// carriage return\r\n'
fault ascii src/base/one.hpp '// blank at the end \n'
fault ascii src/base/one.hpp '// no newline'
fault ascii src/base/one.hpp '\tint tab();\n'
fault words notes.md 'see /hom''e/someone/notes\n'
fault words notes.md 'from https://pypi''.org/simple\n'
fault words notes.md 'set ../shar''ed/x\n'
fault words src/base/one.hpp '// TO''DO later\n'
fault header_content capi/clef.h 'CLEF_API bool CLEF_CALL clef_b(void);\n'
fault header_content capi/clef.h 'CLEF_API long CLEF_CALL clef_b(void);\n'
fault header_content capi/clef.h 'CLEF_API int CLEF_CALL clef_b(const char *format, ...);\n'
fault header_content capi/clef.h 'CLEF_API int CLEF_CALL clef_b(clef_thing thing);\n'
fault header_content capi/clef.h 'CLEF_API clef_thing CLEF_CALL clef_b(void);\n'
fault header_content capi/clef.h 'CLEF_API int clef_b(void);\n'
fault header_content capi/clef.h 'enum clef_colour { CLEF_RED };\n'

object() {  # object NAME SOURCE
  printf "$2" >"$work/unit.c"
  mkdir -p "$(dirname "$work/$1")"
  "$cc" -w -fno-builtin -c "$work/unit.c" -o "$work/$1" || failures=$((failures + 1))
}
object CMakeFiles/clef_base.dir/a.cpp.o 'void *malloc(unsigned long);\nvoid *a(void) { return malloc(1); }\n'
object CMakeFiles/clef_base.dir/b.cpp.o 'void *b(void) { return 0; }\n'
object CMakeFiles/clef_kernels.dir/x86/c.cpp.o 'void c(float *x) { x[0] = 0; }\n'
find "$work/CMakeFiles" -name '*.o' >"$work/objects.txt"
expect pass symbols "$work/objects.txt" "$nm"
expect pass isa_symbols "$work/objects.txt" "$nm" 1
expect fail isa_symbols "$work/objects.txt" "$nm" 2
for call in abort exit getenv puts setlocale __cxa_atexit _ZNSt8ios_base4InitC1Ev __cxa_guard_acquire; do
  object CMakeFiles/clef_base.dir/b.cpp.o "extern void $call();\nvoid b(void) { $call(); }\n"
  expect fail symbols "$work/objects.txt" "$nm"
done
object CMakeFiles/clef_kernels.dir/x86/c.cpp.o '__attribute__((weak)) void c(float *x) { x[0] = 0; }\n'
expect fail isa_symbols "$work/objects.txt" "$nm" 1
object CMakeFiles/clef_kernels.dir/x86/c.cpp.o 'extern float sum(float *);\nfloat c(float *x) { return sum(x); }\n'
expect fail isa_symbols "$work/objects.txt" "$nm" 1

printf 'selftest: %s runs, %s wrong\n' "$runs" "$failures"
[ "$failures" -eq 0 ]
