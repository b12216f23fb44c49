#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Killed anywhere: keylab is killed (SIGKILL, SIGTERM, SIGINT once and twice) at random moments of a run. Each time the
# store is whole and holds every sample that was there before, the run is marked as interrupted, and after the next
# start no process, folder, socket or System V segment of the dead run is left. Another run goes on beside all that
# in the same KEYLAB_HOME, and must not notice.
#
# That no sample is lost which was taken has a witness outside the store: a scenario whose server makes a file behind
# each sample. There may be more samples than files, never fewer.
#
# KEYLAB_KILLS: how many (200); from 20 on in two lanes side by side, each with a home, a store, a user and a program file
# of its own. KEYLAB_KILLS_SEED: of the moments. live/killed.sh is the short form.
. "$2/harness/tests/lib.sh"

kills=${KEYLAB_KILLS:-200}
lane=${KEYLAB_KILLS_LANE-}
RANDOM=$((${KEYLAB_KILLS_SEED:-$((SECONDS + $$))} + 7919 * ${lane:-0}))

# Half of the kills each. A lane leaves its points, and "GOOD SAMPLES MARKS" in a file.
if [[ -z $lane ]] && ((kills >= 20)); then
	for lane in 1 2; do
		KEYLAB_KILLS=$(((kills + lane - 1) / 2)) KEYLAB_KILLS_LANE=$lane KEYLAB_KILLS_RESULT=$scratch/$lane.result \
			bash "$0" "$keylab" "$source_root" >"$scratch/$lane.out" 2>"$scratch/$lane.err" &
	done
	wait
	good=0 samples=0 marks=0
	for lane in 1 2; do
		! grep -q '^1..0 # SKIP' "$scratch/$lane.out" || skip_all "$(sed 's/.*SKIP //' "$scratch/$lane.out")"
		while read -r word _ _ text; do
			[[ $word == not ]] || pass "lane $lane: $text"
		done < <(grep '^ok ' "$scratch/$lane.out")
		while read -r _ _ _ _ text; do fail "lane $lane: $text"; done < <(grep '^not ok ' "$scratch/$lane.out")
		grep -q '^1\.\.[1-9]' "$scratch/$lane.out" || fail "lane $lane came to its end"
		[[ ! -s $scratch/$lane.err ]] || diag "lane $lane:" "$(<"$scratch/$lane.err")"
		more=0 kept=0 seen=0
		read -r more kept seen <"$scratch/$lane.result" || true
		good=$((good + more)) samples=$((samples + kept)) marks=$((marks + seen))
	done
	is "$good" "$kills" "killed anywhere: $good of $kills"
	figure killed-anywhere "$good of $kills; $(printf "%'d" "$samples") samples were there before and after, $(printf "%'d" "$marks") files beside the store had theirs"
	done_testing
fi
signals=(KILL TERM INT INT-INT)
# Wide enough for a socket's path not to fit: its folder then lies in /tmp, one thing more to leave behind.
home=$scratch/a-folder-whose-name-is-so-long-that-the-path-of-a-socket-below-it-does-not-fit-in-107-bytes
db=$scratch/keylab.db
export KEYLAB_HOME=$home
# Processes are told apart by their program file.
if [[ -n $lane ]]; then
	cp "$keylab" "$scratch/keylab" && keylab=$scratch/keylab
fi

chmod 711 "$scratch"
"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL 1[89]' || skip_all 'PostgreSQL 18 is not here'
if ((EUID == 0)); then
	# A user that runs nothing else: whatever is his afterwards is ours.
	users=(games news uucp daemon nobody)
	[[ $lane != 2 ]] || users=(sync lp mail proxy)
	for user in "${users[@]}"; do
		uid=$(id -u "$user" 2>/dev/null) || continue
		grep -qs "^Uid:[[:space:]]*${uid}[[:space:]]" /proc/[0-9]*/status || break
	done
	export KEYLAB_SERVER_USER=$user
fi

# What is measured while the kills come: samples with their witness, worker processes, sessions with crashes and
# restarts, and loads.
runs=("$scratch/killed/witness.yaml" 'segment-allocator' '--set trials=1 sequences' '--set rows=1k leaf-density')
witness=0
run_us=()
# A lane begins where the other one has hardly come.
first=$((${lane:-1} == 2 ? 8 : 0))
marks=$scratch/marks
mkdir "$marks"
[[ $EUID -ne 0 ]] || chown "$user" "$marks"

