#!/bin/sh
# consume.sh STEP: builds and runs programs of a stranger against the library. What it needs comes in the environment:
# SOURCE BUILD WORK CMAKE CTEST GENERATOR CC CXX PKG_CONFIG LIBDIR.
#   install            installs the build and moves the prefix once, so that nothing may depend on the first place
#   find_package       CMake package of that prefix, C and C++, shared and static
#   pkg_config         its .pc file, C and C++, shared and static
#   add_subdirectory   the source tree inside another project
set -eu
step=$1
prefix=$WORK/moved
model=$SOURCE/examples/clef-nano

build_and_test() {  # build_and_test PROJECT CMAKE-ARGUMENTS...
  project=$1
  shift
  rm -rf "$WORK/$project"
  "$CMAKE" -S "$SOURCE/tests/consume/$project" -B "$WORK/$project" -G "$GENERATOR" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCONSUMER_MODEL="$model" "$@"
  "$CMAKE" --build "$WORK/$project" --parallel 2
  "$CTEST" --test-dir "$WORK/$project" --output-on-failure --no-tests=error
}

case $step in
  install)
    rm -rf "$WORK"
    mkdir -p "$WORK"
    "$CMAKE" --install "$BUILD" --prefix "$WORK/first"
    mv "$WORK/first" "$prefix"
    # No installed text file may know where it was built or first installed.
    if grep -rIlE "$WORK/first|$SOURCE|$BUILD" "$prefix"; then
      echo "the files above name a folder of this machine"
      exit 1
    fi
    ;;
  find_package)
    build_and_test find_package -DCMAKE_PREFIX_PATH="$prefix"
    ;;
  pkg_config)
    export PKG_CONFIG_PATH="$prefix/$LIBDIR/pkgconfig"
    mkdir -p "$WORK/pkg_config"
    cd "$WORK/pkg_config"
    flags=$("$PKG_CONFIG" --cflags clef)
    shared=$("$PKG_CONFIG" --libs clef)
    static=$("$PKG_CONFIG" --static --libs clef | sed 's/-lclef /-l:libclef.a /; s/-lclef$/-l:libclef.a/')
    "$CC" -std=c99 -Wall -Wextra -pedantic -Werror $flags "$SOURCE/tests/consume/consumer.c" $shared -o c_shared
    "$CXX" -std=c++17 -Wall -Wextra -pedantic -Werror $flags "$SOURCE/tests/consume/consumer.cpp" $shared -o cpp_shared
    "$CC" -std=c99 $flags "$SOURCE/tests/consume/consumer.c" $static -lm -o c_static
    for program in c_shared cpp_shared; do LD_LIBRARY_PATH="$prefix/$LIBDIR" ./$program "$model"; done
    ./c_static "$model"
    if ldd ./c_static | grep libclef; then
      echo "the static program needs the shared library"
      exit 1
    fi
    ;;
  add_subdirectory)
    build_and_test add_subdirectory -DCLEF_SOURCE="$SOURCE"
    ;;
  *)
    echo "unknown step: $step"
    exit 2
    ;;
esac
