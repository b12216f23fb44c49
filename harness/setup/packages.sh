# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# Which packages are missing, and their installation with apt-get. Sourced by run.sh.
#
# What is there is found by asking for the thing itself (a program, a pkg-config module), never for
# the package: a library that somebody built is as good as Debian's.

# group  probe               Debian package(s), joined by +
package_table='
build    cc                  gcc+libc6-dev
build    command:meson       meson
build    command:ninja       ninja-build
build    command:pkg-config  pkg-config
build    module:libpq        libpq-dev
build    module:sqlite3>=3.40 libsqlite3-dev
build    module:libfyaml     libfyaml-dev
build    module:jansson      libjansson-dev
build    module:libcrypto    libssl-dev
build    module:cmocka       libcmocka-dev
build    command:gnuplot     gnuplot-nox
use      command:sqlite3     sqlite3
use      command:psql        postgresql-client
test     command:sqlite3     sqlite3
test     command:psql        postgresql-client
test     command:xmllint     libxml2-utils
test     command:prove       perl
test     command:jq          jq
browser  browser             chromium
browser  command:node        nodejs
bench    command:psql        postgresql-client
bench    command:sqlite3     sqlite3
check    command:gcc         gcc+libc6-dev
check    command:clang       clang
check    clang-runtime       libclang-rt-dev
check    command:clang-format clang-format
check    command:clang-tidy  clang-tidy
check    command:cppcheck    cppcheck
'

probe() {
	case $1 in
	command:*) command -v "${1#command:}" >/dev/null ;;
	module:*) pkg-config --exists "${1#module:}" 2>/dev/null ;;
	cc) printf '#include <stdio.h>\n' | "${CC:-cc}" -E -x c - >/dev/null 2>&1 ;;
	browser) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
	clang-runtime) printf 'int main(void){return 0;}\n' | clang -fsanitize=address -x c - -o /dev/null ;;
	esac >/dev/null 2>&1
}

# The usual case, all there, in as few processes as can be: one pkg-config for all modules.
all_there() {
	local group probe package modules=() groups=" $* "
	while read -r group probe package; do
		[[ -n $group && $groups == *" $group "* ]] || continue
		if [[ $probe == module:* ]]; then
			modules+=("${probe#module:}")
		else
			probe "$probe" || return 1
		fi
	done <<<"$package_table"
	((${#modules[@]} == 0)) || pkg-config --exists "${modules[@]/>=/ >= }" 2>/dev/null
}

missing_packages() {
	local group probe package groups=" $* "
	while read -r group probe package; do
		[[ -n $group && $groups == *" $group "* ]] || continue
		probe "${probe/>=/ >= }" || printf '%s\n' "${package//+/$'\n'}"
	done <<<"$package_table" | sort -u
}

# How to become root for apt-get: empty for root, sudo if it is there and may be used.
as_root() {
	if (($(id -u) == 0)); then
		env "$@"
	elif [[ -t 0 ]]; then
		sudo env "$@"
	else
		sudo -n env "$@"
	fi
}

apt_get() {
	as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 "$@"
}

apt_install() {
	apt_get install --no-install-recommends "$@"
}

# need_packages GROUP...: on return everything of these groups is there.
need_packages() {
	local missing by_hand
	if all_there "$@"; then
		return 0
	fi
	mapfile -t missing < <(missing_packages "$@")
	((${#missing[@]} > 0)) || return 0
	by_hand="apt-get install --no-install-recommends ${missing[*]}"

	if ! command -v apt-get >/dev/null; then
		die_environment "missing, and there is no apt-get to install it with (Debian's names): ${missing[*]}"
	fi
	if (($(id -u) != 0)); then
		command -v sudo >/dev/null ||
			die_environment "missing: ${missing[*]}. There is no sudo here; as root: $by_hand"
		[[ -t 0 ]] || sudo -n true 2>/dev/null ||
			die_environment "missing: ${missing[*]}. sudo asks for a password; run: sudo $by_hand"
	fi

	local what="installing ${missing[*]}"
	# Package lists may be absent (a fresh container) or too old for the mirror.
	if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null ||
		! logged "$what" apt_install "${missing[@]}"; then
		logged "fetching the package lists" apt_get update ||
			die_environment "apt-get update failed; by hand: $by_hand"
		logged "$what" apt_install "${missing[@]}" ||
			die_environment "apt-get could not install them; by hand: $by_hand"
	fi
	hash -r
	mapfile -t missing < <(missing_packages "$@")
	((${#missing[@]} == 0)) || die_environment "installed, but still not found: ${missing[*]}"
}
