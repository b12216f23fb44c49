# SPDX-License-Identifier: PostgreSQL
#
# Counts a testlog.json of meson (one JSON object a line, one line a test): prints "passed failed skipped".
# A test that speaks TAP counts as its points, any other as one. Quotes inside a JSON string are
# escaped, so the key "result" below can only be meson's own.

function tap_points(stdout,    lines, n, i, ok, bad, skip) {
	n = split(stdout, lines, /\\n/)
	for (i = 1; i <= n; i++) {
		if (lines[i] ~ /^ok[ 0-9].*# *[Ss][Kk][Ii][Pp]/)
			skip++
		else if (lines[i] ~ /^ok( |$)/)
			ok++
		else if (lines[i] ~ /^not ok.*# *[Tt][Oo][Dd][Oo]/)
			skip++
		else if (lines[i] ~ /^not ok/)
			bad++
	}
	tap_ok = ok
	tap_bad = bad
	tap_skip = skip
	return ok + bad + skip
}

{
	result = $0
	sub(/.*"result": "/, "", result)
	sub(/".*/, "", result)
	good = result == "OK" || result == "EXPECTEDFAIL"

	stdout = ""
	if (match($0, /"stdout": "/)) {
		stdout = substr($0, RSTART + RLENGTH)
		sub(/", "(stderr|name|result|starttime|duration|returncode|env|command)": .*/, "", stdout)
	}
	points = stdout ~ /(^|\\n)1\.\.[0-9]+/ ? tap_points(stdout) : 0

	if (points == 0) {
		passed += good
		skipped += result == "SKIP"
		failed += !good && result != "SKIP"
		next
	}
	passed += tap_ok
	skipped += tap_skip
	failed += tap_bad
	# It crashed, timed out or broke its own plan: a failure that none of its points shows.
	if (!good && result != "SKIP" && tap_bad == 0)
		failed++
}

END {
	printf "%d %d %d\n", passed, failed, skipped
}
