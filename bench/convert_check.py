#!/usr/bin/env python3
"""Reads a GGUF file that `clef quantize` wrote with the gguf package, and holds its backbone against llama.cpp's.

    pip install gguf                         # and, for the second step, llama-cpp-python and numpy
    clef quantize clef-flash/ flash.gguf --type Q4_K_M
    bench/convert_check.py flash.gguf
    clef quantize clef-flash/ backbone.gguf --arch qwen35 --type Q8_0
    bench/convert_check.py backbone.gguf --head clef-flash/ --hidden-states build/tests/model/hidden_states --exact f32.gguf

Step 1: keys and tensors can be read, every tensor is finite when gguf dequantizes it.
Step 2, for files of architecture qwen35: the last hidden states that llama.cpp computes for three prompts, and those of
clef for the same token ids; the difference is relative (root mean square). llama.cpp rounds activations to 8 bits for
quantized weights, clef's `exact` kind does not; so the same weights, dequantized by the gguf package, are run in llama.cpp
in f32 too, where nothing but the arithmetic differs. With --exact also how far the type's own rounding moves clef's states from
those of a file with the weights as they were: the noise within which the two programs ought to agree.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

try:
    import gguf
except ImportError:
    sys.exit("convert_check: pip install gguf")

PROMPTS = ["The customer asks for a refund.", "STATE:\n{\"a\":1.5,\"b\":[true,null]}",
           "Gr\u00fc\u00dfe, \u4f60\u597d, \u0928\u092e\u0938\u094d\u0924\u0947!"]


def check_file(path):
    reader = gguf.GGUFReader(path)
    keys = {name: field.contents() for name, field in reader.fields.items()}
    arch = keys["general.architecture"]
    types = {}
    for tensor in reader.tensors:
        name = tensor.tensor_type.name
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        if not np.isfinite(values).all():
            sys.exit(f"{path}: tensor {tensor.name} is not finite")
        count, size = types.get(name, (0, 0))
        types[name] = (count + 1, size + int(tensor.n_bytes))
    tokens = keys["tokenizer.ggml.tokens"]
    if len(tokens) != len(keys["tokenizer.ggml.token_type"]):
        sys.exit(f"{path}: tokens and token types differ in number")
    print(f"{path}: architecture {arch}, {len(reader.tensors)} tensors, {len(tokens)} tokens")
    for name, (count, size) in sorted(types.items()):
        print(f"  {name:8} {count:5} tensors {size:14} bytes")
    return arch


def relative(a, b):
    return np.sqrt(np.mean((a - b) ** 2) / np.mean(b**2))


def llama_states(path):
    """Token ids and last hidden state of each prompt, by llama.cpp."""
    import llama_cpp

    model = llama_cpp.Llama(model_path=path, embedding=True, n_ctx=512, pooling_type=llama_cpp.LLAMA_POOLING_TYPE_NONE,
                            verbose=False)
    ids = [model.tokenize(prompt.encode(), add_bos=False) for prompt in PROMPTS]
    return ids, [np.asarray(model.embed(prompt, normalize=False), np.float32)[-1] for prompt in PROMPTS]


def write_f32(path, copy):
    """A copy of a file whose tensors are all F32, with the values that they stand for."""
    reader = gguf.GGUFReader(path)
    writer = gguf.GGUFWriter(copy, reader.fields["general.architecture"].contents())
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name != "general.architecture":
            array = field.types[0] == gguf.GGUFValueType.ARRAY
            writer.add_key_value(field.name, field.contents(), field.types[0], field.types[-1] if array else None)
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, values.reshape([int(size) for size in reversed(tensor.shape)]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def clef_states(program, path, head, ids):
    lines = "".join(" ".join(map(str, prompt)) + "\n" for prompt in ids)
    command = [program, path] + ([head] if head else [])
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [np.array(line.split(), np.float32) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--hidden-states", metavar="PROGRAM", help="tests/model/hidden_states of the build folder")
    parser.add_argument("--exact", metavar="FILE", help="the same backbone, its weights not rounded")
    parser.add_argument("--head", help="where the decision head lies, for files of architecture qwen35")
    arguments = parser.parse_args()
    for path in arguments.files:
        if check_file(path) != "qwen35" or not arguments.hidden_states:
            continue
        ids, theirs = llama_states(path)
        ours = clef_states(arguments.hidden_states, path, arguments.head, ids)
        exact = clef_states(arguments.hidden_states, arguments.exact, arguments.head, ids) if arguments.exact else ours
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "f32.gguf")
            write_f32(path, copy)
            in_f32 = llama_states(copy)[1]
        for prompt, a, f, b, c in zip(PROMPTS, theirs, in_f32, ours, exact):
            noise = f", noise of the type {relative(b, c):.2e}" if arguments.exact else ""
            print(f"  llama.cpp beside clef {relative(a, b):.2e}, in f32 {relative(f, b):.2e}{noise}  {prompt!r}")


if __name__ == "__main__":
    main()
