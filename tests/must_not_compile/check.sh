#!/bin/sh
# check.sh SAMPLE COMPILER ARGUMENT...  -  SAMPLE must compile as it stands, and must not with MISUSE defined.
#
# The first half shows that include paths and the rest of the sample are right, so that the failure of the second half is the
# one meant. The compiler's errors must match the extended regular expression that the sample names in a line "// expect: …".
set -eu
sample=$1
shift

expected=$(sed -n 's|^// expect: ||p' "$sample")
[ -n "$expected" ] || { echo "$sample has no line '// expect: …'"; exit 1; }

"$@" -fsyntax-only "$sample" || { echo "the correct variant of $sample does not compile"; exit 1; }
if errors=$("$@" -fsyntax-only -DMISUSE "$sample" 2>&1); then
  echo "the misuse in $sample compiles"
  exit 1
fi
printf '%s\n' "$errors" | grep -E 'error:' | grep -qE "$expected" || {
  printf '%s\n' "$errors"
  echo "$sample was refused for another reason than: $expected"
  exit 1
}
