/* SPDX-License-Identifier: PostgreSQL */
#include "store/machine.h"

#include <string.h>

const char *const machine_parts[] = {
        "machine", "cpu", "cpus", "cpu governor", "memory", "kernel", "file system of the clusters",
        NULL,
};

size_t machine_value_len(const char *part, const char *value)
{
	/* Of a file system its type: the options name folders that differ between two containers
	   of one machine. */
	return !strncmp(part, "file system", 11) ? strcspn(value, " ") : strlen(value);
}
