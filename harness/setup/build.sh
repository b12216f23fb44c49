# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# meson and ninja, each only when there is something to do. Sourced by run.sh.

# The names that meson looks up when it configures (statements, tests, templates) and where it stood. A new
# file, or a checkout that was moved, shows as a difference; changed contents are ninja's business.
build_inputs() {
	printf '%s\n' "$root"
	(cd "$root" && find sql report harness/tests scenarios -name node_modules -prune -o \
		-type f \( -name '*.sql' -o -name '*.c' -o -name '*.sh' -o -name '*.css' -o -name '*.html' \
		-o -name '*.mjs' -o -name '*.gp' -o -name '*.yaml' \) -print | LC_ALL=C sort)
}

# configure FOLDER [MESON OPTIONS]
configure() {
	local folder=$1 inputs stamp=$1/.inputs
	shift
	inputs=$(build_inputs)
	if [[ -f $folder/build.ninja && -f $stamp ]]; then
		if [[ $inputs == "$(<"$stamp")" ]]; then
			return 0
		fi
		if [[ $(head -n 1 "$stamp") == "$root" ]]; then
			logged "configuring again (files came or went)" meson setup --reconfigure "$folder" "$root" || return 1
			printf '%s\n' "$inputs" >"$stamp"
			return 0
		fi
	fi
	rm -rf "$folder"
	logged "configuring $(basename "$folder")" meson setup "$@" "$folder" "$root" || return 1
	printf '%s\n' "$inputs" >"$stamp"
}

build_keylab() {
	configure "$build" || die_environment "meson could not configure the build"
	compile "$build" || die_environment "the build failed"
}

# compile FOLDER [TARGET...]
compile() {
	local pending folder=$1
	shift
	# A first build takes half a minute: say so. With nothing to do, say nothing.
	pending=$(ninja -C "$folder" -n "$@" 2>/dev/null | tail -n 1) || true
	[[ $pending == *'no work to do'* ]] && return 0
	logged "building $(basename "$folder")" ninja -C "$folder" "$@"
}
