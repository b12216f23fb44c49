/* SPDX-License-Identifier: PostgreSQL */
/* Charts, before they are drawn. */
#include "report/chart.h"
struct chart *chart_forest(struct charts *charts, const struct run_row *run)
{
	(void)charts;
	(void)run;
	return NULL;
}
bool charts_plot(struct charts *charts, struct chart *const *list, size_t count,
                 const struct report_options *options, struct err *err)
{
	(void)list;
	(void)count;
	(void)options;
	(void)err;
	charts->missing = "not drawn yet";
	return true;
}
