#include "handles.hpp"
#include "strings.hpp"

using namespace clef::capi;

const char* clef_text_data(const clef_text* text, size_t* size) {
  return guard_string(size, [&] { return text ? std::string_view(text->text) : std::string_view(""); });
}

void clef_text_free(clef_text* text) {
  guard_void([&] { delete text; });
}
