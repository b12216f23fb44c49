#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Every claim can fail: each entry of live/sabotage.yaml takes away what its claims rest on, and they must come
# out REFUTED. Two entries run at a time.
. "$2/harness/tests/lib.sh"

emitter=$(dirname "$keylab")/../tests/test_sabotage
[[ -x $emitter ]] || { skip 'counterexamples' 'the unit tests are not built'; done_testing; exit; }

KEYLAB_SOURCE_ROOT=$source_root "$emitter" --emit "$scratch/files" >"$scratch/table" ||
	{ fail 'the changed scenarios are written'; done_testing; exit; }

# one NUMBER FILE PROFILE SETS: leaves the verdicts in NUMBER.tsv.
one() {
	local number=$1 file=$2 profile=$3 set args=()
	[[ $4 == - ]] || for set in $4; do args+=(--set "$set"); done
	"$keylab" run --quiet --profile "$profile" "${args[@]}" --db "$scratch/$number.db" "$file" \
		>"$scratch/$number.out" 2>&1
	sqlite3 -separator $'\t' "$scratch/$number.db" \
		"select claim, verdict, coalesce(value, ''), reason from claims" >"$scratch/$number.tsv" 2>&1
}

number=0
while IFS=$'\t' read -r file profile sets claims why; do
	number=$((number + 1))
	while (($(jobs -rp | wc -l) >= 2)); do wait -n; done
	one "$number" "$file" "$profile" "$sets" &
done <"$scratch/table"
wait

number=0 refuted=0 claims_all=0 as_wished=0
while IFS=$'\t' read -r file profile sets claims why; do
	number=$((number + 1)) refuted=0
	for claim in $claims; do
		verdict=$(awk -F '\t' -v claim="$claim" '$1 == claim {print $2}' "$scratch/$number.tsv")
		if [[ $verdict == REFUTED ]]; then
			pass "$claim is refuted when $why"
			refuted=$((refuted + 1))
		else
			fail "$claim is refuted when $why" "$(basename "$file"): ${verdict:-no verdict}" \
				"$(grep -P "^$claim\t" "$scratch/$number.tsv")" "$(tail -n 3 "$scratch/$number.out")"
		fi
	done
	claims_all=$((claims_all + $(wc -w <<<"$claims")))
	((refuted < $(wc -w <<<"$claims"))) || as_wished=$((as_wished + 1))
done <"$scratch/table"
figure sabotage "$as_wished of $number entries REFUTED all they must ($claims_all claims)"
done_testing
