#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# keylab id: what it mints it can take apart, and what is no id is refused.
. "$2/harness/tests/lib.sh"

run "$keylab" id formats
formats=$(awk '{ print $1 }' <<<"$out")
is "$(wc -l <<<"$formats")" 14 'all formats are listed'
for format in $formats; do
	run "$keylab" id new "$format" --count 3
	is "$rc:$(sort -u <<<"$out" | wc -l)" 0:3 "$format: three different ids"
	# shellcheck disable=SC2086
	run "$keylab" id decode "$format" -- $out
	is "$rc" 0 "$format: they can be taken apart"
	run "$keylab" id decode "$format" 'not an id'
	is "$rc" 64 "$format: garbage is refused"
	like "$err" "^keylab: \"not an id\" is no $format id: " "$format: and the message says of what"
done

# The example of RFC 9562, appendix A.6.
run "$keylab" id decode uuidv7 017F22E2-79B0-7CC3-98C4-DC0C0C07398F
like "$out" 'time_ms +1645557742000 +\(2022-02-22T19:22:22\.000000Z\)' 'the time of a v7'
run "$keylab" id decode --json typeid prj_01h455vb4pex5vsknk084sn02q
like "$out" '"prefix":"prj","uuid":"01890a5d-ac96-774b-bcce-b302099a8057"' 'the parts of a TypeID as JSON'
run "$keylab" id new snowflake --node 7 --at 2026-10-06T14:34:56.789+02:00
run "$keylab" id decode snowflake "$out"
like "$out" '2026-10-06T12:34:56\.789000Z.*node +7' 'node and time are put in and taken out'
run "$keylab" id new ksuid --at 1645557742000
run "$keylab" id decode ksuid "$out"
like "$out" 'time_ms +1645557742000' 'a time may be milliseconds'

for at in 2026-13-01 2026-02-30 2026-10-06T25:00 2026-10-06T12:34:56.x 2026-10-06T12:34+99 noon ''; do
	run "$keylab" id new uuidv7 --at "$at"
	is "$rc" 64 "no time: '$at'"
done
run "$keylab" id new uuidv7 --prefix prj
is "$rc" 64 'a prefix where there is none'
run "$keylab" id new uuidv7 --count 0
is "$rc" 64 'a count of none'
run "$keylab" id new snowflake --node 1024
like "$rc $err" '^64 .*node 1024 does not fit 10 bits' 'a node that does not fit'
run "$keylab" id new nanoid --at 2026-10-06
like "$rc $err" '^64 .*such ids hold no time' 'a time for a format without one'
run "$keylab" id new uuidv8
like "$rc $err" '^64 .*no id format "uuidv8"; there are: bigint, uuidv4' 'a format that there is not'
run "$keylab" id
is "$rc" 64 'nothing asked for'

done_testing
