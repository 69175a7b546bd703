# Third-party packages, each seen by one folder only.
find_package(simdjson CONFIG REQUIRED)  # src/json
find_package(Threads REQUIRED)          # src/base
if(CLEF_BUILD_TESTS)
  find_package(Catch2 REQUIRED)             # tests
  find_package(Eigen3 REQUIRED NO_MODULE)   # src/device/ref, the oracle of the tests
endif()
if(CLEF_WITH_MEDIA)  # src/media
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(turbojpeg REQUIRED IMPORTED_TARGET libturbojpeg)
  pkg_check_modules(png REQUIRED IMPORTED_TARGET libpng)
  pkg_check_modules(webp REQUIRED IMPORTED_TARGET libwebp)
endif()
# Found now, used by the module that is still to come (src/device/onednn).
if(CLEF_ONEDNN)
  find_package(dnnl CONFIG REQUIRED)
endif()
