#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Every bad scenario of golden/scenarios through `keylab check`: exit 64, and on stdout exactly the messages
# of the file beside it.
#
#   check.sh KEYLAB SOURCE_ROOT      with UPDATE=1 it writes the .expected files; look at the difference
. "$2/harness/tests/lib.sh"

# Messages name the files as they are given, so the folder decides nothing.
cd "$source_root/harness/tests/golden" || exit 1
count=0
for file in scenarios/*.yaml; do
	run "$keylab" check "$file"
	count=$((count + 1))
	same_file "$scratch/.out" "${file%.yaml}.expected" "$file"
	[[ $rc == 64 ]] || fail "$file: exit 64" "exit $rc: $err"
done
ok "there are 200 of them or more" test "$count" -ge 200

cd "$source_root" || exit 1
run "$keylab" check
is "$rc:$out" '0:' 'the scenarios of the tree have no mistake'

done_testing
