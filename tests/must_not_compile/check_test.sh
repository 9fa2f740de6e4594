#!/bin/sh
# check_test.sh CHECK COMPILER  -  CHECK passes what it should and catches each way in which a sample can be wrong.
set -eu
check=$1
compiler=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

expect() { # pass|fail NAME LINE...
  wanted=$1
  name=$2
  shift 2
  printf '%s\n' "$@" > "$folder/$name.cpp"
  if "$check" "$folder/$name.cpp" "$compiler" > "$folder/output" 2>&1; then got=pass; else got=fail; fi
  [ "$got" = "$wanted" ] || { cat "$folder/output"; echo "$name: wanted $wanted, got $got"; exit 1; }
}

expect pass good '// expect: missing_name' '#ifdef MISUSE' 'int x = missing_name;' '#endif'
expect fail misuse_compiles '// expect: anything' '#ifdef MISUSE' 'int x = 1;' '#endif'
expect fail control_broken '// expect: no_such_file' '#include "no_such_file.hpp"'
expect fail other_reason '// expect: missing_name' '#ifdef MISUSE' 'int x = other_name;' '#endif'
expect fail nothing_expected '#ifdef MISUSE' 'int x = missing_name;' '#endif'
