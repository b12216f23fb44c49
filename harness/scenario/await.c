/* SPDX-License-Identifier: PostgreSQL */
/* What an `await` step waits for. */
#include <string.h>

#include "base/units.h"
#include "scenario/scenario.h"

bool await_parse(const char *text, struct await *ret)
{
	static const struct {
		const char *words;
		enum await_kind kind;
	} counted[] = {
	        {" more ids", AWAIT_MORE_IDS}, {" more id", AWAIT_MORE_IDS}, {" ids", AWAIT_IDS},
	        {" refusals", AWAIT_REFUSALS}, {" refusal", AWAIT_REFUSALS},
	};
	struct quantity quantity;
	size_t len = strlen(text);
	char number[32];

	if (!strcmp(text, "ended") || !strcmp(text, "frozen")) {
		*ret = (struct await){.kind = *text == 'e' ? AWAIT_ENDED : AWAIT_FROZEN};
		return true;
	}
	if (quantity_parse(text, &quantity) && quantity.kind == QUANTITY_DURATION) {
		*ret = (struct await){.kind = AWAIT_TIME,
		                      .wait_ns = (uint64_t)(quantity.value * (double)NS_PER_MS)};
		return true;
	}
	for (size_t i = 0; i < COUNT_OF(counted); i++) {
		size_t words = strlen(counted[i].words);
		enum quantity_kind kind;
		int64_t count;

		if (len <= words || len - words >= sizeof(number) ||
		    strcmp(text + len - words, counted[i].words) != 0)
			continue;
		memcpy(number, text, len - words);
		number[len - words] = '\0';
		if (!quantity_parse_integer(number, &count, &kind, NULL) ||
		    kind != QUANTITY_COUNT || count < 1)
			return false;
		*ret = (struct await){.kind = counted[i].kind, .count = (uint64_t)count};
		return true;
	}
	return false;
}
