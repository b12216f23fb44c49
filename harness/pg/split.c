/* SPDX-License-Identifier: PostgreSQL */
/* Splitting SQL text into statements. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "pg/conn.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static const char *skip_line_comment(const char *at)
{
	return at + strcspn(at, "\n");
}

/* Block comments nest. */
static const char *skip_block_comment(const char *at)
{
	int depth = 0;

	while (*at) {
		if (at[0] == '/' && at[1] == '*') {
			depth++;
			at += 2;
		} else if (at[0] == '*' && at[1] == '/') {
			at += 2;
			if (--depth == 0)
				break;
		} else {
			at++;
		}
	}
	return at;
}

/* From an opening quote to behind its closing one; doubled ones are inside. */
static const char *skip_quoted(const char *at, char quote, bool backslashes)
{
	for (at++; *at; at++) {
		if (backslashes && *at == '\\' && at[1])
			at++;
		else if (*at == quote && at[1] == quote)
			at++;
		else if (*at == quote)
			return at + 1;
	}
	return at;
}

/* $tag$ … $tag$; at itself when there is no dollar quote here. */
static const char *skip_dollar(const char *at)
{
	const char *tag_end = at + 1;

	if (isdigit((unsigned char)*tag_end))
		return at;
	while (is_word(*tag_end))
		tag_end++;
	if (*tag_end != '$')
		return at;
	size_t tag_len = (size_t)(tag_end - at) + 1;
	for (const char *close = at + tag_len; *close; close++)
		if (!strncmp(close, at, tag_len))
			return close + tag_len;
	return at + strlen(at);
}

struct splitter {
	int brackets;
	int atomic; /* depth of BEGIN ATOMIC … END and of CASE inside it */
	bool begin_was_last;
};

static const char *take_word(struct splitter *state, const char *at)
{
	const char *end = at;

	while (is_word(*end) || *end == '$')
		end++;
	size_t len = (size_t)(end - at);
	if (len == 6 && state->begin_was_last && !strncasecmp(at, "atomic", 6))
		state->atomic++;
	else if (state->atomic && len == 4 && !strncasecmp(at, "case", 4))
		state->atomic++;
	else if (state->atomic && len == 3 && !strncasecmp(at, "end", 3))
		state->atomic--;
	state->begin_was_last = len == 5 && !strncasecmp(at, "begin", 5);
	return end;
}

/* Over one token that is no semicolon. */
static const char *skip_token(struct splitter *state, const char *at)
{
	const char *next;

	if (at[0] == '-' && at[1] == '-')
		return skip_line_comment(at);
	if (at[0] == '/' && at[1] == '*')
		return skip_block_comment(at);
	if ((*at == 'e' || *at == 'E') && at[1] == '\'')
		return skip_quoted(at + 1, '\'', true);
	if (*at == '\'' || *at == '"')
		return skip_quoted(at, *at, false);
	if (*at == '$' && (next = skip_dollar(at)) != at)
		return next;
	if (is_word(*at))
		return take_word(state, at);
	state->brackets += (*at == '(') - (*at == ')');
	return at + 1;
}

static bool is_blank(const char *from, const char *to)
{
	while (from < to) {
		if (isspace((unsigned char)*from))
			from++;
		else if (from[0] == '-' && from[1] == '-')
			from = skip_line_comment(from);
		else if (from[0] == '/' && from[1] == '*')
			from = skip_block_comment(from);
		else
			return false;
	}
	return true;
}

bool sql_split(const char *sql,
               bool (*each)(void *arg, const char *statement, size_t len, struct err *err),
               void *arg, struct err *err)
{
	const char *start = sql, *at = sql;
	struct splitter state = {0};

	for (;;) {
		if (*at && (*at != ';' || state.brackets > 0 || state.atomic > 0)) {
			at = skip_token(&state, at);
			continue;
		}
		while (start < at && isspace((unsigned char)*start))
			start++;
		if (!is_blank(start, at) && !each(arg, start, (size_t)(at - start), err))
			return false;
		if (!*at)
			return true;
		start = ++at;
		state = (struct splitter){0};
	}
}
