/* SPDX-License-Identifier: PostgreSQL */
/* gnuplot's SVG read and written anew: what is known comes through, anything else is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/draw.h"
#include "report/html.h"

/* The body in gnuplot's frame, with two texts to stand for @0@ and @1@. */
static bool rewrite(const char *body, struct buf *ret, struct err *err)
{
	const char *texts[] = {"WAL <b> & \"MB\"", "second"};
	struct drawing drawing = {.texts = texts, .texts_count = 2, .width = 100, .height = 50};
	struct buf svg;

	buf_init(&svg, 0);
	buf_init(ret, 0);
	buf_printf(&svg,
	           "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 100 "
	           "50\"\n>\n<title>junk</title>\n"
	           "<desc>Produced by GNUPLOT</desc>\n<g id=\"gnuplot_canvas\">\n<defs><circle "
	           "id='gpDot'/>"
	           "</defs>\n%s</g>\n</svg>",
	           body);
	bool ok = svg_rewrite(svg.data, svg.len, &drawing, "p1", "a <title>", "a desc", ret, err);
	buf_finish(&svg);
	return ok;
}

static void gives(const char *body, const char *wanted)
{
	struct buf out;
	struct err err;

	if (!rewrite(body, &out, &err))
		fail_msg("%s: %s", body, err.message);
	if (!strstr(out.data, wanted))
		fail_msg("%s\nis not in\n%s", wanted, out.data);
	buf_finish(&out);
}

static void refused(const char *body)
{
	struct buf out;
	struct err err;

	if (rewrite(body, &out, &err))
		fail_msg("%s\ncame through as\n%s", body, out.data);
	assert_int_equal(err.kind, ERR_INTERNAL);
	buf_finish(&out);
}

static void shapes(void **state)
{
	(void)state;
	gives("<g stroke-width=\"2.00\"><path stroke='rgb(  0, 114, 178)' d='M1.00,2.50 L3.25,4.00 "
	      "'/></g>",
	      "<path class=\"s4\" stroke=\"#0072b2\" stroke-width=\"2\" d=\"M1 2.5L3.2 4\"/>");
	gives("<g><path stroke='rgb(1,2,3)' stroke-dasharray='4.0,2.0' d='M1,2 L3,4'/></g>",
	      "stroke-dasharray=\"4 2\"");
	gives("<polygon fill = 'rgb(  0, 158, 115)' points = '1,2 3,4 5,6 '/>",
	      "<polygon class=\"f6\" fill=\"#009e73\" points=\"1 2 3 4 5 6\"/>");
	gives("<g transform=\"translate(10.00,20.50)\" fill=\"rgb(1,2,3)\" "
	      "text-anchor=\"end\"><text>@0@</text></g>",
	      "<text class=\"f0\" fill=\"#1b1c1e\" x=\"10\" y=\"20.5\" text-anchor=\"end\">WAL "
	      "&lt;b&gt; &amp; "
	      "&quot;MB&quot;</text>");
	gives("<g id=\"c_plot_1\" ><title>@1@</title><path stroke='rgb(1,2,3)' d='M1,2'/></g>",
	      "<g><title>second</title><path");
}

static void frame(void **state)
{
	(void)state;
	gives("", "viewBox=\"0 0 100 50\" role=\"img\" aria-labelledby=\"p1-t p1-d\"");
	gives("",
	      "<title id=\"p1-t\">a &lt;title&gt;</title><desc id=\"p1-d\">a desc</desc></svg>");
}

/* Two points of one look are one path; another colour begins another. */
static void markers(void **state)
{
#define POINT(id, at, colour)                                                                      \
	"<use xlink:href='#" id "' transform='translate(" at ") scale(4.00)' color='" colour "'/>"
	struct buf out;
	struct err err;

	(void)state;
	assert_true(rewrite(POINT("gpPt4", "10,10", "rgb(0,158,115)")
	                            POINT("gpPt4", "20,20", "rgb(0,158,115)")
	                                    POINT("gpPt4", "30,30", "rgb(213,94,0)"),
	                    &out, &err));
	assert_non_null(
	        strstr(out.data,
	               "<path class=\"f6\" fill=\"#009e73\" d=\"M14 6l0 8l-8 0l0-8zM24 16"));
	assert_non_null(strstr(out.data, "z\"/><path class=\"f5\" fill=\"#d55e00\" d=\"M34 26"));
	assert_null(strstr(out.data, "<use"));
	buf_finish(&out);
	gives(POINT("gpPt6", "10,10", "white"), "</desc></svg>");
#undef POINT
}

static void unknown_is_refused(void **state)
{
	(void)state;
	refused("<script>alert(1)</script>");
	refused("<image href=\"x\"/>");
	refused("<foreignObject></foreignObject>");
	refused("<a href=\"x\"><path stroke='rgb(1,2,3)' d='M1,2'/></a>");
	refused("<path stroke='rgb(1,2,3)' d='M1,nan L2,3'/>");
	refused("<path stroke='rgb(1,2,3)' d='M1,2 url(#x)'/>");
	refused("<path stroke='rgb(9,9,9)' d='M1,2'/>");
	refused("<path stroke='url(#gpPat1)' d='M1,2'/>");
	refused("<path stroke='rgb(1,2,3)' d='M1e9,2'/>");
	refused("<g><text>not a placeholder</text></g>");
	refused("<g><text>@2@</text></g>");
	refused("<g><text>@0@ more</text></g>");
	refused("<use xlink:href='#other' transform='translate(1,1) scale(1)' "
	        "color='rgb(1,2,3)'/>");
	refused("<use xlink:href='#gpPt4' transform='translate(nan,1) scale(1)' "
	        "color='rgb(1,2,3)'/>");
	refused("<path d='M1,2");
	refused("<path d=M1/>");
	refused("<g>");
	refused("<!-- a comment -->");
}

/* Handlers and styles have no way through, whatever they stand on. */
static void attributes_are_chosen(void **state)
{
	struct buf out;
	struct err err;

	(void)state;
	assert_true(rewrite("<g onload=\"x()\" style=\"fill:red\"><path onclick='x()' style='y' "
	                    "class=\"z\" "
	                    "stroke='rgb(1,2,3)' d='M1,2'/></g>",
	                    &out, &err));
	assert_null(strstr(out.data, "onload"));
	assert_null(strstr(out.data, "onclick"));
	assert_null(strstr(out.data, "style"));
	buf_finish(&out);
}

static void escapes(const char *text, const char *wanted)
{
	struct buf out;

	buf_init(&out, 0);
	html_text(&out, text);
	assert_string_equal(out.data, wanted);
	buf_finish(&out);
}

static void escaping(void **state)
{
	struct buf out;

	(void)state;
	escapes("<a href=\"x\" title='y'>&amp;",
	        "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;");
	escapes("a\tb\nc", "a\tb\nc");
	escapes("\033[31m\001\177", "\ufffd[31m\ufffd\ufffd");
	escapes("a\u202eb\u2066c\ufeff", "a\ufffdb\ufffdc\ufffd");
	escapes("\xff\xc0\xaf\xed\xa0\x80 é", "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd é");
	escapes("\xf0\x9f\x98", "\ufffd\ufffd\ufffd");
	buf_init(&out, 0);
	html_prose(&out, "run `a <b>` and ` alone");
	assert_string_equal(out.data, "run <code>a &lt;b&gt;</code> and ` alone");
	buf_finish(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(shapes),
	        cmocka_unit_test(frame),
	        cmocka_unit_test(markers),
	        cmocka_unit_test(unknown_is_refused),
	        cmocka_unit_test(attributes_are_chosen),
	        cmocka_unit_test(escaping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
