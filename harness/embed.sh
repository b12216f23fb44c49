#!/bin/sh
# Makes C arrays of files: embed.sh PREFIX OUT.c OUT.h FILE...
# Each file becomes PREFIX_<stem> (letters, digits and _), NUL-terminated, and a row of the table
# PREFIX_files. A byte array and no string literal: C promises only 4,095 bytes of those.
set -eu
prefix=$1 out_c=$2 out_h=$3
shift 3

{
	printf '/* Made by harness/embed.sh. */\n#include <stddef.h>\n'
	printf 'struct %s_file {\n\tconst char *name; /* path below the room */\n\tconst char *text; /* NUL-terminated */\n\tsize_t len;       /* bytes, without the NUL */\n};\n' "$prefix"
	printf 'extern const struct %s_file %s_files[];\nextern const size_t %s_files_count;\n' "$prefix" "$prefix" "$prefix"
} >"$out_h"
printf '/* Made by harness/embed.sh. */\n#include "%s"\n' "$(basename "$out_h")" >"$out_c"

rows=
count=0
for file; do
	# The name below the room's folder: sql/probe/btree.sql -> probe/btree.sql
	name=${file#*"/$prefix/"}
	name=${name#"$prefix/"}
	symbol=${prefix}_$(printf '%s' "${name%.*}" | tr -c 'A-Za-z0-9' '_')
	printf 'extern const char %s[];\n' "$symbol" >>"$out_h"
	{
		printf 'const char %s[] = {\n' "$symbol"
		od -An -v -tu1 "$file" | sed 's/  *\([0-9][0-9]*\)/\1,/g'
		printf '0};\n'
	} >>"$out_c"
	rows="$rows	{\"$name\", $symbol, sizeof($symbol) - 1},
"
	count=$((count + 1))
done
{
	printf 'const struct %s_file %s_files[] = {\n%s};\n' "$prefix" "$prefix" "$rows"
	printf 'const size_t %s_files_count = %d;\n' "$prefix" "$count"
} >>"$out_c"