write_scenarios() {
	mkdir -p "$scratch/killed"
	cat >"$scratch/killed/beside.yaml" <<-'END'
		scenario: beside
		document: killed
		title: A run that goes on beside others
		about: Waits until a file appears in its data directory.
		steps:
		  - probe: before
		    sql: select 1 as here
		  - sql: do $$ begin while (pg_stat_file('go', true)).size is null loop perform pg_sleep(0.5); end loop; end $$
		    deadline: 12h
		  - probe: after
		    sql: select 1 as here
		claims:
		  - id: undisturbed
		    says: Both samples are there.
		    value: select count(*) from sample where metric = 'here'
		    type: exact
		    holds: "= 2"
		limits: [It measures nothing.]
	END
	cat >"$scratch/killed/witness.yaml" <<-END
		scenario: witness
		document: killed
		title: Samples with a witness
		about: Behind each sample the server makes a file.
		steps:
		  - repeat: 400
		    as: i
		    do:
		      - probe: here
		        sql: select 1 as here
		      - sql: copy (select 1) to '$marks/\${i}'
		claims:
		  - id: all
		    says: All samples are there.
		    value: select count(*) from sample where metric = 'here'
		    type: exact
		    holds: "= 400"
		limits: [It measures nothing.]
	END
	cat >"$scratch/killed/next.yaml" <<-'END'
		scenario: next
		document: killed
		title: The next start
		about: The smallest run.
		steps:
		  - probe: only
		    sql: select 1 as here
		claims:
		  - id: starts
		    says: It runs.
		    value: select count(*) from sample where metric = 'here'
		    type: exact
		    holds: "= 1"
		limits: [It measures nothing.]
	END
}

# ends_within SECONDS PID
ends_within() {
	local until=$((SECONDS + $1))
	while kill -0 "$2" 2>/dev/null; do
		((SECONDS <= until)) || return 1
		sleep 0.02
	done
}

# waits_for SECONDS CMD...
waits_for() {
	local until=$((SECONDS + $1))
	shift
	while ! "$@"; do
		((SECONDS <= until)) || return 1
		sleep 0.02
	done
}

# Until then a signal finds no handler: the program has hardly begun.
catches_signals() {
	[[ ! -d /proc/$1 ]] || grep -qs '^SigCgt:.*[2367abef]$' "/proc/$1/status"
}

beside_runs() {
	beside_dir=$(grep -ls "^keylab $beside_pid " "$home"/clusters/c-*/owner) || return 1
	beside_dir=${beside_dir%/owner}
	beside_server=$(awk '$1 == "server" { pid = $2 } END { print pid }' "$beside_dir/owner")
	[[ $(sqlite3 "$scratch/beside.db" "select count(*) from samples" 2>/dev/null) == 1 ]]
}

samples_of() {
	sqlite3 "$db" "select sample_id, step_id, scenario, arm, name, metric, quote(value), st.labels, sa.labels
		from sample sa join step st using (step_id) where run_id = ${1:-0} order by sample_id"
}

problem() {
	problems+="$*"$'\n'
}

# A worker's environment is empty; one whose keylab is gone has another parent.
orphan_worker() {
	local parent
	[[ $(readlink "$1/exe" 2>/dev/null) == "$keylab" ]] &&
		[[ $(tr '\0' ' ' 2>/dev/null <"$1/cmdline") == '/proc/self/exe worker '* ]] || return 1
	parent=$(awk '$1 == "PPid:" { print $2 }' "$1/status" 2>/dev/null)
	[[ -n $parent && $(readlink "/proc/$parent/exe" 2>/dev/null) != "$keylab" ]]
}

