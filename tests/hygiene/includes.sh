#!/bin/sh
# includes.sh ROOT: who includes whom. Holds every #include to include_table.txt and keeps third-party headers in their folders.
set -eu
root=$1
here=$(cd "$(dirname "$0")" && pwd)
. "$here/files.sh"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
code_files >"$list"
[ -s "$list" ] || complain "no source files found below $root"

(cd "$root" && while IFS= read -r file; do
  sed -n 's/^[ \t]*#[ \t]*include[ \t]*\([<"][^>"]*[>"]\).*/\1/p' "$file" | while IFS= read -r header; do
    printf '%s %s\n' "$file" "$header"
  done
done <"$list") | awk -v table="$here/include_table.txt" -v root="$root" '
  function complain(text) { print file ": includes " header ": " text; failures++ }
  # The folder of src/ that a header belongs to, "" when it is not in src/.
  function folder_of(path,   parts, n) {
    n = split(path, parts, "/")
    return n > 1 && parts[1] in known ? parts[1] : ""
  }
  function third_party(path) {
    if (path ~ /^simdjson/) return "simdjson"
    if (path ~ /^(turbojpeg|jpeglib|jconfig|png|pngconf)\.h$|^webp\//) return "image"
    if (path ~ /^(dnnl|oneapi\/dnnl)/) return "dnnl"
    if (path ~ /^(Eigen|unsupported\/Eigen)\//) return "eigen"
    if (path ~ /^catch2\//) return "catch2"
    if (path ~ /^CLI\//) return "cli11"
    if (path ~ /^nlohmann\//) return "nlohmann"
    return ""
  }
  function third_party_allowed(package) {
    if (package == "simdjson") return file ~ /^src\/json\//
    if (package == "image") return file ~ /^src\/media\//
    if (package == "dnnl") return file ~ /^(src\/device\/onednn|bench)\//
    if (package == "eigen") return file ~ /^(src\/device\/ref|tests|bench)\//
    if (package == "catch2") return file ~ /^tests\/support\/(catch\.hpp|main\.cpp)$/
    if (package == "cli11") return file ~ /^(examples|bench)\//
    if (package == "nlohmann") return file ~ /^(examples|tests|bench)\//
    return 0
  }
  BEGIN {
    while ((getline line < table) > 0) {
      if (line ~ /^#/ || line == "") continue
      split(line, halves, ":")
      known[halves[1]] = 1
      count = split(halves[2], names, " ")
      for (i = 1; i <= count; i++) may[halves[1], names[i]] = 1
    }
  }
  {
    file = $1; header = $2; path = substr(header, 2, length(header) - 2); angle = substr(header, 1, 1) == "<"
    total++
    package = third_party(path)
    if (package != "" && !third_party_allowed(package)) complain("third-party header outside its folder")
    if (path ~ /(^|\/)\.\.\//) { complain("no upward paths; use a path below src/"); next }

    split(file, parts, "/")
    top = parts[1]
    target = folder_of(path)
    if (top == "src") {
      own = parts[2]
      if (!(own in known)) { print file ": folder is not in include_table.txt"; failures++; next }
      if (angle && target != "") complain("write it in quotes")
      if (!angle && package == "") {
        if (target == "" && path ~ /\// ) complain("not a folder of src/")
        else if (target != "" && target != own && !((own, target) in may)) complain(own " may not see " target)
      }
      if (path ~ /^(iostream|ostream|istream|sstream|fstream|iomanip|regex|locale|clocale|locale\.h|csignal|signal\.h|cassert|assert\.h)$/ &&
          !(path == "signal.h" && file == "src/base/thread_posix.cpp"))  # pool threads block signals
        complain("not used in the library")
      if (path ~ /^(thread|mutex|condition_variable)$/ && own != "base") complain("threads belong to src/base")
      if (file ~ /^src\/kernels\/(x86|arm)\// && file ~ /\.cpp$/ &&
          path !~ /^(stdint\.h|stddef\.h|immintrin\.h|arm_neon\.h|string\.h)$/ && path !~ /^kernels\//)
        complain("a kernel file sees intrinsics, stdint.h, stddef.h, string.h and kernels/ only")
    } else if (top == "include") {
      if (target != "") complain("public headers see nothing of src/")
      if (!angle && path !~ /^clef(\/|\.h$)/) complain("public headers include clef.h and clef/*.hpp only")
    } else if (top == "examples") {
      if (target != "") complain("examples see nothing of src/")
      if (path ~ /^capi\//) complain("examples include clef.h as a user does")
    } else if (top == "bench") {
      if (target != "" && target != "kernels" && target != "quant" && target != "base") complain("bench sees kernels and quant only")
    }
    if (file == "capi/clef.h" && path !~ /^(stddef|stdint)\.h$/) complain("clef.h includes stddef.h and stdint.h only")
  }
  END {
    if (total == 0) { print "no #include found"; failures++ }
    if (failures > 0) { print "includes: " failures " finding(s)"; exit 1 }
    print "includes: ok (" total " checked)"
  }'
[ "$failures" -eq 0 ]
