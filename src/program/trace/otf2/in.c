/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the definitions of archives with the OTF2 library. No other file does. */
#include "program/trace/otf2/in.h"

#include "base/mem.h"
#include "program/trace/kit/infile.h"

#include <otf2/otf2.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* The library defines the parameters of its callbacks. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* NOLINTBEGIN(readability-function-size,misc-unused-parameters) */

/* An archive that the library has opened. */
struct library {
    OTF2_Reader *reader;
    const char *path;
    char words[128]; /* latest error message of the library */
    struct wf_err *err;
};

enum wf_status wf_otf2_has_library(const char *path, struct wf_err *err)
{
    return WF_OK;
}

/* ---- errors of the library ---- */

/* The archive that a thread reads: the library reports an error without saying where it is. */
static _Thread_local struct library *of_thread;

static OTF2_ErrorCode WF_PRINTF(6, 0)
    on_error(void *arg, const char *file, uint64_t line, const char *function,
             OTF2_ErrorCode code, const char *fmt, va_list args)
{
    struct library *in = of_thread;

    if (in != NULL && fmt != NULL && in->words[0] == '\0') {
        (void)vsnprintf(in->words, sizeof(in->words), fmt, args);
    }
    return code;
}

WF_PRINTF(3, 4)
static void failed(struct library *in, OTF2_ErrorCode code, const char *fmt, ...)
{
    const char *why = code != OTF2_SUCCESS ? OTF2_Error_GetDescription(code) : "";
    char what[160];
    va_list args;

    if (!wf_trace_failed(in->err)) {
        va_start(args, fmt);
        (void)vsnprintf(what, sizeof(what), fmt, args);
        va_end(args);
        (void)wf_err_set(in->err, WF_EINVAL, "%.200s: %s%s%s%s%s", in->path, what,
                         why[0] != '\0' ? ": " : "", why, in->words[0] != '\0' ? ": " : "",
                         in->words);
    }
}

/* ---- definitions ---- */

static OTF2_CallbackCode on_clock(void *arg, uint64_t resolution, uint64_t offset,
                                  uint64_t length, uint64_t realtime)
{
    ((struct wf_otf2_defs *)arg)->resolution = resolution;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *arg, OTF2_StringRef self, const char *text)
{
    wf_otf2_defs_string(arg, self, text);
    return OTF2_CALLBACK_SUCCESS;
}

/* What an accelerator does in a region of this role. Score-P has artificial regions for the
 * time in which a stream is idle. */
static enum wf_otf2_work work_in(OTF2_RegionRole role)
{
    switch (role) {
    case OTF2_REGION_ROLE_DATA_TRANSFER:
    case OTF2_REGION_ROLE_RMA:
        return WF_OTF2_COPY;
    case OTF2_REGION_ROLE_ARTIFICIAL:
    case OTF2_REGION_ROLE_ALLOCATE:
    case OTF2_REGION_ROLE_DEALLOCATE:
    case OTF2_REGION_ROLE_REALLOCATE:
        return WF_OTF2_NO_WORK;
    default:
        return WF_OTF2_KERNEL;
    }
}

