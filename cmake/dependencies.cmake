# Third-party packages, each seen by one folder only.
find_package(simdjson CONFIG REQUIRED)  # src/json
find_package(Threads REQUIRED)          # src/base
if(CLEF_BUILD_TESTS)
  find_package(Catch2 REQUIRED)             # tests
  find_package(Eigen3 REQUIRED NO_MODULE)   # src/device/ref, the oracle of the tests
endif()
# Found now, used by the parts that are still to come: pictures (src/media) and the oneDNN module (src/device/onednn).
if(CLEF_JPEG)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(turbojpeg REQUIRED IMPORTED_TARGET libturbojpeg)
endif()
if(CLEF_ONEDNN)
  find_package(dnnl CONFIG REQUIRED)
endif()
