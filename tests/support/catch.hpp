// The one place that knows which Catch2 is installed (Debian ships v2; v3 has other headers).
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
