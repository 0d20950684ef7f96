/* SPDX-License-Identifier: Apache-2.0 */
/* Regions and iterations that the program marks, and the calls that begin and end the
 * recording. */
#include "mpi/capture/inside.h"
#include "mpi/capture/settings.h"

#include <weft/mark.h>

#include <stdarg.h>
#include <string.h>

enum { REGIONS = 1 << 16 };

/* All ranks must give a region the same number, whichever regions they have met before, so the
 * number is a hash of the name. Two names with the same hash become one region. */
static uint32_t region_number(const char *name)
{
    static bool named[REGIONS];
    uint32_t digest = UINT32_C(2166136261);

    for (const char *c = name; *c != '\0'; c++) {
        digest = (digest ^ (unsigned char)*c) * UINT32_C(16777619);
    }
    uint32_t number = (digest ^ digest >> 16) % REGIONS;
    if (!named[number] && !wf_cap.is_dead) {
        named[number] = true;
        wf_cap_record_region(number, name);
    }
    return number;
}

static void emit_marker(enum wf_op_kind kind, uint32_t number)
{
    const struct wf_op op = {.kind = kind, .tag = (int32_t)number};

    wf_cap_emit(&op, 0);
}

static bool is_of_interest(const char *name)
{
    return wf_cap.region != NULL && name != NULL && strcmp(wf_cap.region, name) == 0;
}

static void region_begin(const char *name)
{
    if (is_of_interest(name)) {
        wf_cap.region_depth++;
        wf_cap.emits = !wf_cap.is_dead;
    }
    emit_marker(WF_OP_REGION_BEGIN, region_number(name));
}

static void region_end(const char *name)
{
    emit_marker(WF_OP_REGION_END, region_number(name));
    if (is_of_interest(name) && wf_cap.region_depth > 0 && --wf_cap.region_depth == 0) {
        wf_cap.emits = false;
    }
}

/* Handles the levels of MPI_Pcontrol that weft/mark.h does not use. If the user asked for it,
 * 0 and 1 switch the recording off and on. Otherwise n > 0 begins region n, and 0 or -n ends
 * it. */
static void pcontrol(int value)
{
    static int inside;
    char name[32] = "pcontrol ";
    char digits[12];
    int n = 0, number = value > 0 ? value : value < 0 ? -value : inside;

    if (wf_cap.waits_for_pcontrol) {
        wf_cap.emits = value != 0 && !wf_cap.is_dead;
        return;
    }
    if (number <= 0) {
        return;
    }
    for (int rest = number; rest > 0; rest /= 10) {
        digits[n++] = (char)('0' + rest % 10);
    }
    for (int i = 0; i < n; i++) {
        name[9 + i] = digits[n - 1 - i];
    }
    name[9 + n] = '\0';
    if (value > 0) {
        inside = number;
        region_begin(name);
    } else {
        inside = 0;
        region_end(name);
    }
}

static void mark(int value, const char *name)
{
    struct wf_cap_call call;

    if (!wf_cap_enter(&call)) {
        return;
    }
    (void)wf_cap_returned(&call, MPI_SUCCESS);
    switch (value) {
    case WEFT_MARK_REGION_BEGIN:
        region_begin(name != NULL ? name : "");
        break;
    case WEFT_MARK_REGION_END:
        region_end(name != NULL ? name : "");
        break;
    case WEFT_MARK_ITERATION_BEGIN:
        emit_marker(WF_OP_ITERATION_BEGIN, 0);
        break;
    case WEFT_MARK_ITERATION_END:
        emit_marker(WF_OP_ITERATION_END, 0);
        break;
    default:
        pcontrol(value);
        break;
    }
    wf_cap_leave(&call);
}

/* ---- functions that the program calls ---- */

WF_EXPORT int MPI_Pcontrol(const int level, ...)
{
    const char *name = NULL;
    va_list args;

    va_start(args, level);
    if (level == WEFT_MARK_REGION_BEGIN || level == WEFT_MARK_REGION_END) {
        name = va_arg(args, const char *);
    }
    va_end(args);
    mark(level, name);
    return MPI_SUCCESS;
}

WF_EXPORT int MPI_Init(int *argc, char ***argv)
{
    wf_cap_need_mpi();
    int rc = PMPI_Init(argc, argv);

    if (rc == MPI_SUCCESS) {
        wf_cap_begin(MPI_THREAD_SINGLE);
    }
    return rc;
}

WF_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    wf_cap_need_mpi();
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    if (rc == MPI_SUCCESS) {
        wf_cap_begin(*provided);
    }
    return rc;
}

WF_EXPORT int MPI_Finalize(void)
{
    wf_cap_end();
    return PMPI_Finalize();
}

WF_EXPORT int MPI_Abort(MPI_Comm comm, int code)
{
    wf_cap_break_off();
    return PMPI_Abort(comm, code);
}
