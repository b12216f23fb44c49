#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# figures.sh PAGE NAME: puts standard input between the lines "<!-- NAME: begin -->" and "<!-- NAME: end -->" of a page.
set -euo pipefail
page=$1 name=$2
text=$(cat)
[[ $(grep -cFx -e "<!-- $name: begin -->" -e "<!-- $name: end -->" "$page") == 2 ]] ||
	{ printf 'figures.sh: %s has no place for %s\n' "$page" "$name" >&2; exit 1; }
fresh=$(mktemp "$page.XXXXXX")
{
	sed "/^<!-- $name: begin -->\$/q" "$page"
	printf '\n%s\n\n' "$text"
	sed -n "/^<!-- $name: end -->\$/,\$p" "$page"
} >"$fresh"
chmod --reference="$page" "$fresh"
mv "$fresh" "$page"
