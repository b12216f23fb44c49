#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Nobody gets in: no TCP port, a socket that only its own user reaches, peer authentication alone; the server has
# nothing of ours (root, descriptors, environment), and nothing that it writes is believed or followed.
. "$2/harness/tests/lib.sh"

export KEYLAB_HOME=$scratch/home
chmod 711 "$scratch"
"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL' || skip_all 'no PostgreSQL server'
echo secret >"$scratch/secret"
chmod 600 "$scratch/secret"
mkdir -m 777 "$scratch/victim"
echo mine >"$scratch/victim/file"

# Started with a descriptor and a variable that are nobody else's business.
exec {hold}<>"$scratch/secret"
mkfifo "$scratch/hold"
PLANTED=planted "$keylab" cluster <"$scratch/hold" >"$scratch/conninfo" 2>"$scratch/messages" &
pid=$!
exec {gate}>"$scratch/hold"
until=$((SECONDS + 300))
while [[ ! -s $scratch/conninfo ]] && kill -0 "$pid" 2>/dev/null && ((SECONDS < until)); do sleep 0.05; done
conninfo=$(<"$scratch/conninfo")
like "$conninfo" '^host=/' 'a cluster runs' || diag "$(<"$scratch/messages")"
dir=$(grep -ls "^keylab $pid " "$KEYLAB_HOME"/clusters/c-*/owner)
dir=${dir%/owner}
server=$(awk '$1 == "server" { print $2 }' "$dir/owner")
bin=$(dirname "$(readlink "/proc/$server/exe")")
socket_dir=$(sed -n 's/^host=\([^ ]*\).*/\1/p' <<<"$conninfo")
# family SERVER: it and its children.
family() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk -v server="$1" '$4 == server { print $1 } END { print server }'
}

processes=$(family "$server")

# status PID FIELD
status() {
	awk -v field="$2:" '$1 == field { $1 = ""; sub(/^ /, ""); print }' "/proc/$1/status"
}

# ---- the way in

# sockets_of PROCESS...: their sockets' inodes.
sockets_of() {
	local process
	for process in "$@"; do
		find "/proc/$process/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null
	done | tr -dc '0-9\n' | sort -u
}

# ports_of INODES: how many of these are TCP or UDP.
ports_of() {
	cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 2>/dev/null | awk '{ print $10 }' |
		grep -Fxf <(printf '%s\n' "$1") | grep -cv '^0$'
}

# shellcheck disable=SC2086
sockets=$(sockets_of $processes)
ports=$(ports_of "$sockets")
is "$ports" 0 'no TCP or UDP port is open, in any of its processes'
like "$sockets" '[0-9]' 'while it does have a socket'
is "$(stat -c %a "$socket_dir")" 700 'the socket lies in a folder of mode 0700'
is "$(stat -c %a "$socket_dir/.s.PGSQL.5432")" 700 'and has that mode itself'
is "$(grep -v '^[[:space:]]*\(#\|$\)' "$dir/data/pg_hba.conf")" 'local all all peer map=keylab' 'pg_hba.conf has one line: peer'
is "$(grep -c '' "$dir/data/pg_ident.conf")" 1 'pg_ident.conf has one user'
if command -v psql >/dev/null; then
	is "$(psql -XAtw "$conninfo" -c 'show listen_addresses' 2>&1)" '' 'we get in, and listen_addresses is empty'
fi

# ---- names that nobody can guess

name=$(basename "$dir")
like "$name" '^c-[a-z0-9]{12}$' 'the name of its folder is drawn: 12 characters'
other=$("$keylab" cluster sh -c 'echo "$PGHOST"; ls -d "$KEYLAB_HOME"/clusters/c-*' 2>/dev/null | sed -n 's,.*/\(c-[^/]*\).*,\1,p' | grep -vxF "$name" | head -n 1)
like "$other" '^c-[a-z0-9]{12}$' 'so is the next one'
unlike "${other:2:4}" "^${name:2:4}\$" 'anew'

# ---- what the server has of ours

for process in $processes; do
	for fd in "/proc/$process/fd/"*; do readlink "$fd"; done 2>/dev/null |
		grep -vE "^(/dev/(null|u?random)|(socket|pipe):.*|anon_inode:.*|/dev/zero.*|/memfd:.*|$dir/log|$dir/data/.*)$"
done | sort -u >"$scratch/descriptors"
is "$(<"$scratch/descriptors")" '' 'its descriptors are its log, its data and what it made itself'
is "$(tr '\0' '\n' <"/proc/$server/environ" | sed 's/=.*//' | sort | tr '\n' ' ')" 'LC_ALL PATH TZ ' 'its environment is ours to count'

