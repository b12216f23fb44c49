/* SPDX-License-Identifier: PostgreSQL */
/* TypeID: a uuid (v7 when minted here) behind a prefix that names its type. */
#include "ids/typeid.h"

#include <string.h>

#include "ids/base32.h"
#include "ids/format.h"
#include "ids/uuid.h"

bool typeid_check_prefix(const char *prefix, size_t len, struct err *err)
{
	if (len > ID_PREFIX_MAX)
		return err_set(err, ERR_INPUT, "a prefix of %zu characters, more than 63", len);
	for (size_t i = 0; i < len; i++) {
		if ((prefix[i] < 'a' || prefix[i] > 'z') && prefix[i] != '_')
			return err_set(err, ERR_INPUT,
			               "character %zu of the prefix is not in a-z _", i + 1);
	}
	if (len && (prefix[0] == '_' || prefix[len - 1] == '_'))
		return err_set(err, ERR_INPUT, "a prefix that begins or ends with _");
	return true;
}

bool typeid_split(const char *text, size_t len, size_t *ret_prefix_len, size_t *ret_suffix_at,
                  struct err *err)
{
	size_t at = len;

	while (at && text[at - 1] != '_')
		at--;
	if (!at) {
		*ret_prefix_len = 0;
		*ret_suffix_at = 0;
		return true;
	}
	if (at == 1)
		return err_set(err, ERR_INPUT, "an underscore without a prefix");
	if (!typeid_check_prefix(text, at - 1, err))
		return false;
	*ret_prefix_len = at - 1;
	*ret_suffix_at = at;
	return true;
}

static bool typeid_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	return uuid_v7_next(generator, (struct uuid_v7_state *)generator->state, ret, err);
}

static void typeid_encode(const struct id *id, char *text)
{
	base32_encode(id->bytes, BASE32_LOWER, text);
}

static bool typeid_decode(const char *text, size_t len, struct id *ret, struct err *err)
{
	if (len != BASE32_TEXT_BYTES)
		return err_set(err, ERR_INPUT, "a suffix of %zu characters, not 26", len);
	ret->len = 16;
	if (!base32_decode(text, BASE32_LOWER, ret->bytes))
		return err_set(err, ERR_INPUT,
		               "the suffix is not lower-case base32 of 128 bits (0-9 a-z without "
		               "i l o u, at most 7zzz…)");
	return true;
}

/* The specification reads any 128 bits, so a uuid of another version is told, not refused. */
static bool typeid_inspect(const struct id *id, const struct id_options *options,
                           struct id_parts *ret, struct err *err)
{
	char text[UUID_TEXT_BYTES + 1];

	(void)options;
	uuid_print(id->bytes, text);
	id_parts_add_text(ret, "uuid", text);
	if (uuid_is_rfc(id->bytes) && uuid_version(id->bytes) == 7)
		return uuid_v7_inspect(id, "counter", ret, err);
	id_parts_add_number(ret, "version", uuid_version(id->bytes));
	id_parts_add_number(ret, "variant", id->bytes[8] >> 6);
	return true;
}

const struct id_format id_format_typeid = {
        .name = "typeid",
        .title = "TypeID",
        .source = "TypeID specification 0.3 (github.com/jetify-com/typeid)",
        .pg_type = "uuid",
        .coordination = "nobody",
        .stored_bytes = 16,
        .text_bytes = BASE32_TEXT_BYTES,
        .random_bits = 62,
        .sorts_by_time = true,
        .has_prefix = true,
        .state_bytes = sizeof(struct uuid_v7_state),
        .next = typeid_next,
        .at = uuid_v7_at,
        .encode = typeid_encode,
        .decode = typeid_decode,
        .inspect = typeid_inspect,
};
