#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# Runs one cmocka program so that meson sees its points: TAP on stdout, and exit code 77 (nothing to test
# with, such as no server) as a skip of the whole program.
CMOCKA_MESSAGE_OUTPUT=TAP "$@"
rc=$?
if [ "$rc" -eq 77 ]; then
	echo '1..0 # SKIP exit code 77: see its messages'
	exit 0
fi
exit "$rc"