if ((EUID == 0)); then
	user=$(stat -c %U "$dir/data")
	uid=$(id -u "$user") gid=$(id -g "$user")
	is "$([[ $uid -ne 0 ]] && echo no)" no 'the server is not root'
	wrong=''
	for process in $processes; do
		[[ -d /proc/$process ]] || continue
		# Real, effective, saved and file system id.
		[[ $(status "$process" Uid | tr '\t' ' ') == "$uid $uid $uid $uid" ]] || wrong+="$process uid "
		[[ $(status "$process" Gid | tr '\t' ' ') == "$gid $gid $gid $gid" ]] || wrong+="$process gid "
		[[ $(status "$process" Groups) =~ ^[[:space:]]*$ ]] || wrong+="$process groups "
		[[ $(status "$process" NoNewPrivs) == 1 ]] || wrong+="$process no_new_privs "
		[[ $(status "$process" CapEff)$(status "$process" CapPrm) =~ ^0*$ ]] || wrong+="$process capabilities "
	done
	is "$wrong" '' "root is given up for good in all its $(wc -w <<<"$processes") processes: four ids, groups, capabilities, no_new_privs"

	# as USER CMD...: like any program of that user.
	as() {
		local as=$1
		shift
		setpriv --reuid="$as" --regid="$(id -g "$as")" --clear-groups "$@"
	}
	for other in games news uucp daemon; do
		id "$other" >/dev/null 2>&1 && [[ $(id -u "$other") -ne $uid ]] && break
	done
	run as "$other" ls "$socket_dir"
	unlike "$rc" '^0$' 'another user cannot list the socket folder'
	run as "$other" ls "$dir"
	unlike "$rc" '^0$' 'nor the cluster'
	run as "$other" ls "$KEYLAB_HOME/clusters"
	unlike "$rc" '^0$' 'nor find out what clusters there are'
	run as "$other" cat "$dir/data/PG_VERSION"
	unlike "$rc" '^0$' 'nor read its data'
	if command -v psql >/dev/null; then
		psql=$(command -v psql)
		run as "$other" env HOME=/ "$psql" -XAtw "$conninfo" -c 'select 1'
		like "$rc$err" '^2.*ermission denied' 'another user cannot connect'
		run as "$user" env HOME=/ "$psql" -XAtw "$conninfo" -c 'select 1'
		like "$rc$err" '^2.*Peer authentication failed' 'not even the one that the server runs as'
		run as "$user" env HOME=/ "$psql" -XAtw "${conninfo/user=keylab/user=$user}" -c 'select 1'
		like "$rc$err" '^2.*(Peer authentication failed|does not exist|no match)' 'under no other name either'
	fi

	# ---- what the server writes: its folder's registration is not its own, and links are not followed
	run as "$user" sh -c "echo 'server 1 x' >>'$dir/owner'"
	unlike "$rc" '^0$' 'the server user cannot say whose cluster it is'
	run as "$user" sh -c "mv '$dir/owner' '$dir/mine' || rm -f '$dir/owner' || touch '$dir/keep'"
	unlike "$rc" '^0$' 'nor take its registration away, nor put one there'
	run as "$user" sh -c "cd '$KEYLAB_HOME'/templates && cat $(cd "$KEYLAB_HOME/templates" && echo [!l]*)/pg_hba.conf"
	like "$rc$err" '^1.*ermission denied' 'nor get at the template that later clusters are made of'
	is "$(find "$KEYLAB_HOME/templates" -user "$user")" '' 'of which nothing is his'
	run as "$user" ln -s "$scratch/victim" "$dir/data/away"
	is "$rc" 0 'a link in its data, to what belongs to somebody else'
	run as "$user" ln -s "$scratch/victim" "$socket_dir/away"
else
	skip 'the server is not root, nor can others get in' 'not run as root'
	ln -s "$scratch/victim" "$dir/data/away"
fi

exec {gate}>&-
until=$((SECONDS + 60))
while kill -0 "$pid" 2>/dev/null && ((SECONDS < until)); do sleep 0.05; done
is "$([[ -d $dir ]] && echo there)" '' 'the cluster is removed'
is "$(cat "$scratch/victim/file" 2>&1)" mine 'and no link was followed meanwhile'

