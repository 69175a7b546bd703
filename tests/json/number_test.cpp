// Doubles as text.
#include <cmath>
#include <limits>

#include "helpers.hpp"
#include "json/number.hpp"

using namespace clef;

namespace {

std::string spelled(double value) {
  std::string out;
  json::append_python_double(value, out);
  return out;
}
std::string rounded(double value) {
  std::string out;
  json::append_rounded4(value, out);
  return out;
}

}  // namespace

TEST_CASE("doubles are spelled as repr does", "[json]") {
  CHECK(spelled(0.0) == "0.0");
  CHECK(spelled(-0.0) == "-0.0");
  CHECK(spelled(1.0) == "1.0");
  CHECK(spelled(0.1) == "0.1");
  CHECK(spelled(1e-5) == "1e-05");
  CHECK(spelled(0.0001) == "0.0001");
  CHECK(spelled(1e16) == "1e+16");
  CHECK(spelled(1e15) == "1000000000000000.0");
  CHECK(spelled(123456.789) == "123456.789");
  CHECK(spelled(-1.5e-300) == "-1.5e-300");
  CHECK(spelled(1e100) == "1e+100");
  CHECK(spelled(5e-324) == "5e-324");
  CHECK(spelled(std::numeric_limits<double>::max()) == "1.7976931348623157e+308");
  CHECK(spelled(std::numeric_limits<double>::infinity()) == "Infinity");
  CHECK(spelled(-std::numeric_limits<double>::infinity()) == "-Infinity");
  CHECK(spelled(std::numeric_limits<double>::quiet_NaN()) == "NaN");
  // Two shortest spellings are equally near; the even one is taken.
  CHECK(spelled(std::ldexp(1.0, -44)) == "5.684341886080802e-14");
}

TEST_CASE("rounding to four decimals is that of the exact value", "[json]") {
  CHECK(rounded(0.03125) == "0.0312");  // a tie goes to the even digit
  CHECK(rounded(0.09375) == "0.0938");  // likewise, upwards
  CHECK(rounded(0.00005) == "0.0001");  // the double is a little above
  CHECK(rounded(0.00015) == "0.0001");  // and this one a little below
  CHECK(rounded(0.99995) == "1.0");     // a little above
  CHECK(rounded(8.00015) == "8.0001");  // a little below
  CHECK(rounded(0.99996) == "1.0");
  CHECK(rounded(1.0) == "1.0");
  CHECK(rounded(0.0) == "0.0");
  CHECK(rounded(1e-9) == "0.0");
  CHECK(rounded(-1e-9) == "-0.0");
  CHECK(rounded(0.5) == "0.5");
  CHECK(rounded(0.1234567) == "0.1235");
  CHECK(rounded(2.0 / 3.0) == "0.6667");
  CHECK(rounded(-2.71828) == "-2.7183");
  CHECK(rounded(123456789.98765) == "123456789.9877");
  CHECK(rounded(1e300) == "1e+300");
  CHECK(rounded(-std::numeric_limits<double>::max()) == "-1.7976931348623157e+308");
  CHECK(rounded(std::numeric_limits<double>::infinity()) == "Infinity");
}

TEST_CASE("number tokens are scanned strictly", "[json]") {
  using json::scan_number;
  constexpr size_t kNone = std::string_view::npos;
  CHECK(scan_number("0").error == kNone);
  CHECK(scan_number("-0").integer_digits == 1);
  CHECK(scan_number("-120").integer_digits == 3);
  CHECK(scan_number("12").is_integer);
  CHECK_FALSE(scan_number("12.5").is_integer);
  CHECK_FALSE(scan_number("1e5").is_integer);
  CHECK(scan_number("1.25E-10").error == kNone);
  CHECK(scan_number("").error == 0);
  CHECK(scan_number("-").error == 1);
  CHECK(scan_number("01").error == 1);
  CHECK(scan_number("-01").error == 2);
  CHECK(scan_number("1.").error == 2);
  CHECK(scan_number(".5").error == 0);
  CHECK(scan_number("+1").error == 0);
  CHECK(scan_number("1_000").error == 1);
  CHECK(scan_number("1e").error == 2);
  CHECK(scan_number("1e+").error == 3);
  CHECK(scan_number("1.5.5").error == 3);
  CHECK(scan_number("0x10").error == 1);
}