# Processes that belong to the home (by working folder, or as keylab by environment), but not to the run beside.
strangers() {
	local proc name link pid
	while read -r proc name link; do
		pid=${proc#/proc/}
		case $name:$link in
		"cwd:$beside_dir"/*) continue ;;
		"cwd:$home"*) ;;
		"exe:$keylab"*)
			[[ $pid != "$beside_pid" ]] || continue
			grep -qzs "^KEYLAB_HOME=$home\$" "$proc/environ" || orphan_worker "$proc" || continue
			;;
		*) continue ;;
		esac
		! grep -qs '^State:[[:space:]]*Z' "$proc/status" || continue
		printf '%s (%s) ' "$pid" "$(tr '\0' ' ' <"$proc/cmdline" 2>/dev/null | head -c 80)"
	done < <(find /proc -maxdepth 2 -path '/proc/[0-9]*' \( -name cwd -o -name exe \) -printf '%h %f %l\n' 2>/dev/null)
}

# What may not be left: looked for when everything that knows the home is the run beside.
look_for_leftovers() {
	local when=$1 left dir name segments
	left=$(strangers)
	[[ -z $left ]] || problem "$when: processes are left: $left"
	left=$(find "$home/clusters" -mindepth 1 -maxdepth 1 -name 'c-*' -not -path "$beside_dir")
	[[ -z $left ]] || problem "$when: clusters are left: $left"
	left=$(find "$home/templates" "$home/servers" -mindepth 1 -maxdepth 1 -name 'new-*')
	[[ -z $left ]] || problem "$when: half-made folders are left: $left"
	for dir in $dirs; do
		name=/tmp/keylab-s-$(basename "$dir")
		[[ ! -e $name ]] || problem "$when: a socket's folder is left: $name"
	done
	if ((EUID == 0)); then
		segments=$(ipcs -m | awk -v user="$user" '$3 == user' | wc -l)
		((segments <= 1)) || problem "$when: $segments System V segments of $user, and one server runs"
	fi
	for name in $servers; do
		! ipcs -m -p | awk -v pid="$name" '$3 == pid { found = 1 } END { exit !found }' ||
			problem "$when: the System V segment of server $name is left"
	done
}

marked() {
	[[ -e $marks/1 ]] || ! kill -0 "$1" 2>/dev/null
}

# hit SIGNAL RUN: a run, and the signal at a random moment of it, with the witness of its samples from the first one on.
# Leaves rc; false when the run was over by then.
hit() {
	local signal=$1 which=$2 moment pid second=
	find "$marks" -type f -delete
	# shellcheck disable=SC2086
	"$keylab" run --quiet --profile quick --db "$db" ${runs[which]} >"$scratch/run.out" 2>"$scratch/run.err" </dev/null &
	pid=$!
	waits_for 30 catches_signals "$pid"
	((which != witness)) || waits_for 60 marked "$pid"
	moment=$(awk -v full="${run_us[which]}" -v share="$RANDOM" 'BEGIN { printf "%.3f", full * share / 32768 / 1e6 }')
	sleep "$moment"
	what="SIG$signal after $moment s of ${runs[which]}"
	dirs=$(grep -ls "^keylab $pid " "$home"/clusters/c-*/owner | sed 's,/owner$,,')
	servers=$(for dir in $dirs; do awk '$1 == "server" { print $2 }' "$dir/owner" 2>/dev/null; done)
	run_id=$(sqlite3 "$db" "select max(run_id) from run where pid = $pid and status = 'running'")
	samples_of "$run_id" >"$scratch/before"
	if ! kill -s "${signal%-*}" "$pid" 2>/dev/null; then
		# The machine has become faster: moments are drawn from a shorter time now.
		run_us[which]=$((run_us[which] * 3 / 4))
		wait "$pid"
		return 1
	fi
	if [[ $signal == INT-INT ]]; then
		sleep "0.1$((RANDOM % 9 + 1))"
		second=yes
		kill -s INT "$pid" 2>/dev/null || second=
	fi
	# Once: clusters are ended and removed; twice: there is nothing to wait for.
	if ! ends_within "$([[ -n $second ]] && echo 5 || echo 60)" "$pid"; then
		problem "it did not end"
		kill -KILL "$pid"
	fi
	rc=0
	wait "$pid" || rc=$?
	[[ -n $run_id || $signal == KILL ]] || rm -f "$scratch/before"
	case $signal:$rc in
	KILL:137) ;;
	KILL:*) return 1 ;; # it ended by itself in the same moment
	*:130)
		# The signal came when all was done, and only the way out was left.
		[[ -n $run_id && $(sqlite3 "$db" "select status || (select count(*) from scenario s where s.run_id = r.run_id and s.status <> 'done')
			from run r where run_id = $run_id") == finished0 ]] && return 1
		[[ -z $second ]] || grep -q "gave up waiting.*$home" "$scratch/run.err" ||
			[[ $(sqlite3 "$db" "select status from run where run_id = ${run_id:-0}") != running ]] ||
			problem "it did not say what is left and where: $(<"$scratch/run.err")"
		;;
	*:0 | *:1 | *:2) [[ -z $run_id || $(sqlite3 "$db" "select status from run where run_id = $run_id") == finished ]] && return 1 ;;&
	*) problem "exit code $rc: $(tail -n 2 "$scratch/run.err")" ;;
	esac
	if [[ $signal == TERM || $signal == INT ]]; then
		look_for_leftovers 'at once'
		[[ -z $run_id || $(sqlite3 "$db" "select status from run where run_id = $run_id") == interrupted ]] ||
			problem 'at once: the run is not marked as interrupted'
	fi
	return 0
}

check_store() {
	local got made
	got=$(sqlite3 "$db" 'pragma integrity_check' 2>&1)
	[[ $got == ok ]] || problem "integrity_check: $got"
	if [[ -f $scratch/before && -n $run_id ]]; then
		samples_of "$run_id" >"$scratch/after"
		head -n "$(wc -l <"$scratch/before")" "$scratch/after" | cmp -s - "$scratch/before" ||
			problem "samples are not there that were: $(wc -l <"$scratch/before") before, $(wc -l <"$scratch/after") now"
		samples_kept=$((samples_kept + $(wc -l <"$scratch/before")))
	fi
	made=$(find "$marks" -type f | wc -l)
	got=$(sqlite3 "$db" "select count(*) from samples where run_id = ${run_id:-0} and metric = 'here'")
	((got >= made)) || problem "samples are lost: $made were taken before it died, and $got are there"
	marks_seen=$((marks_seen + made))
}