# hostile NAME STEPS: a scenario whose SQL is up to something.
hostile() {
	mkdir -p "$scratch/access"
	cat >"$scratch/access/$1.yaml" <<-END
		scenario: $1
		document: access
		title: $1
		about: Of a test.
		cluster:
		  settings: {recovery_init_sync_method: syncfs}
		steps:
	END
	sed 's/^/  /' >>"$scratch/access/$1.yaml" <<<"$2"
	cat >>"$scratch/access/$1.yaml" <<-END
		claims:
		  - id: $1-runs
		    says: It came to its end.
		    value: select count(*) from sample where metric = 'here'
		    type: exact
		    holds: "= 1"
		limits: [It measures nothing.]
	END
}

# ---- what SQL sets, a superuser's, does not let anybody in at the next start

hostile listens "- sql: |
    alter system set listen_addresses = '127.0.0.1';
    alter system set port = 5433;
    alter system set dynamic_shared_memory_type = 'posix';
    alter system set shared_memory_type = 'sysv';
    alter system set unix_socket_directories = '$scratch/open';
    alter system set unix_socket_permissions = '0777';
    alter system set hba_file = '$scratch/open/pg_hba.conf';
    alter system set ident_file = '$scratch/open/pg_ident.conf'
- restart: fast
- probe: first
  sql: |
    select count(*) as here
    from pg_settings
    where (name, setting) in (('dynamic_shared_memory_type', 'mmap'), ('shared_memory_type', 'mmap'))
    having count(*) = 2
- sql: do \$\$ begin while (pg_stat_file('go', true)).size is null loop perform pg_sleep(0.05); end loop; end \$\$
  deadline: 3min"
mkdir -m 777 "$scratch/open"
echo 'local all all trust' >"$scratch/open/pg_hba.conf"
touch "$scratch/open/pg_ident.conf"
chmod 644 "$scratch/open"/*
timeout -k 5 200 "$keylab" run --quiet --jobs 1 --db "$scratch/listens.db" "$scratch/access/listens.yaml" \
	>"$scratch/run.out" 2>"$scratch/run.err" </dev/null &
pid=$!
until=$((SECONDS + 120))
while [[ $(sqlite3 "$scratch/listens.db" 'select count(*) from sample' 2>/dev/null) != 1 ]] &&
	kill -0 "$pid" 2>/dev/null && ((SECONDS < until)); do
	sleep 0.05
done
owner=$(grep -ls '^server ' "$KEYLAB_HOME"/clusters/c-*/owner | head -n 1)
server=$(awk '$1 == "server" { pid = $2 } END { print pid }' "${owner:-/dev/null}")
# shellcheck disable=SC2046
sockets=$(sockets_of $(family "$server"))
like "$sockets" '[0-9]' 'a server that was told by SQL to let others in has started again' || diag "$(<"$scratch/run.err")"
is "$(ports_of "$sockets")" 0 'it opens no port'
is "$(stat -c %a "${owner%/owner}/s/.s.PGSQL.5432" 2>&1)" 700 'and its socket has its place and its mode'
is "$(ls -A "$scratch/open")" $'pg_hba.conf\npg_ident.conf' 'and no other one'
touch "${owner%/owner}/data/go"
chmod 644 "${owner%/owner}/data/go"
rc=0
wait "$pid" || rc=$?
is "$rc" 0 'and the run gets in, with its own rules' || diag "$(<"$scratch/run.err")"

# ---- nothing stays in memory that outlives its processes

# shared_memory USER: POSIX and System V segments.
shared_memory() {
	find /dev/shm -name 'PostgreSQL.*' -user "$1" 2>/dev/null
	ipcs -m 2>/dev/null | awk -v user="$1" '$3 == user { print "System V segment", $2 }'
}

# A user that runs nothing else: whatever is his afterwards is ours.
alone=''
for user in backup list irc www-data mail; do
	((EUID == 0)) && uid=$(id -u "$user" 2>/dev/null) && [[ -z $(shared_memory "$user") ]] &&
		! grep -qs "^Uid:[[:space:]]*${uid}[[:space:]]" /proc/[0-9]*/status && alone=$user && break
