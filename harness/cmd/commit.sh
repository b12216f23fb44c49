#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
# commit.sh ROOT HEADER: what `keylab` and its runs say they were built from; "" outside a git checkout.
commit=$(git -C "$1" describe --always --dirty --exclude='*' 2>/dev/null) || commit=
printf '#define KEYLAB_COMMIT "%s"\n' "$commit" >"$2"
