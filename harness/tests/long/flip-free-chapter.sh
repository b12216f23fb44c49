#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# The same at the published scale.
KEYLAB_RUNS_PROFILE=chapter exec bash "$2/harness/tests/long/flip-free.sh" "$@"
