#!/usr/bin/env python3
"""Speed of clef beside llama.cpp (or a fork of it) on the same machine, in alternation.

    peer.py --clef-bench build/bench/clef-bench --work DIR clef.gguf --peer-model qwen35.gguf --tokens 512 --threads 2

builds llama-bench under DIR, from the source package of PyPI's llama-cpp-python; --binary PATH takes any other
llama-bench. llama.cpp reads files of architecture 'clef' from some version on only: give older ones a file of the same
mixture made with `clef-synth --arch qwen35`. Standard library only.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile


class Failed(Exception):
    pass


def run(command, **options):
    """Standard output of a command; raises Failed with the end of what it said."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **options)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-15:]
        raise Failed("%s ended with %d:\n%s" % (" ".join(str(part) for part in command), done.returncode,
                                                "\n".join(said)))
    return done.stdout


def find_one(folder, pattern):
    found = sorted(folder.glob(pattern))
    return found[-1] if found else None


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:
            tar.extractall(folder)


def build_peer(work, jobs, package):
    """The llama-bench of the source package, built once."""
    work.mkdir(parents=True, exist_ok=True)
    build = work / "build"
    binary = find_one(build, "bin/llama-bench")
    if binary:
        return binary
    archive = find_one(work, "llama_cpp_python-*.tar.gz")
    if not archive:
        print("downloading the source package", file=sys.stderr)
        run([sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "llama-cpp-python", "--dest", work,
             package])
        archive = find_one(work, "llama_cpp_python-*.tar.gz")
    if not archive:
        raise Failed("pip left no llama_cpp_python-*.tar.gz in %s" % work)
    unpack(archive, work)
    source = find_one(work, "llama_cpp_python-*/vendor/llama.cpp")
    if not source:
        raise Failed("%s has no vendor/llama.cpp" % archive.name)
    print("building llama-bench; this takes minutes", file=sys.stderr)
    run(["cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DGGML_NATIVE=ON",
         "-DLLAMA_CURL=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_SERVER=OFF",
         "-DLLAMA_BUILD_TOOLS=ON"])
    run(["cmake", "--build", build, "--target", "llama-bench", "--parallel", str(jobs)])
    binary = find_one(build, "bin/llama-bench")
    if not binary:
        raise Failed("the build left no bin/llama-bench")
    return binary


def clef_speed(arguments):
    """Tokens per second of the best pass after a first one."""
    out = run([arguments.clef_bench, "prefill", arguments.model, "--tokens", arguments.tokens, "--threads",
               arguments.threads, "--compute", arguments.compute, "--repeat", arguments.repeat, "--json"])
    row = json.loads(out)["rows"][0]
    return row["tokens_per_second"], row["compute"]


def peer_speed(arguments, binary):
    """The same of llama-bench, which warms up on its own."""
    out = run([binary, "-m", arguments.peer_model or arguments.model, "-p", arguments.tokens, "-n", 0, "-t",
               arguments.threads, "-r", arguments.repeat, "-fa", 1, "-o", "json"])
    for row in json.loads(out):
        if row["n_prompt"] == arguments.tokens and row["n_gen"] == 0:
            return max(row.get("samples_ts") or [row["avg_ts"]])
    raise Failed("llama-bench reported no row for a prompt of %d tokens" % arguments.tokens)


def compare(arguments, binary):
    rows = []
    for number in range(arguments.rounds):
        # Who comes first changes, so that a machine that slows down or speeds up favours nobody.
        if number % 2 == 0:
            ours, kind = clef_speed(arguments)
            theirs = peer_speed(arguments, binary)
        else:
            theirs = peer_speed(arguments, binary)
            ours, kind = clef_speed(arguments)
        rows.append({"clef": ours, "peer": theirs, "ratio": ours / theirs})
        print("round %d: clef (%s) %.1f tokens/s, peer %.1f tokens/s, ratio %.2f" %
              (number + 1, kind, ours, theirs, ours / theirs), file=sys.stderr)
    ratios = [row["ratio"] for row in rows]
    return {"tokens": arguments.tokens, "threads": arguments.threads, "rounds": rows,
            "clef_tokens_per_second": statistics.median(row["clef"] for row in rows),
            "peer_tokens_per_second": statistics.median(row["peer"] for row in rows),
            "ratio": statistics.median(ratios), "ratio_low": min(ratios), "ratio_high": max(ratios)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the file that clef reads")
    parser.add_argument("--peer-model", help="the file that the peer reads; the same unless given")
    parser.add_argument("--clef-bench", required=True, help="the program clef-bench")
    peer = parser.add_mutually_exclusive_group(required=True)
    peer.add_argument("--binary", help="a llama-bench that is there already")
    peer.add_argument("--work", type=pathlib.Path, help="a folder to build llama-bench in")
    parser.add_argument("--package", default="llama-cpp-python", help="what pip downloads; name==version pins it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="of the build")
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--compute", default="auto", help="kind of computation of clef")
    parser.add_argument("--repeat", type=int, default=2, help="passes of each in a round, the best of which counts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse()
    try:
        binary = arguments.binary or build_peer(arguments.work, arguments.jobs, arguments.package)
        result = compare(arguments, binary)
    except Failed as error:
        print("peer.py: %s" % error, file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        print("%d tokens, %d threads, median of %d rounds: clef %.1f tokens/s, peer %.1f tokens/s, ratio %.2f "
              "(%.2f to %.2f)" % (result["tokens"], result["threads"], len(result["rounds"]),
                                  result["clef_tokens_per_second"], result["peer_tokens_per_second"], result["ratio"],
                                  result["ratio_low"], result["ratio_high"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
