#!/bin/sh
# symbols.sh OBJECT_LIST NM: our own objects (not the third-party libraries) call nothing that ends the process, prints,
# reads the environment, installs handlers, depends on a locale or leaves something behind at unload.
# OBJECT_LIST: object files, one a line. Exceptions are in symbols_allowed.txt, each with its reason.
set -eu
objects=$1
nm=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/files.sh"

forbidden='abort|exit|_exit|_Exit|quick_exit|raise|kill|signal|sigaction|bsd_signal|__sysv_signal'
forbidden="$forbidden|__assert_fail|__assert|_ZSt20__replacement_assertPKciS0_S0_"
forbidden="$forbidden|printf|fprintf|vprintf|vfprintf|dprintf|vdprintf|__printf_chk|__fprintf_chk|__vfprintf_chk|puts|fputs|fputc|putc"
forbidden="$forbidden|putchar|_IO_putc|perror|fwrite|stdout|stderr|stdin|syslog|scanf|fscanf"
forbidden="$forbidden|_ZSt4cout|_ZSt4cerr|_ZSt4clog|_ZSt3cin|_ZSt5wcout|_ZSt5wcerr|_ZNSt8ios_base.*|_ZNSt6locale.*|_ZNKSt6locale.*"
forbidden="$forbidden|getenv|secure_getenv|setenv|putenv|unsetenv|clearenv|environ|system|popen|execv.*|execl.*|fork|vfork"
forbidden="$forbidden|setlocale|localeconv|newlocale|uselocale|strtod|strtof|strtold|atof|sscanf|__isoc99_.*scanf"
forbidden="$forbidden|atexit|at_quick_exit|__cxa_atexit|__cxa_thread_atexit|__cxa_thread_atexit_impl|pthread_atfork"
forbidden="$forbidden|__cxa_guard_acquire|longjmp|siglongjmp|setjmp|_setjmp|rand|srand|srandom|mlock|mlockall|setrlimit"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$(wc -l <"$objects")" -ge 3 ] || complain "fewer than 3 object files listed"
while IFS= read -r object || [ -n "$object" ]; do
  [ -n "$object" ] || continue
  if [ ! -f "$object" ]; then
    complain "$object: not built"
    continue
  fi
  file=$(printf '%s' "$object" | sed -E 's|^.*/CMakeFiles/([^/]*)\.dir/|\1/|; s|^clef_||; s|\.o$||')
  "$nm" -u "$object" | awk -v file="$file" '{ sub(/@.*/, "", $NF); print file, $NF }' >>"$work/all"
done <"$objects"
[ -s "$work/all" ] || complain "no undefined symbols at all: nm does not work here"
awk -v pattern="^($forbidden)\$" '$2 ~ pattern' "$work/all" | sort -u >"$work/found"
grep -v '^#' "$here/symbols_allowed.txt" | awk 'NF > 0 && NF < 3 { print "symbols_allowed.txt: no reason given: " $0 }' >"$work/unreasoned"
while IFS= read -r line; do complain "$line"; done <"$work/unreasoned"
grep -v '^#' "$here/symbols_allowed.txt" | awk 'NF { print $1, $2 }' | sort -u >"$work/allowed"
comm -23 "$work/found" "$work/allowed" >"$work/bad"
while IFS=' ' read -r file symbol; do complain "$file: calls $symbol"; done <"$work/bad"
printf '%s objects, %s symbols\n' "$(wc -l <"$objects")" "$(wc -l <"$work/all")"
finish symbols
