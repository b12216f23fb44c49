#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# The lint finds what is planted: one fault of each kind in a small tree, and none in the tree before that.
. "$2/harness/tests/lib.sh"

lint=$source_root/harness/lint.sh

fresh_tree() {
	rm -rf "$scratch/tree"
	mkdir -p "$scratch/tree"/{harness/{base,store,pg,cmd},sql/probe,servers/18,.ci}
	cd "$scratch/tree" || exit 1
	cp "$source_root/.clang-format" .
	printf '/* SPDX-License-Identifier: PostgreSQL */\nint base_answer(void);\n' >harness/base/a.h
	printf '/* SPDX-License-Identifier: PostgreSQL */\n#include "base/a.h"\n' >harness/store/s.c
	printf '/* SPDX-License-Identifier: PostgreSQL */\n#include "store/s.h"\n' >harness/cmd/c.c
	printf '/* SPDX-License-Identifier: PostgreSQL */\n#include <libpq-fe.h>\n' >harness/pg/p.c
	printf -- '-- No parameters. Columns: one\nselect 1\n' >sql/probe/one.sql
	printf '#!/usr/bin/env bash\n# SPDX-License-Identifier: PostgreSQL\n' >run.sh
	printf '{"packages": {"x": {\n"version": "1.0",\n"integrity": "sha512-x"\n}}}\n' >servers/18/package-lock.json
}

# planted FILE TEXT EXPECTED DESCRIPTION: TEXT added to FILE makes the lint say EXPECTED at FILE, and fail.
planted() {
	fresh_tree
	mkdir -p "$(dirname "$1")"
	printf '%b' "$2" >>"$1"
	run "$lint" "$scratch/tree"
	if [[ $rc == 1 && $out =~ ${1}:[0-9]+:.*$3 ]]; then
		pass "$4"
	else
		fail "$4" "exit $rc"$'\n'"$out"$'\n'"$err"
	fi
}

fresh_tree
run "$lint" "$scratch/tree"
is "$rc:$out" '0:' 'a clean tree has no findings'

planted harness/store/s.c '#include "pg/p.h"\n' "room 'store' may not include" 'an arrow between rooms'
planted harness/base/a.h '#include "store/s.h"\n' "room 'base' may not include" 'an arrow upwards'
planted harness/store/s.c '#include <libpq-fe.h>\n' 'belongs to room' "a library outside its room"
planted harness/attic/x.c '/* SPDX-License-Identifier: PostgreSQL */\n#include "base/a.h"\n' 'not known' 'a new room'
planted harness/store/s.c 'void f(char *s);\nvoid f(char *s)\n{\n\tsprintf(s, "");\n}\n' 'no bound' 'an unbounded call'
planted harness/cmd/c.c 'void f(void);\nvoid f(void)\n{\n\tsystem("ls");\n}\n' 'shell' 'a shell string'
planted harness/pg/p.c 'void f(void);\nvoid f(void)\n{\n\tsleep(1);\n}\n' 'fixed sleeps' 'a fixed sleep'
planted harness/pg/p.c 'void f(void);\nvoid f(void)\n{\n\texit(1);\n}\n' 'only main' 'an exit below main'
planted harness/pg/p.c 'void f(void);\nvoid f(void)\n{\n\tputs("x");\n}\n' 'only cmd' 'a print outside cmd'
planted harness/pg/new.c 'int x;\n' 'first line must be' 'a file without its heading'
planted harness/pg/p.c '/* TO''DO: later */\n' 'note to oneself' 'a note to oneself'
if command -v clang-format >/dev/null; then
	planted harness/pg/p.c 'int   x;\n' 'layout' 'a layout of its own'
else
	skip 'a layout of its own' 'clang-format is not here'
fi
planted harness/pg/p.c "$(printf 'int x%d;\\n' {1..800})" 'over 800 lines' 'a file that grew too long'
planted sql/probe/two.sql 'select 2\n' 'begins with a comment' 'a statement without its heading'
planted run.sh 'if true\n' 'syntax error' 'a script that does not parse'
planted servers/18/package-lock.json '"resolved": "x"\n' 'download address' 'a lock file with an address'
planted servers/17/package-lock.json '{"version": "1.0"}\n' 'integrity' 'a lock file without a hash'

fresh_tree
printf '/* one may write sprintf(x) in a comment */\nconst char *t = "system(x)";\n' >>harness/pg/p.c
run "$lint" "$scratch/tree"
is "$rc:$out" '0:' 'a comment or a string that names a call is no call'

fresh_tree
rm -r harness
mkdir harness
run "$lint" "$scratch/tree"
is "$rc" 1 'nothing to look at is a failure'

done_testing