next_start() {
	local how=$1 got
	if [[ $how == clean ]]; then
		got=$("$keylab" clean --db "$db" 2>&1) || problem "clean: $got"
	else
		got=$("$keylab" run --quiet --db "$db" "$scratch/killed/next.yaml" 2>&1) || problem "the next run: $got"
	fi
	look_for_leftovers "after the next start ($how)"
	got=$(sqlite3 "$db" "select run_id, status from run where status = 'running'
		union all select run_id, scenario from scenario where status = 'running'")
	[[ -z $got ]] || problem "still marked as running: $got"
	[[ -z $run_id || $(sqlite3 "$db" "select status from run where run_id = $run_id") == interrupted ]] ||
		problem 'the run is not marked as interrupted'
	[[ -z $run_id ]] || got=$("$keylab" verify --run "$run_id" "$db" 2>&1) || no_claims_yet || problem "verify: $got"
}

# Killed before its claims were written down: there is nothing to verify, and verify says so.
no_claims_yet() {
	[[ $(sqlite3 "$db" "select count(*) from claim where run_id = $run_id") == 0 ]]
}

check_beside() {
	kill -0 "$beside_pid" 2>/dev/null || problem 'the run beside has ended'
	kill -0 "$beside_server" 2>/dev/null || problem 'the server of the run beside has ended'
}

# ---- once for all: the templates, and how long a run takes

write_scenarios
run "$keylab" run --quiet --db "$db" "$scratch/killed/next.yaml"
is "$rc" 0 'a run, which makes the template'
for words in "${runs[@]}"; do
	start=${EPOCHREALTIME/./}
	# shellcheck disable=SC2086
	run "$keylab" run --quiet --profile quick --db "$db" $words
	end=${EPOCHREALTIME/./}
	[[ ! -e $marks/1 || ${#run_us[@]} != "$witness" ]] || start=$(stat -c %.6Y "$marks/1" | tr -d .,)
	run_us+=("$((end - start))")
	like "$rc" '^[012]$' "a run that nobody kills: $words"
done
is "$(find "$marks" -type f | wc -l)" 400 'a file behind each sample'

"$keylab" run --quiet --db "$scratch/beside.db" "$scratch/killed/beside.yaml" >"$scratch/beside.out" 2>&1 </dev/null &
beside_pid=$!
waits_for 120 beside_runs || fail 'a run beside' "$(<"$scratch/beside.out")"

# The first four kills reach every signal and every run, the first sixteen every pair of them; cleaned up is half by a
# run and half by clean, after each of the signals and of the runs.
good=0 tried=0 missed=0 samples_kept=0 marks_seen=0
while ((tried < kills && missed < kills + 20)); do
	problems='' what='' run_id='' turn=$((first + tried))
	if ! hit "${signals[turn % 4]}" "$(((turn + turn / 4) % 4))"; then
		missed=$((missed + 1))
		continue
	fi
	check_store
	next_start "$( (((turn / 2 + turn / 4 + turn / 16) % 2)) && echo run || echo clean)"
	check_beside
	tried=$((tried + 1))
	if [[ -z $problems ]]; then
		good=$((good + 1))
	else
		diag "kill $tried, $what:" "$problems"
	fi
done

touch "$beside_dir/data/go"
[[ $EUID -ne 0 ]] || chown "$user" "$beside_dir/data/go"
if ends_within 60 "$beside_pid"; then
	rc=0
	wait "$beside_pid" || rc=$?
else
	rc='it did not end'
	kill -KILL "$beside_pid"
fi
is "$rc" 0 'the run beside came to its end, with its verdict'
is "$(sqlite3 "$scratch/beside.db" 'select verdict from claims')" HOLDS 'which holds'

if [[ -n $lane ]]; then
	printf '%s %s %s\n' "$good" "$samples_kept" "$marks_seen" >"$KEYLAB_KILLS_RESULT"
else
	figure killed-anywhere "$good of $kills; $samples_kept samples were there before and after, $marks_seen files beside the store had theirs"
fi
is "$good of $tried" "$kills of $kills" "killed anywhere: $good of $kills (the runs take ${run_us[*]} us; $samples_kept samples were there before, and after)"
ok "samples were there to be lost: $samples_kept, with a witness $marks_seen" test "$samples_kept" -gt 0 -a "$marks_seen" -gt 0
run "$keylab" verify "$db"
is "$rc" 0 "the whole store verifies: $out"
run "$keylab" clean --db "$db"
done_testing
