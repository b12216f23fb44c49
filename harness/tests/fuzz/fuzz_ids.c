/* SPDX-License-Identifier: PostgreSQL */
/*
 * libFuzzer target over every decoder of ids/: any text and any stored bytes
 * are read or refused, and what is read prints back to a text that is read
 * as the same id.
 *
 *   clang -g -O1 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -Iharness \
 *     harness/tests/fuzz/fuzz_ids.c harness/ids/[a-z]*.c \
 *     harness/base/{arena,buf,clock,err,units}.c -lm -o fuzz_ids
 */
#include <stdlib.h>
#include <string.h>

#include "ids/ids.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_parts(const struct id_parts *parts)
{
	require(parts->count >= 1 && parts->count <= ID_PARTS_MAX);
	for (size_t i = 0; i < parts->count; i++)
		require(memchr(parts->part[i].text, '\0', sizeof(parts->part[i].text)) != NULL);
}

static void fuzz_text(const struct id_format *format, const struct id_options *options,
                      const char *text, size_t len)
{
	struct id id;
	struct id again;
	struct id_parts parts;
	struct err err;
	char prefix[ID_PREFIX_MAX + 1];
	char prefix_again[ID_PREFIX_MAX + 1];
	char printed[ID_TEXT_BYTES];

	if (id_decode(format, options, text, len, &parts, &err))
		check_parts(&parts);
	if (!id_parse(format, text, len, &id, prefix, &err)) {
		require(err.kind == ERR_INPUT);
		return;
	}
	require(id_print(format, &id, prefix, printed, &err));
	require(strlen(printed) == len);
	require(id_parse(format, printed, strlen(printed), &again, prefix_again, &err));
	require(id_compare(&id, &again) == 0);
	require(strcmp(prefix, prefix_again) == 0);
}

static void fuzz_bytes(const struct id_format *format, const struct id_options *options,
                       const uint8_t *data, size_t size)
{
	struct id id = {.len = format->stored_bytes};
	struct id again;
	struct id_parts parts;
	struct err err;
	char printed[ID_TEXT_BYTES];

	if (size < format->stored_bytes)
		return;
	memcpy(id.bytes, data, format->stored_bytes);
	if (!id_inspect(format, options, &id, &parts, &err))
		return;
	check_parts(&parts);
	require(id_print(format, &id, NULL, printed, &err));
	/* Text columns may hold another spelling, which is another key. */
	if (id_parse(format, printed, strlen(printed), &again, NULL, &err))
		require(id_compare(&id, &again) == 0);
	else
		require(!strcmp(format->pg_type, "text"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct id_options options = {.has_epoch = true};

	if (size >= 16) {
		memcpy(&options.epoch_ms, data, 8);
		memcpy(&options.block_count, data + 8, 8);
	}
	/* A copy of the exact size, so that reading past its end is seen. */
	char *text = malloc(size ? size : 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	for (size_t i = 0; i < id_format_count; i++) {
		fuzz_text(id_formats[i], NULL, text, size);
		fuzz_text(id_formats[i], &options, text, size);
		fuzz_bytes(id_formats[i], NULL, data, size);
		if (size >= 16)
			fuzz_bytes(id_formats[i], &options, data + 16, size - 16);
	}
	free(text);
	return 0;
}
