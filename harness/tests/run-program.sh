#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# run-program.sh PROGRAM: runs one cmocka program so that meson sees its points in TAP. Differences of cmocka's TAP
# to what meson reads are put right; why a point failed goes to standard error too, where meson shows it;
# exit code 77 (nothing to test with, such as no server) is a skip of the whole program. With KEYLAB_MUST_RUN a skip is
# a failure.
CMOCKA_MESSAGE_OUTPUT=TAP "$@" | awk -v must="${KEYLAB_MUST_RUN-}" '
	/^not ok [0-9]+ # SKIP/ && must != "" { sub(/# SKIP/, "- skipped, where KEYLAB_MUST_RUN is set:") }
	/^not ok [0-9]+ # SKIP/ { sub(/^not ok/, "ok") }
	/^(1\.\.|ok )/ { failing = 0; print; next }
	/^not ok/ { failing = 1 }
	failing { print >"/dev/stderr" }
	/^(not ok|#)/ { print; next }
	{ print "# " $0 }
'
rc=${PIPESTATUS[0]}
if ((rc == 77)) && [[ -n ${KEYLAB_MUST_RUN-} ]]; then
	printf '1..1\nnot ok 1 - skipped, where KEYLAB_MUST_RUN is set: exit code 77\n'
	exit 1
fi
if ((rc == 77)); then
	echo '1..0 # SKIP exit code 77: nothing to test with'
	exit 0
fi
exit "$rc"
