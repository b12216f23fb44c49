#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# What no compiler checks: the arrows between the rooms, calls that are banned, headings, layout, pins.
#
#   harness/lint.sh [ROOT]      prints FILE:LINE: MESSAGE for each finding; exit 1 when there is one
#
# ROOT is another tree to look at; the lint's own test plants findings in a copy.
set -euo pipefail
cd "${1:-$(dirname -- "${BASH_SOURCE[0]}")/..}"

findings=0
# Findings come as lines on stdin.
report() {
	local line
	while IFS= read -r line; do
		[[ -n $line ]] || continue
		printf '%s\n' "$line"
		findings=$((findings + 1))
	done
}

mapfile -t sources < <(find harness -name '*.[ch]' | LC_ALL=C sort)
mapfile -t scripts < <(find run.sh .ci harness report -type d -name node_modules -prune -o \
	-type f \( -name '*.sh' -o -path '.ci/run' \) -print 2>/dev/null | LC_ALL=C sort)
((${#sources[@]} > 0)) || { echo "lint: no sources in $PWD"; exit 1; }

# --- arrows: the rooms whose headers a room may include, and the libraries' headers, each in its room only

declare -A may_include=(
	[base]='base'
	[scenario]='scenario base'
	[pg]='pg base'
	[ids]='ids pg base'
	[store]='store base'
	[run]='run scenario pg ids store base'
	[report]='report store base'
	[evidence]='evidence report store base'
	[cmd]='cmd run report evidence scenario pg ids store base'
	[tests]='tests cmd run report evidence scenario pg ids store base'
)
declare -A room_of_header=(
	[libpq-fe.h]='pg'
	[sqlite3.h]='store'
	[libfyaml.h]='scenario'
)

lint_arrows() {
	local file line text header room target
	while IFS=: read -r file line text; do
		room=${file#harness/}
		[[ $room == */* ]] || continue # harness/*.c, if there is any, may see all rooms
		room=${room%%/*}
		header=$(sed -E 's/^[^<"]*[<"]([^>"]*)[>"].*/\1/' <<<"$text")
		if [[ -z ${may_include[$room]-} ]]; then
			echo "$file:$line: room '$room' is not known to the lint: say here what it may include"
		elif [[ $text == *\"* && $header == */* ]]; then
			target=${header%%/*}
			[[ " ${may_include[$room]} " == *" $target "* ]] ||
				echo "$file:$line: room '$room' may not include \"$header\" (it may: ${may_include[$room]})"
		elif [[ -n ${room_of_header[$header]-} && $room != tests ]]; then
			[[ " ${room_of_header[$header]} " == *" $room "* ]] ||
				echo "$file:$line: <$header> belongs to room '${room_of_header[$header]}', not '$room'"
		fi
	done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([a-z]+/|libpq-fe|sqlite3|libfyaml)' "${sources[@]}" /dev/null)
}

# --- calls that have a better way in base/, or that hide what happens

# lint_calls NAMES REASON FILE...
lint_calls() {
	local names=$1 reason=$2
	shift 2
	(($# > 0)) || return 0
	# Comments and strings are taken out first, so that a sentence may name a call.
	awk -v names="$names" -v reason="$reason" '
		FNR == 1 { inside = 0 }
		{
			text = $0
			gsub(/"([^"\\]|\\.)*"/, "\"\"", text)
			if (inside) {
				if (!sub(/^.*\*\//, "", text))
					next
				inside = 0
			}
			gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
			sub(/\/\/.*/, "", text)
			if (sub(/\/\*.*/, "", text))
				inside = 1
			if (match(text, "(^|[^A-Za-z0-9_.>])(" names ")[ \t]*\\("))
				printf "%s:%d: %s: %s\n", FILENAME, FNR, substr(text, RSTART, RLENGTH), reason
		}' "$@"
}

without_rooms() {
	printf '%s\n' "${sources[@]}" | grep -vE "$1" || true
}

lint_banned() {
	local files
	lint_calls 'sprintf|vsprintf|strcpy|strcat|strncpy|strncat|gets|strtok|stpcpy|alloca' \
		'no bound or no sign of a cut; use struct buf or snprintf' "${sources[@]}"
	lint_calls 'system|popen' 'no shell strings; use proc with an argument list' "${sources[@]}"
	lint_calls 'atoi|atol|atoll|atof' 'cannot report an error; use units or strtoll' "${sources[@]}"
	mapfile -t files < <(without_rooms '^harness/tests/')
	lint_calls 'sleep|usleep' 'no fixed sleeps: wait for a condition with a deadline' "${files[@]}"
	mapfile -t files < <(without_rooms '^harness/(tests|cmd)/')
	lint_calls 'exit|abort' 'only main ends the program; return an err' "${files[@]}"
	lint_calls 'printf|puts|putchar|perror|getenv|secure_getenv' \
		'only cmd/ prints and reads the environment' "${files[@]}"
}

# --- headings, leftovers, length

lint_headings() {
	local file first
	for file in "${sources[@]}"; do
		IFS= read -r first <"$file" || true
		[[ $first == '/* SPDX-License-Identifier: PostgreSQL */' ]] ||
			echo "$file:1: the first line must be: /* SPDX-License-Identifier: PostgreSQL */"
	done
	for file in "${scripts[@]}"; do
		case $file in
		harness/embed.sh) continue ;;
		esac
		head -n 2 "$file" | grep -q '^# SPDX-License-Identifier: PostgreSQL$' ||
			echo "$file:2: the heading lacks: # SPDX-License-Identifier: PostgreSQL"
	done
	while IFS= read -r file; do
		head -n 1 "$file" | grep -qE '^(--|/\*)' ||
			echo "$file:1: a statement's file begins with a comment that names parameters and columns"
	done < <(find sql -name '*.sql' | LC_ALL=C sort)
}

lint_leftovers() {
	# Written so that this line does not find itself.
	grep -nwE 'TO''DO|FIX''ME' "${sources[@]}" "${scripts[@]}" /dev/null |
		sed -E 's/^([^:]*:[0-9]+):.*/\1: a note to oneself; do it or file it/' || true
}

lint_length() {
	awk 'FNR > 800 && !said[FILENAME]++ { printf "%s:%d: over 800 lines; split it\n", FILENAME, FNR }' "${sources[@]}"
}

lint_format() {
	local file
	if ! command -v clang-format >/dev/null; then
		echo 'lint: clang-format is not here; layout not checked' >&2
		return
	fi
	clang-format --dry-run "${sources[@]}" 2>&1 | sed -n -E '/^[^ ]+:[0-9]+:[0-9]+: (warning|error)/p' |
		awk -F: '!places[$1]++ { first[$1] = $2 }
			END { for (f in places) printf "%s:%d: layout; run clang-format -i (%d places)\n", f, first[f], places[f] }' |
		LC_ALL=C sort
}

# Lock files pin by version and integrity hash and name no address.
lint_pins() {
	local file
	while IFS= read -r file; do
		if grep -nE '"resolved"|https?://[^"]*\.tgz' "$file" /dev/null |
			sed -E 's/^([^:]*:[0-9]+):.*/\1: a download address in a lock file/' | grep .; then
			:
		fi
		[[ $(grep -c '"version":' "$file") -le $(grep -c '"integrity":' "$file") ]] ||
			echo "$file:1: a package without an integrity hash"
	done < <(find servers report -name node_modules -prune -o -name package-lock.json -print 2>/dev/null | LC_ALL=C sort)
}

lint_shell() {
	local file
	for file in "${scripts[@]}"; do
		case $(head -n 1 "$file") in
		*/sh) sh -n "$file" 2>&1 ;;
		*) bash -n "$file" 2>&1 ;;
		esac || true
	done | sed -E 's/^([^:]*): line ([0-9]+): /\1:\2: /'
}

for part in arrows banned headings leftovers length format pins shell; do
	report < <("lint_$part")
done
if ((findings > 0)); then
	echo "lint: $findings findings" >&2
	exit 1
fi
