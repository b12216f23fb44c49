/* SPDX-License-Identifier: PostgreSQL */
/*
 * What the sanitizers are told, in builds that have one (-Db_sanitize=...). It is in the program
 * itself because keylab's own children, the workers, get an empty environment and a standard error
 * that nobody reads.
 *
 * A report is a file of its own, SANITIZER_LOG.PROCESS, which ./run.sh check looks for:
 * whatever a test thinks of the exit code, a report fails it. The exit code is none of keylab's.
 */
#include <dlfcn.h>
#include <string.h>

#define EVERYWHERE "exitcode=99:halt_on_error=1:log_path=" SANITIZER_LOG

const char *__asan_default_options(void);
const char *__lsan_default_options(void);
const char *__tsan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return EVERYWHERE ":detect_leaks=1:strict_string_checks=1";
}

const char *__lsan_default_options(void)
{
	return EVERYWHERE;
}

const char *__tsan_default_options(void)
{
	return EVERYWHERE ":second_deadlock_stack=1";
}

const char *__ubsan_default_options(void)
{
	return EVERYWHERE ":print_stacktrace=1";
}

#if defined(__GNUC__) && !defined(__clang__)
/*
 * gcc has a library for each sanitizer, with a log of its own and the same name for the function
 * that says where it is: of two libraries only the first is ever told.
 */
static __attribute__((constructor)) void tell_ubsan(void)
{
	void *library = dlopen("libubsan.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *found = library ? dlsym(library, "__sanitizer_set_report_path") : NULL;
	void (*set_report_path)(const char *path);

	if (!found)
		return;
	memcpy(&set_report_path, &found, sizeof(found));
	set_report_path(SANITIZER_LOG);
}
#endif