static OTF2_CallbackCode on_region(void *arg, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    wf_otf2_defs_region(arg, self, name, paradigm == OTF2_PARADIGM_MPI, work_in(role));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *arg, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t n_events,
                                     OTF2_LocationGroupRef group)
{
    const struct wf_otf2_location location = {
        .id = self,
        .n_events = n_events,
        .group = group,
        .is_thread = type == OTF2_LOCATION_TYPE_CPU_THREAD,
        .is_stream = type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM};

    wf_otf2_defs_location(arg, &location);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location_group(void *arg, OTF2_LocationGroupRef self,
                                           OTF2_StringRef name, OTF2_LocationGroupType type,
                                           OTF2_SystemTreeNodeRef parent,
                                           OTF2_LocationGroupRef creator)
{
    wf_otf2_defs_process(arg, self, creator);
    return OTF2_CALLBACK_SUCCESS;
}

static enum wf_otf2_group_type type_of(OTF2_GroupType type, OTF2_Paradigm paradigm,
                                       OTF2_GroupFlag flags)
{
    if (paradigm != OTF2_PARADIGM_MPI) {
        return WF_OTF2_OTHER_GROUP;
    }
    switch (type) {
    case OTF2_GROUP_TYPE_COMM_LOCATIONS:
        return WF_OTF2_LOCATIONS;
    case OTF2_GROUP_TYPE_COMM_GROUP:
        return (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0 ? WF_OTF2_PLACES : WF_OTF2_RANKS;
    case OTF2_GROUP_TYPE_COMM_SELF:
        return WF_OTF2_SELF;
    default:
        return WF_OTF2_OTHER_GROUP;
    }
}

static OTF2_CallbackCode on_group(void *arg, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm,
                                  OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    const struct wf_otf2_group group = {.id = self,
                                        .type = type_of(type, paradigm, flags),
                                        .n = n,
                                        .members = wf_unconst(members)};

    wf_otf2_defs_group(arg, &group);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *arg, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    wf_otf2_defs_comm(arg, self, group, false);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_intercomm(void *arg, OTF2_CommRef self, OTF2_StringRef name,
                                      OTF2_GroupRef a, OTF2_GroupRef b, OTF2_CommRef common,
                                      OTF2_CommFlag flags)
{
    wf_otf2_defs_comm(arg, self, a, true);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_member(void *arg, OTF2_MetricMemberRef self,
                                          OTF2_StringRef name, OTF2_StringRef description,
                                          OTF2_MetricType type, OTF2_MetricMode mode,
                                          OTF2_Type value, OTF2_Base base, int64_t exponent,
                                          OTF2_StringRef unit)
{
    const struct wf_otf2_metric metric = {
        .id = self,
        .name = name,
        .unit = unit,
        .grows = mode == OTF2_METRIC_ACCUMULATED_START,
        .factor = pow(base == OTF2_BASE_BINARY ? 2 : 10, (double)exponent)};

    wf_otf2_metrics_add(&((struct wf_otf2_defs *)arg)->metrics, &metric);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_class(void *arg, OTF2_MetricRef self, uint8_t n,
                                         const OTF2_MetricMemberRef *members,
                                         OTF2_MetricOccurrence occurrence,
                                         OTF2_RecorderKind kind)
{
    wf_otf2_metrics_add_class(&((struct wf_otf2_defs *)arg)->metrics, self, n, members);
    return OTF2_CALLBACK_SUCCESS;
}

static void read_definitions(struct library *in, struct wf_otf2_defs *defs)
{
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(in->reader);
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
    uint64_t n = 0, expected = 0;

    if (reader == NULL || c == NULL) {
        OTF2_GlobalDefReaderCallbacks_Delete(c);
        failed(in, OTF2_SUCCESS, "the definitions of all ranks cannot be read");
        return;
    }
    (void)OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
    (void)OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
    (void)OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    (void)OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    (void)OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_location_group);
    (void)OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
    (void)OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
    (void)OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, on_intercomm);
    (void)OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, on_metric_member);
    (void)OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, on_metric_class);
    (void)OTF2_Reader_RegisterGlobalDefCallbacks(in->reader, reader, c, defs);
    OTF2_GlobalDefReaderCallbacks_Delete(c);
    OTF2_ErrorCode code = OTF2_Reader_ReadAllGlobalDefinitions(in->reader, reader, &n);
    (void)OTF2_Reader_GetNumberOfGlobalDefinitions(in->reader, &expected);
    if (code != OTF2_SUCCESS || n < expected) {
        failed(in, code,
               "the definitions of all ranks end after %" PRIu64 " of %" PRIu64
               "; truncated or damaged",
               n, expected);
        return;
    }
    wf_otf2_defs_finish(defs, in->path, in->err);
}

/* NOLINTEND(readability-function-size,misc-unused-parameters) */

void wf_otf2_in_read(const char *path, struct wf_otf2_defs *defs, struct wf_err *err)
{
    struct library in = {.path = path, .err = err};

    if (wf_trace_failed(err)) {
        return;
    }
    of_thread = &in;
    (void)OTF2_Error_RegisterCallback(on_error, NULL);
    in.reader = OTF2_Reader_Open(path);
    if (in.reader == NULL) {
        failed(&in, OTF2_SUCCESS,
               "no OTF2 archive that can be read (anchor file of all ranks)");
    } else {
        (void)OTF2_Reader_SetSerialCollectiveCallbacks(in.reader);
        read_definitions(&in, defs);
        (void)OTF2_Reader_Close(in.reader);
    }
    of_thread = NULL;
}
