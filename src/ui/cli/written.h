/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ui/cli/opt.h"

#include <stdio.h>
#include <time.h>

/* Tells a person at a terminal which files a verb has written since `began`: "wrote run.html
 * (1.1 MiB)" for each option that names an output. Prints nothing where `out` is no terminal,
 * or with --quiet. */
void wf_cli_tell_written(FILE *out, const struct wf_opt *table, const void *opts, time_t began);
