#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# The short form of long/killed-anywhere.sh.
KEYLAB_KILLS=${KEYLAB_KILLS:-6} exec bash "$2/harness/tests/long/killed-anywhere.sh" "$@"
