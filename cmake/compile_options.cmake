# Flags of our own targets only; nothing leaks to consumers.
add_library(clef_compile_options INTERFACE)
target_compile_features(clef_compile_options INTERFACE cxx_std_20)
target_compile_options(clef_compile_options INTERFACE
  -ffp-contract=off -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  -Wall -Wextra -Wpedantic -Wshadow -Wvla $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Unique symbols keep a library from being unloaded and cannot be made local in the static one.
  target_compile_options(clef_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # A false alarm of GCC 12 about its own std::string ("literal" + string, its bug 105329).
  target_compile_options(clef_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CLEF_DEVELOPER_MODE)
  target_compile_options(clef_compile_options INTERFACE -Werror)
endif()
if(CLEF_SANITIZE)
  list(JOIN CLEF_SANITIZE "," clef_sanitizers)
  add_compile_options(-fsanitize=${clef_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${clef_sanitizers})
endif()
if(CLEF_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
