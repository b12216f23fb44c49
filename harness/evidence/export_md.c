/* SPDX-License-Identifier: PostgreSQL */
/* Markdown: the report's own table. */
#include "evidence/formats.h"
#include "report/report.h"

bool export_md(const struct facts *facts, const struct export_options *options, struct buf *ret,
               struct err *err)
{
	(void)options;
	return report_markdown(facts->store, facts->run_id, ret, err);
}
