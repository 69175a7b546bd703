#!/usr/bin/env python3
"""Writes encoder_errors.json: how far ggml's own quantizer is from what it was given, per type.

usage: encoder_errors.py LIBRARY VERSION > encoder_errors.json

LIBRARY is ggml's base library (libggml-base.so) of release VERSION; the packages gguf, numpy and safetensors decode what
it makes. The input is `source` in encode.safetensors, 8 rows of 512 values. The figures are
sqrt(sum of (decoded - given)^2 / sum of given^2) over all rows; `weighted` ones were made with the importance of input
column i set to 1 + (i * 7919 mod 512) / 32, which also weights their sums.
"""
import ctypes
import importlib.metadata
import json
import os
import sys

import gguf
import numpy
from safetensors.numpy import load_file

TYPES = ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"]

library = ctypes.CDLL(sys.argv[1])
quantize = library.ggml_quantize_chunk
quantize.restype = ctypes.c_size_t
quantize.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p] + [ctypes.c_int64] * 3 + [ctypes.c_void_p]

here = os.path.dirname(os.path.abspath(__file__))
source = numpy.ascontiguousarray(load_file(os.path.join(here, "encode.safetensors"))["source"], dtype=numpy.float32)
rows, columns = source.shape
importance = (1 + numpy.arange(columns) * 7919 % 512 / 32).astype(numpy.float32)


def error(name, weights):
    kind = gguf.GGMLQuantizationType[name]
    values, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = numpy.zeros((rows, columns // values * size), numpy.uint8)
    pointer = None if weights is None else weights.ctypes.data
    quantize(kind.value, source.ctypes.data, blocks.ctypes.data, 0, rows, columns, pointer)
    decoded = gguf.dequantize(blocks, kind).astype(float)
    weight = 1.0 if weights is None else weights.astype(float)
    return float(numpy.sqrt((weight * (decoded - source) ** 2).sum() / (weight * source.astype(float) ** 2).sum()))


print(json.dumps({
    "ggml": sys.argv[2],
    "gguf": importlib.metadata.version("gguf"),
    "plain": {name: error(name, None) for name in TYPES},
    "weighted": {name: error(name, importance) for name in TYPES},
}, indent=1))
