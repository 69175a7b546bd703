#!/usr/bin/env python3
"""Writes unicode_tables.cpp from the Unicode character database.

usage: unicode_generate.py [FOLDER] > unicode_tables.cpp

FOLDER holds UnicodeData.txt, PropList.txt, DerivedAge.txt and DerivedNormalizationProps.txt of one Unicode version; it
defaults to /usr/share/unicode, where Debian's package unicode-data puts them.
"""
import os
import re
import sys

CODE_POINTS = 0x110000
CLASSES = {"L": 1, "M": 2, "N": 3}  # CharClass in unicode.hpp; 4 is White_Space
# Token ids must be those of the reference tokenizer, whose NFC knows the characters of Unicode 9.0 and leaves all newer
# ones where they are (its character classes are newer). Normalization never changes for characters once they exist.
NFC_VERSION = (9, 0)
QC_NO, QC_MAYBE, HAS_CCC = 0x08, 0x10, 0x20  # kQuickNo, kQuickMaybe, kHasCcc in unicode_tables.hpp
LINE = 240


def lines(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        for line in file:
            fields = [field.strip() for field in line.split("#")[0].split(";")]
            if len(fields) > 1:
                yield fields


def code_range(text):
    first, _, last = text.partition("..")
    return range(int(first, 16), int(last or first, 16) + 1)


def read(folder):
    props = bytearray(CODE_POINTS)
    ccc, decompositions = {}, {}
    old = bytearray(CODE_POINTS)  # known to NFC
    for fields in lines(folder, "DerivedAge.txt"):
        if tuple(map(int, fields[1].split("."))) <= NFC_VERSION:
            for c in code_range(fields[0]):
                old[c] = 1
    first = None
    for fields in lines(folder, "UnicodeData.txt"):
        code, name, category = int(fields[0], 16), fields[1], fields[2]
        if name.endswith(", First>"):
            first = code
            continue
        if name.endswith(", Last>"):
            codes, first = range(first, code + 1), None
        else:
            codes = (code,)
        for c in codes:
            props[c] = CLASSES.get(category[0], 0)
        if int(fields[3]) and old[code]:
            ccc[code] = int(fields[3])
            props[code] |= HAS_CCC
        if fields[5] and old[code] and not fields[5].startswith("<"):
            mapping = [int(part, 16) for part in fields[5].split()]
            assert len(mapping) in (1, 2)
            decompositions[code] = (mapping + [0])[:2]
    for fields in lines(folder, "PropList.txt"):
        if fields[1] == "White_Space":
            for c in code_range(fields[0]):
                assert props[c] == 0
                props[c] = 4
    excluded = set()
    for fields in lines(folder, "DerivedNormalizationProps.txt"):
        if fields[1] == "Full_Composition_Exclusion":
            excluded.update(code_range(fields[0]))
        elif fields[1] == "NFC_QC":
            for c in code_range(fields[0]):
                props[c] |= {"N": QC_NO, "M": QC_MAYBE}[fields[2]] if old[c] else 0
    compositions = sorted((pair[0], pair[1], code) for code, pair in decompositions.items() if code not in excluded)
    check(props, ccc, decompositions, compositions)
    with open(os.path.join(folder, "DerivedNormalizationProps.txt"), encoding="utf-8") as file:
        version = re.match(r"# DerivedNormalizationProps-([\d.]+)\.txt", file.readline()).group(1)
    return version, props, ccc, decompositions, compositions


def check(props, ccc, decompositions, compositions):
    """What unicode.cpp relies on."""
    for code, second in ((code, pair[1]) for code, pair in decompositions.items()):
        # Only the first half of a pair decomposes further.
        assert second not in decompositions
    for _, second, _ in compositions:
        assert props[second] & QC_MAYBE
    for code in decompositions:
        # A starter that passes the quick check stays a starter that no earlier character can take up.
        if not props[code] & (QC_NO | QC_MAYBE | HAS_CCC):
            first = code
            while first in decompositions:
                first = decompositions[first][0]
            assert not props[first] & (QC_MAYBE | HAS_CCC)


def two_stage(props, shift):
    blocks, first = {}, []
    size = 1 << shift
    for start in range(0, CODE_POINTS, size):
        first.append(blocks.setdefault(bytes(props[start:start + size]), len(blocks)))
    return first, [value for block in blocks for value in block]


def ccc_ranges(ccc):
    ranges = []
    for code in sorted(ccc):
        if ranges and ranges[-1][1] == code - 1 and ranges[-1][2] == ccc[code]:
            ranges[-1][1] = code
        else:
            ranges.append([code, code, ccc[code]])
    return ranges


def write(kind, name, items):
    print(f"const {kind} {name}[] = {{")
    line = ""
    for item in items:
        if len(line) + len(item) + 1 > LINE:
            print(line)
            line = ""
        line += item + ","
    print(line)
    print("};\n")


def main():
    version, props, ccc, decompositions, compositions = read(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")

    def cost(shift):
        first, second = two_stage(props, shift)
        return len(first) * (1 if len(second) >> shift <= 256 else 2) + len(second)

    shift = min(range(5, 10), key=cost)
    first, second = two_stage(props, shift)
    ranges = ccc_ranges(ccc)
    assert len(second) >> shift <= 256, "kBlocks must become uint16_t"
    print(f"// Generated by unicode_generate.py from the Unicode character database {version}; do not edit.")
    print(f"// NFC covers the characters of Unicode {NFC_VERSION[0]}.{NFC_VERSION[1]}; see the generator for the reason.")
    print("// The data files are Copyright 1991-2022 Unicode, Inc., used under the Unicode license,")
    print("// https://www.unicode.org/license.txt.")
    print("// clang-format off")
    print('#include "base/unicode_tables.hpp"\n')
    print("namespace clef::base {\n")
    print(f'const char kUnicodeVersion[] = "{version}";')
    print(f"static_assert(kBlockShift == {shift});")
    print(f"static_assert(kCccRangeCount == {len(ranges)});")
    print(f"static_assert(kDecompositionCount == {len(decompositions)});")
    print(f"static_assert(kCompositionCount == {len(compositions)});\n")
    write("uint8_t", "kBlocks", [str(value) for value in first])
    write("uint8_t", "kProps", [str(value) for value in second])
    write("CccRange", "kCccRanges", [f"{{{a},{b},{c}}}" for a, b, c in ranges])
    write("Decomposition", "kDecompositions",
          [f"{{{code},{pair[0]},{pair[1]}}}" for code, pair in sorted(decompositions.items())])
    write("Composition", "kCompositions", [f"{{{a},{b},{c}}}" for a, b, c in compositions])
    print("}  // namespace clef::base")


main()
