# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# The long tests one by one, with their last figures in docs/reliability.md. Sourced by run.sh.

# In the order in which they run without a name: the short ones first.
reliability_tests=(access trouble surroundings terminal server-text hostile-store race valgrind fuzz sabotage flip-free killed-anywhere)
# By name, or with all: hours.
reliability_longest=(flip-free-chapter)

reliability_script() {
	local suite
	for suite in long live golden; do
		if [[ -f $root/harness/tests/$suite/$1.sh ]]; then
			printf '%s\n' "$root/harness/tests/$suite/$1.sh"
			return
		fi
	done
	die_usage "reliability: no such test: $1; there are ${reliability_tests[*]} ${reliability_longest[*]}, and all of them by the name of all"
}

# put_figures PAGE NAME: rows on standard input take the place of those of the command that ends in that name.
put_figures() {
	local page=$1 name=$2 rows fresh
	rows=$(cat)
	fresh=$(
		printf '| what | last figures | by | began, took | machine |\n| --- | --- | --- | --- | --- |\n'
		sed -n '/^<!-- figures: begin -->$/,/^<!-- figures: end -->$/p' "$page" | sed -n '/^| /p' | sed 1,2d |
			awk -v name=" $name\`" -v rows="$rows" -F ' [|] ' '
				substr($3, length($3) - length(name) + 1) == name { if (!done) print rows; done = 1; next }
				{ print }
				END { if (!done) print rows }'
	)
	bash "$root/harness/tests/figures.sh" "$page" figures <<<"$fresh"
}

# The commit, and whether anything but the page with the figures differs from it.
commit_now() {
	local dirty=''
	[[ -z $(git -C "$root" status --porcelain -- . ':!docs/reliability.md' 2>/dev/null) ]] || dirty=-dirty
	printf '%s%s' "$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo none)" "$dirty"
}

load_now() {
	cut -d ' ' -f 1 /proc/loadavg
}

# one_reliability NAME: runs the script and writes its rows, whatever came of it.
one_reliability() {
	local name=$1 script page=$root/docs/reliability.md log figures began start=$SECONDS load rc=0 good bad left word text
	local command=''
	script=$(reliability_script "$name") || exit
	mkdir -p "$build/reliability"
	log=$build/reliability/$name.log figures=$build/reliability/$name.figures
	rm -f "$figures"
	began=$(date -u '+%F %H:%M') load=$(load_now)
	printf '== %s\n' "$name"
	KEYLAB_FIGURES=$figures KEYLAB_RELIABILITY=$page KEYLAB_SOURCE_ROOT=$root KEYLAB=$keylab \
		bash "$script" "$keylab" "$root" </dev/null 2>&1 | tee "$log" || rc=$?
	left=$(grep -c '^ok .*# SKIP' "$log") || true
	good=$(($(grep -c '^ok ' "$log") - left))
	bad=$(grep -c '^not ok ' "$log") || true
	if ((good + bad == 0)); then
		say "$name has not run: $(tail -n 1 "$log")"
		failed=$((failed + 1))
		return
	fi
	if ((rc != 0 && bad == 0)); then
		bad=1 # it ended early
	fi
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
	[[ -s $figures ]] || printf '%s\t%d of %d\n' "$name" "$good" "$((good + bad))" >"$figures"
	for word in KEYLAB_KILLS KEYLAB_FUZZ_S KEYLAB_RUNS; do
		[[ -z ${!word-} ]] || command+="$word=${!word} "
	done
	while IFS=$'\t' read -r word text; do
		((bad == 0)) || text+="; **of its $((good + bad)) points $bad failed**"
		((left == 0)) || text+="; $left skipped"
		printf '| %s | %s | `%s./run.sh reliability %s` | %s UTC, %d s | %d CPUs, load %s to %s, commit %s |\n' \
			"$word" "$text" "$command" "$name" "$began" "$((SECONDS - start))" "$(nproc)" "$load" "$(load_now)" \
			"$(commit_now)"
	done <"$figures" | put_figures "$page" "$name"
}

# run_reliability [NAME...]
run_reliability() {
	local name passed=0 failed=0 skipped=0
	(($# > 0)) || set -- "${reliability_tests[@]}"
	[[ $* != all ]] || set -- "${reliability_tests[@]}" "${reliability_longest[@]}"
	for name; do reliability_script "$name" >/dev/null || exit; done
	set_up test
	need_server
	export_pinned
	unlock
	for name; do one_reliability "$name"; done
	printf 'docs/reliability.md holds the figures; all output is in %s\n' "${build#"$root"/}/reliability/"
	print_counts "$passed" "$failed" "$skipped"
}
