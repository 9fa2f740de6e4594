#!/bin/sh
# run.sh BUILD COMPILER [LAUNCHER]  -  installs BUILD into a temporary prefix and uses it as strangers would: through find_package
# (outbox alone, then everything), through pkg-config, and as a subdirectory.
set -eu
build=$1
compiler=$2
launcher=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Quiet unless it fails.
run() { "$@" > "$folder/log" 2>&1 || { cat "$folder/log"; echo "failed: $*"; exit 1; }; }

# Configures and builds a consumer; the rest are its -D options. Warnings in our headers are errors, as a strict user has it.
consume() {
  name=$1
  shift
  run cmake -G Ninja -S "$here/$name" -B "$folder/$name" -DCMAKE_PREFIX_PATH="$folder/prefix" \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
    -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" "$@"
  run cmake --build "$folder/$name"
  run "$folder/$name/consumer"
}

# Nothing but the compiler's own libraries, libc and, where it is shared, acemq::outbox.
links_nothing_else() {
  needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  others=$(printf '%s\n' "$needed" | grep -vE '^(libacemq_outbox|libstdc\+\+|libm|libgcc_s|libc|ld-linux.*)\.so' || true)
  [ -z "$others" ] || { echo "$1 links more than it should: $others"; exit 1; }
}

run cmake --install "$build" --prefix "$folder/prefix"

no_dependencies=
for package in Threads SQLite3 nlohmann_json OpenSSL; do
  no_dependencies="$no_dependencies -DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"
done

# shellcheck disable=SC2086  # a list of options
consume outbox_only $no_dependencies
links_nothing_else "$folder/outbox_only/consumer"

consume everything

# shellcheck disable=SC2086
consume subdirectory $no_dependencies -DACEMQ_SOURCE="$here/../.." -DBUILD_SHARED_LIBS=ON
links_nothing_else "$(find "$folder/subdirectory" -name 'libacemq_outbox.so')"

PKG_CONFIG_PATH=$(dirname "$(find "$folder/prefix" -name acemq-outbox.pc)")
export PKG_CONFIG_PATH
for name in outbox_only everything; do
  case $name in
    outbox_only) packages=acemq-outbox ;;
    *) packages="acemq-relay acemq-publish acemq-sqlite acemq-amqp acemq-testing" ;;
  esac
  # shellcheck disable=SC2046,SC2086  # pkg-config prints a list of arguments
  run $launcher "$compiler" -std=c++20 -c -o "$folder/$name.o" "$here/$name/main.cpp" $(pkg-config --cflags $packages)
  # shellcheck disable=SC2046,SC2086
  run "$compiler" -o "$folder/$name.pkgconfig" "$folder/$name.o" $(pkg-config --libs $packages) -Wl,-rpath,"${PKG_CONFIG_PATH%/*}"
  run "$folder/$name.pkgconfig"
done
links_nothing_else "$folder/outbox_only.pkgconfig"
