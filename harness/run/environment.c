/* SPDX-License-Identifier: PostgreSQL */
/* Where a run takes place: machine, file system, versions. No host name, no user name. */
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fs.h"
#include "run/walk.h"
#include "sql.h"

static bool add(const struct run_request *request, int64_t run_id, const char *name,
                const char *value, struct err *err)
{
	const struct bind binds[] = {B_INT(":run_id", run_id), B_TEXT(":name", name),
	                             B_TEXT(":value", value)};

	return store_exec(request->store, sql_store_add_environment, binds, COUNT_OF(binds), err);
}

/* The value of the first "KEY<sep> value" line of a file; "unknown" when there is none. */
static void file_value(const char *path, const char *key, char sep, char *ret, size_t size)
{
	CLEANUP(buf_finish) struct buf text;

	snprintf(ret, size, "unknown");
	buf_init(&text, 4 << 20);
	if (!fs_read(path, 4 << 20, &text, NULL))
		return;
	const char *line = key[0] ? strstr(text.data, key) : text.data;
	const char *value = line && sep ? strchr(line, sep) : line;
	if (!value)
		return;
	value += value[0] == sep && sep;
	value += strspn(value, " \t\"");
	snprintf(ret, size, "%.*s", (int)strcspn(value, "\n\""), value);
}

/* What /proc/mounts says of the file system that a path lies on: type and options. */
static void mount_of(const char *path, char *ret, size_t size)
{
	CLEANUP(buf_finish) struct buf mounts;
	size_t best = 0;
	char *rest = NULL;

	snprintf(ret, size, "unknown");
	buf_init(&mounts, 4 << 20);
	if (!fs_read("/proc/mounts", 4 << 20, &mounts, NULL))
		return;
	for (char *line = strtok_r(mounts.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char where[1024], type[64], options[512];

		if (sscanf(line, "%*s %1023s %63s %511s", where, type, options) != 3)
			continue;
		size_t len = strlen(where);
		if (strncmp(path, where, len) || (len > 1 && path[len] && path[len] != '/') ||
		    len < best)
			continue;
		best = len;
		snprintf(ret, size, "%s (%s)", type, options);
	}
}

bool environment_record(const struct run_request *request, int64_t run_id, struct err *err)
{
	char cpu[256], governor[64], distribution[256], mount[640], number[64], version[64];
	struct utsname name;
	struct sysinfo memory;

	uname(&name);
	sysinfo(&memory);
	file_value("/proc/cpuinfo", "model name", ':', cpu, sizeof(cpu));
	file_value("/etc/os-release", "PRETTY_NAME", '=', distribution, sizeof(distribution));
	file_value("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "", '\0', governor,
	           sizeof(governor));
	mount_of(request->home->root, mount, sizeof(mount));
	if (!add(request, run_id, "kernel", name.release, err) ||
	    !add(request, run_id, "machine", name.machine, err) ||
	    !add(request, run_id, "distribution", distribution, err) ||
	    !add(request, run_id, "cpu", cpu, err) ||
	    !add(request, run_id, "cpu governor", governor, err) ||
	    !add(request, run_id, "file system of the clusters", mount, err))
		return false;
	snprintf(number, sizeof(number), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	if (!add(request, run_id, "cpus", number, err))
		return false;
	snprintf(number, sizeof(number), "%llu MB",
	         (unsigned long long)memory.totalram * memory.mem_unit / 1048576);
	if (!add(request, run_id, "memory", number, err))
		return false;
	snprintf(version, sizeof(version), "%d.%d", conn_library_version() / 10000,
	         conn_library_version() % 10000);
	if (request->same_arms && !add(request, run_id, "arms", "all as the first", err))
		return false;
	return (!request->build || add(request, run_id, "build", request->build, err)) &&
	       add(request, run_id, "libpq", version, err) &&
	       add(request, run_id, "sqlite", store_library_version(), err) &&
	       add(request, run_id, "compiler", __VERSION__, err);
}
