// The formats, one per file. Inside src/quant only; everybody else goes through format.hpp.
#pragma once
#include "quant/format.hpp"

namespace clef::quant {

extern const Format kF32;
extern const Format kF16;
extern const Format kBf16;
extern const Format kQ8_0;
extern const Format kQ4_0;
extern const Format kQ4_1;
extern const Format kQ5_0;
extern const Format kQ5_1;
extern const Format kQ2_K;
extern const Format kQ3_K;
extern const Format kQ4_K;
extern const Format kQ5_K;
extern const Format kQ6_K;
extern const Format kIq1S;
extern const Format kIq1M;
extern const Format kIq2Xxs;
extern const Format kIq2Xs;
extern const Format kIq2S;
extern const Format kIq3Xxs;
extern const Format kIq3S;
extern const Format kIq4Nl;
extern const Format kIq4Xs;
extern const Format kTq1_0;
extern const Format kTq2_0;
extern const Format kMxfp4;
extern const Format kNvfp4;
extern const Format kF8E4m3;
extern const Format kF8E8m0;
extern const Format kI8;
extern const Format kMlxAffine;
extern const Format kPackedInt;
extern const Format kScaledInt8;
extern const Format kAwq;
extern const Format kGptq;
extern const Format kScaledFp8;
extern const Format kScaledFp4;

}  // namespace clef::quant