done
if [[ -n $alone ]]; then
	# initdb's servers, at two of their kinds of work; some time into it.
	missed=0
	for moment in --boot:0 --boot:0.1 --single:0 --single:0.3; do
		export KEYLAB_HOME=$scratch/unfinished KEYLAB_SERVER_USER=$alone
		"$keylab" cluster true >"$scratch/run.out" 2>"$scratch/run.err" </dev/null &
		pid=$!
		found=''
		while kill -0 "$pid" 2>/dev/null && [[ -z $found ]]; do
			for process in $(find /proc -maxdepth 1 -name '[0-9]*' -user "$alone" 2>/dev/null); do
				! tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -q "postgres.* ${moment%:*} " || found=$process
			done
		done
		[[ -n $found ]] || missed=$((missed + 1))
		sleep "${moment#*:}"
		kill -KILL "$pid"
		wait "$pid" 2>/dev/null
		names=$(find "$KEYLAB_HOME/templates" -mindepth 1 -maxdepth 1 -name 'new-*' -printf '%f ')
		like "$names" '^(new-[a-z2-7]{12} )+$' 'a template in the making has a name that nobody can guess'
		run "$keylab" clean
		is "$rc$(shared_memory "$alone")" 0 "keylab killed while initdb works ($moment s): no shared memory stays behind" || diag "$err"
		is "$(ls "$KEYLAB_HOME/templates" | grep -vx lock)" '' 'nor a template'
		rm -rf "$KEYLAB_HOME"
	done
	is "$missed" 0 'each of them came in time'
	export KEYLAB_HOME=$scratch/home
	unset KEYLAB_SERVER_USER
else
	skip 'no shared memory stays behind' 'it needs root, and a user who runs nothing'
fi

# ---- planted links where keylab itself writes

# An initdb that leaves a link where its postgresql.conf was, to what the server user cannot read.
mkdir "$scratch/bin"
ln -s "$bin/postgres" "$scratch/bin/postgres"
cat >"$scratch/bin/initdb" <<-END
	#!/bin/sh
	"$bin/initdb" "\$@" || exit
	while [ "\$1" != -D ]; do shift; done
	ln -sf "$scratch/initdb-secret" "\$2/postgresql.conf"
END
chmod 755 "$scratch/bin" "$scratch/bin/initdb"
echo planted-secret >"$scratch/initdb-secret"
chmod 600 "$scratch/initdb-secret"
run env KEYLAB_HOME="$scratch/linked" timeout -k 5 120 "$keylab" cluster --pg-bin "$scratch/bin" true
is "$rc" 3 'a link where initdb should have written: exit 3'
like "$err" 'postgresql.conf: Too many levels of symbolic links' 'with the name'
is "$(grep -rl planted-secret "$scratch/linked")" '' 'what it leads to is not copied for the server user'

echo untouched >"$scratch/private"
chmod 600 "$scratch/private"
hostile probe "- sql: copy (select 1) to program 'ln -s $scratch/private keylab.probe'
- server: sync
- probe: first
  sql: select 1 as here"
run timeout -k 5 120 "$keylab" run --quiet --jobs 1 --db "$scratch/probe.db" "$scratch/access/probe.yaml"
like "$rc" '^[02]$' 'a run that synchronizes its server, whose data folder has a link in it' || diag "$err"
is "$(head -c 9 "$scratch/private" | tr -d '\0')" untouched 'does not write through the link'
ln -s "$scratch/victim/file" "$scratch/page.html"
. "$source_root/harness/tests/fixture.sh"
fixture_store "$scratch/fixture.db" || fail 'the fixture'
run "$keylab" report --db "$scratch/fixture.db" --out "$scratch/page.html"
is "$rc$(<"$scratch/victim/file")" 0mine 'a report replaces a planted link and does not write through it'
ln "$scratch/victim/file" "$scratch/bundle.tar.part"
run "$keylab" report --db "$scratch/fixture.db" --bundle "$scratch/bundle.tar"
is "$rc$(head -c 4 "$scratch/victim/file")" 0mine 'nor does a bundle write into a file that waits where it begins' || diag "$err"
is "$(ls "$scratch"/bundle.tar*)" "$scratch/bundle.tar"$'\n'"$scratch/bundle.tar.part" 'and it leaves nothing behind'
if command -v gnuplot >/dev/null; then
	# What is kept of pictures goes into later reports: nobody else may put something there.
	(umask 0 && KEYLAB_HOME=$scratch/drawn "$keylab" report --db "$scratch/fixture.db" --out "$scratch/page.html" >/dev/null 2>&1)
	is "$(find "$scratch/drawn/charts" -printf '%m\n' | sort | uniq | tr '\n' ' ')" '600 700 ' 'kept pictures are for us alone'
fi
mv "$KEYLAB_HOME/clusters/lock" "$KEYLAB_HOME/clusters/old"
ln -s "$scratch/victim/made" "$KEYLAB_HOME/clusters/lock"
run "$keylab" clean
is "$rc$([[ -e $scratch/victim/made ]] && echo made)" 3 'a lock file that is a link is refused'
like "$err" 'clusters/lock: Too many levels of symbolic links' 'with its name'
done_testing
