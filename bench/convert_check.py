#!/usr/bin/env python3
"""Reads a GGUF file that `clef quantize` wrote with the gguf package, and runs its backbone in llama.cpp.

    pip install gguf                         # and, for the second step, llama-cpp-python and numpy
    clef quantize clef-flash/ flash.gguf --type Q4_K_M
    bench/convert_check.py flash.gguf
    clef quantize clef-flash/ a.gguf --arch qwen35 --type F32
    clef quantize clef-flash/ b.gguf --arch qwen35 --type Q8_0
    bench/convert_check.py a.gguf b.gguf     # hidden states of three prompts

Step 1: keys and tensors can be read, every tensor is finite when gguf dequantizes it.
Step 2, for two files of architecture qwen35 and only when llama_cpp can be imported: the relative difference (root mean
square) between the last hidden states of both, for three prompts.
"""
import argparse
import sys

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


def hidden_states(path):
    import llama_cpp

    model = llama_cpp.Llama(model_path=path, embedding=True, n_ctx=512, pooling_type=llama_cpp.LLAMA_POOLING_TYPE_NONE,
                            verbose=False)
    return [np.asarray(model.embed(prompt, normalize=False), np.float32)[-1] for prompt in PROMPTS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    architectures = [check_file(path) for path in arguments.files]
    if len(arguments.files) != 2 or architectures != ["qwen35", "qwen35"]:
        return
    try:
        first, second = (hidden_states(path) for path in arguments.files)
    except ImportError:
        print("llama_cpp cannot be imported: hidden states are not compared")
        return
    for prompt, a, b in zip(PROMPTS, first, second):
        difference = np.sqrt(np.mean((a - b) ** 2) / np.mean(a**2))
        print(f"  {difference:.2e}  {prompt!r}")


if __name__ == "__main__":
    main()
