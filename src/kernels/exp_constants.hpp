// exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2; exp(r) by a polynomial of degree 6 (Cephes coefficients,
// error below 2 units in the last place). Below kExpLow the result is 0: such terms vanish in any f32 sum with 1.
#pragma once

namespace clef::kernels {

constexpr float kExpLow = -87.3f, kExpHigh = 88.3f;
constexpr float kLog2E = 1.44269504088896341f;
constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
constexpr float kExpP0 = 1.9875691500e-4f, kExpP1 = 1.3981999507e-3f, kExpP2 = 8.3334519073e-3f,
                kExpP3 = 4.1665795894e-2f, kExpP4 = 1.6666665459e-1f, kExpP5 = 5.0000001201e-1f;

// -2 sqrt(2 / pi), and that times 0.044715: the exponent of GELU's tanh form is x (kGeluLinear + kGeluCubic x^2).
constexpr float kGeluLinear = -1.5957691216057308f, kGeluCubic = -0.071354816272600248f;

}  // namespace clef::kernels
