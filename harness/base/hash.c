/* SPDX-License-Identifier: PostgreSQL */
/* SHA-256 by libcrypto. */
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <unistd.h>

static bool digest_text(EVP_MD_CTX *context, char ret[HASH_TEXT_BYTES], struct err *err)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	if (EVP_DigestFinal_ex(context, digest, &len) != 1 || len != 32)
		return err_set(err, ERR_INTERNAL, "SHA-256 failed");
	for (unsigned int i = 0; i < len; i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
	return true;
}

static void context_free_p(EVP_MD_CTX **context)
{
	EVP_MD_CTX_free(*context);
}

static bool context_start(EVP_MD_CTX **ret, struct err *err)
{
	*ret = EVP_MD_CTX_new();
	if (!*ret)
		return err_set(err, ERR_SYSTEM, "out of memory");
	if (EVP_DigestInit_ex(*ret, EVP_sha256(), NULL) != 1)
		return err_set(err, ERR_INTERNAL, "SHA-256 is not available in libcrypto");
	return true;
}

bool hash_bytes(const void *bytes, size_t len, char ret[HASH_TEXT_BYTES], struct err *err)
{
	CLEANUP(context_free_p) EVP_MD_CTX *context = NULL;

	if (!context_start(&context, err))
		return false;
	if (EVP_DigestUpdate(context, bytes, len) != 1)
		return err_set(err, ERR_INTERNAL, "SHA-256 failed");
	return digest_text(context, ret, err);
}

bool hash_file(const char *path, char ret[HASH_TEXT_BYTES], struct err *err)
{
	CLEANUP(close_p) int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(context_free_p) EVP_MD_CTX *context = NULL;
	char chunk[65536];

	if (fd < 0)
		return err_errno(err, "cannot read %s", path);
	if (!context_start(&context, err))
		return false;
	for (;;) {
		ssize_t got = read(fd, chunk, sizeof(chunk));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "cannot read %s", path);
		if (got == 0)
			return digest_text(context, ret, err);
		if (EVP_DigestUpdate(context, chunk, (size_t)got) != 1)
			return err_set(err, ERR_INTERNAL, "SHA-256 failed");
	}
}
