# Sourced by the checks: project_files lists the files of the project below $root, one a line, relative to it.
# From git where there is a checkout (tracked and new ones, never ignored ones), else everything but build folders.
export LC_ALL=C

project_files() {
  if [ -e "$root/.git" ] && git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
    (cd "$root" && git ls-files --cached --others --exclude-standard | sort -u | while IFS= read -r file; do
      if [ -f "$file" ]; then printf '%s\n' "$file"; fi
    done)
  else
    (cd "$root" && find . -type d \( -name .git -o -name .cache -o -path './build*' -o -path ./out \) -prune -o -type f -print |
      sed 's|^\./||' | sort)
  fi
}

# Hand-written code and build files, without data.
source_files() {
  project_files | grep -Ev '^tests/(data|fuzz/corpus)/|^examples/clef-nano/' |
    grep -E '\.(cpp|hpp|h|c|cmake|sh|py|in|map)$|(^|/)CMakeLists\.txt$|^\.ci/'
}

code_files() { source_files | grep -E '\.(cpp|hpp|h|c)$'; }

failures=0
complain() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

finish() {
  if [ "$failures" -gt 0 ]; then
    printf '%s: %s finding(s)\n' "$1" "$failures"
    exit 1
  fi
  printf '%s: ok\n' "$1"
}
