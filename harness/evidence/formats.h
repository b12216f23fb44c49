/* SPDX-License-Identifier: PostgreSQL */
/* The writers behind the table of export.c, a file each. */
#ifndef KEYLAB_EVIDENCE_FORMATS_H
#define KEYLAB_EVIDENCE_FORMATS_H

#include "evidence/export.h"

export_write export_tap, export_tap14, export_junit, export_csv, export_json, export_md,
        export_github, export_case;

#endif
