#!/bin/sh
# words.sh ROOT: nothing of one person's machine gets into the project: no private folders, no registry or mirror hosts.
# (The patterns are written with brackets so that this file does not match itself.)
set -eu
root=$1
. "$(dirname "$0")/files.sh"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
project_files | grep -Ev '^tests/data/|^tests/fuzz/corpus/|^examples/clef-nano/.*(json|safetensors)$|^LICENSE$' >"$list"
[ -s "$list" ] || complain "no files found below $root"
machine='(^|[^[:alnum:]_.])/(wor[k]|roo[t]|hom[e]|User[s]|far[m])/'
hosts='pyp[i]\.org|pythonhoste[d]\.org|deb\.debia[n]\.org|registry\.npmj[s]|proxy\.golan[g]|static\.crate[s]\.io'
words='workplac[e]|TOD[O]|FIXM[E]|(^|[^A-Za-z\])XX[X]([^A-Za-z]|$)'
while IFS= read -r file; do
  if found=$(grep -InE "$machine" "$root/$file"); then complain "$file: path of a machine: $(printf '%s' "$found" | head -n 1)"; fi
  if found=$(grep -InE "$hosts" "$root/$file"); then complain "$file: host of a registry: $(printf '%s' "$found" | head -n 1)"; fi
  if found=$(grep -InE "$words" "$root/$file"); then complain "$file: unfinished or private: $(printf '%s' "$found" | head -n 1)"; fi
  case $file in
    .ci/*) ;;
    *)
      if found=$(grep -InE '\.\./share[d]' "$root/$file"); then
        complain "$file: only .ci/ names the folder beside the checkout: $(printf '%s' "$found" | head -n 1)"
      fi
      ;;
  esac
done <"$list"
finish words
