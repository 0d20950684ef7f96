/* SPDX-License-Identifier: Apache-2.0 */
/* Writes archives with the OTF2 library. No other file does. */
#include "program/trace/otf2/out.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "program/trace/otf2/anchor.h"

#include <otf2/otf2.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MPI_LOCATIONS = 0, FIRST_GROUP = 1 }; /* numbers of groups */
enum { PROGRAM_NAME = 0 };                   /* number of a string */

struct region {
    char *name;
    bool is_mpi;
};

struct comm {
    uint64_t *ranks;
    uint32_t n;
};

/* The name of a rank (or null) and its node. */
struct place {
    char *name;
    uint64_t node;
};

struct marker {
    uint64_t time;
    char *text;
};

struct wf_otf2_out {
    OTF2_Archive *archive;
    OTF2_EvtWriter *events; /* writer of the present rank, or null */
    char *directory, *name;
    uint32_t n_ranks, rank;
    struct region *regions;
    struct comm *comms;
    uint32_t n_regions, n_comms;
    uint64_t *n_events; /* per rank */
    uint64_t last;      /* time of the latest event */
    uint64_t id;        /* id of the archive: a digest of its events */
    struct place *places;
    struct marker *markers;
    uint32_t n_markers;
    uint32_t n_strings, n_nodes;
    OTF2_ErrorCode code; /* the first error... */
    int why;             /* ...and errno then */
};

/* The time of the first event. It is not 0, which the library takes for no time: it would write
 * it with every event, and could not read a file with more than one chunk of such events. */
#define FIRST_TIME UINT64_C(1)

static void keep(struct wf_otf2_out *out, OTF2_ErrorCode code)
{
    if (out->code == OTF2_SUCCESS && code != OTF2_SUCCESS) {
        out->code = code;
        out->why = errno;
    }
}

/* The library defines the parameters of its callbacks. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* NOLINTBEGIN(readability-function-size,misc-unused-parameters) */

static OTF2_FlushType before_flush(void *arg, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    return OTF2_FLUSH;
}

/* Prints nothing, and notes the error: some calls that write succeed in spite of it. */
static OTF2_ErrorCode on_error(void *arg, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *fmt, va_list args)
{
    if (arg != NULL) {
        keep(arg, code);
    }
    return code;
}

/* NOLINTEND(readability-function-size,misc-unused-parameters) */
#pragma GCC diagnostic pop

static enum wf_status failed(const struct wf_otf2_out *out, struct wf_err *err)
{
    /* The library calls a full disk a lack of structural integrity. */
    bool full = out->why == ENOSPC || out->why == EDQUOT || out->why == EFBIG;

    return wf_err_set(err, WF_EIO, "cannot write '%.300s': %s", out->name,
                      full                        ? strerror(out->why)
                      : out->code != OTF2_SUCCESS ? OTF2_Error_GetDescription(out->code)
                                                  : "the OTF2 library cannot make an archive");
}

static void release(struct wf_otf2_out *out)
{
    (void)OTF2_Error_RegisterCallback(on_error, NULL);
    for (uint32_t i = 0; i < out->n_regions; i++) {
        free(out->regions[i].name);
    }
    for (uint32_t i = 0; i < out->n_comms; i++) {
        free(out->comms[i].ranks);
    }
    for (uint32_t i = 0; i < out->n_ranks && out->places != NULL; i++) {
        free(out->places[i].name);
    }
    for (uint32_t i = 0; i < out->n_markers; i++) {
        free(out->markers[i].text);
    }
    free(out->places);
    free(out->markers);
    free(out->regions);
    free(out->comms);
    free(out->n_events);
    free(out->directory);
    free(out->name);
    free(out);
}

enum wf_status wf_otf2_has_library(struct wf_err *err)
{
    (void)err;
    return WF_OK;
}

enum wf_status wf_otf2_out_open(const char *directory, const char *name, uint32_t n_ranks,
                                const char *creator, struct wf_otf2_out **result,
                                struct wf_err *err)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
    struct wf_otf2_out *out = wf_xcalloc(1, sizeof(*out));

    out->directory = wf_xstrdup(directory);
    out->name = wf_xstrdup(name);
    out->n_ranks = n_ranks;
    out->n_events = wf_xcalloc(n_ranks, sizeof(*out->n_events));
    (void)OTF2_Error_RegisterCallback(on_error, out);
    out->archive = OTF2_Archive_Open(
        directory, WF_OTF2_NAME, OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (out->archive == NULL) {
        enum wf_status status = failed(out, err);
        release(out);
        return status;
    }
    keep(out, OTF2_Archive_SetFlushCallbacks(out->archive, &flush, NULL));
    keep(out, OTF2_Archive_SetSerialCollectiveCallbacks(out->archive));
    keep(out, OTF2_Archive_SetCreator(out->archive, creator != NULL ? creator : "weft"));
    keep(out, OTF2_Archive_OpenEvtFiles(out->archive));
    uint32_t *all = wf_xmalloc((size_t)n_ranks * sizeof(*all));
    for (uint32_t i = 0; i < n_ranks; i++) {
        all[i] = i;
    }
    (void)wf_otf2_out_comm(out, all, n_ranks);
    free(all);
    *result = out;
    return WF_OK;
}

uint32_t wf_otf2_out_region(struct wf_otf2_out *out, const char *name, bool is_mpi)
{
    out->regions = wf_xrealloc(out->regions, (size_t)out->n_regions + 1, sizeof(*out->regions));
    out->regions[out->n_regions] = (struct region){wf_xstrdup(name), is_mpi};
    return out->n_regions++;
}

uint32_t wf_otf2_out_comm(struct wf_otf2_out *out, const uint32_t *ranks, uint32_t n)
{
    uint64_t *copy = wf_xmalloc((size_t)n * sizeof(*copy));

    for (uint32_t i = 0; i < n; i++) {
        copy[i] = ranks[i];
    }
    out->comms = wf_xrealloc(out->comms, (size_t)out->n_comms + 1, sizeof(*out->comms));
    out->comms[out->n_comms] = (struct comm){copy, n};
    return out->n_comms++;
}

void wf_otf2_out_place(struct wf_otf2_out *out, uint32_t rank, const char *name, uint64_t node)
{
    if (out->places == NULL) {
        out->places = wf_xcalloc(out->n_ranks, sizeof(*out->places));
    }
    free(out->places[rank].name);
    out->places[rank] = (struct place){wf_xstrdup(name), node};
}

void wf_otf2_out_marker(struct wf_otf2_out *out, uint64_t time, const char *text)
{
    out->markers = wf_xrealloc(out->markers, (size_t)out->n_markers + 1, sizeof(*out->markers));
    out->markers[out->n_markers++] = (struct marker){time, wf_xstrdup(text)};
    out->last = time > out->last ? time : out->last;
}

/* ---- events ---- */

static void close_rank(struct wf_otf2_out *out)
{
    if (out->events != NULL) {
        keep(out, OTF2_EvtWriter_GetNumberOfEvents(out->events, &out->n_events[out->rank]));
        keep(out, OTF2_Archive_CloseEvtWriter(out->archive, out->events));
        out->events = NULL;
    }
}

void wf_otf2_out_rank(struct wf_otf2_out *out, uint32_t rank)
{
    (void)OTF2_Error_RegisterCallback(on_error, out); /* a reader may have changed it */
    close_rank(out);
    out->rank = rank;
    out->events = OTF2_Archive_GetEvtWriter(out->archive, rank);
    keep(out, out->events != NULL ? OTF2_SUCCESS : OTF2_ERROR_FILE_CAN_NOT_OPEN);
}

static OTF2_ErrorCode put(OTF2_EvtWriter *writer, const struct wf_otf2_event *e)
{
    OTF2_CollectiveOp op = (OTF2_CollectiveOp)e->region;

    switch (e->kind) {
    case WF_OTF2_ENTER:
        return OTF2_EvtWriter_Enter(writer, NULL, e->time, e->region);
    case WF_OTF2_LEAVE:
        return OTF2_EvtWriter_Leave(writer, NULL, e->time, e->region);
    case WF_OTF2_SEND:
        return OTF2_EvtWriter_MpiSend(writer, NULL, e->time, e->peer, e->comm, e->tag,
                                      e->bytes);
    case WF_OTF2_ISEND:
        return OTF2_EvtWriter_MpiIsend(writer, NULL, e->time, e->peer, e->comm, e->tag,
                                       e->bytes, e->request);
    case WF_OTF2_ISEND_COMPLETE:
        return OTF2_EvtWriter_MpiIsendComplete(writer, NULL, e->time, e->request);
    case WF_OTF2_IRECV_REQUEST:
        return OTF2_EvtWriter_MpiIrecvRequest(writer, NULL, e->time, e->request);
    case WF_OTF2_RECV:
        return OTF2_EvtWriter_MpiRecv(writer, NULL, e->time, e->peer, e->comm, e->tag,
                                      e->bytes);
    case WF_OTF2_IRECV:
        return OTF2_EvtWriter_MpiIrecv(writer, NULL, e->time, e->peer, e->comm, e->tag,
                                       e->bytes, e->request);
    case WF_OTF2_COLL_BEGIN:
        return OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, e->time);
    case WF_OTF2_COLL_END:
        return OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, e->time, op, e->comm, e->peer,
                                               e->bytes, e->received);
    case WF_OTF2_ICOLL_REQUEST:
        return OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, NULL, e->time, e->request);
    case WF_OTF2_ICOLL_COMPLETE:
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(
            writer, NULL, e->time, op, e->comm, e->peer, e->bytes, e->received, e->request);
    case WF_OTF2_PROGRAM_BEGIN:
        return OTF2_EvtWriter_ProgramBegin(writer, NULL, e->time, PROGRAM_NAME, 0, NULL);
    case WF_OTF2_PROGRAM_END:
        return OTF2_EvtWriter_ProgramEnd(writer, NULL, e->time, 0);
    case WF_OTF2_ON_OFF:
    case WF_OTF2_FLUSH:
    case WF_OTF2_REQUEST_TEST:
    case WF_OTF2_REQUEST_CANCELLED:
    case WF_OTF2_METRIC:
    case WF_OTF2_RMA_PUT:
    case WF_OTF2_RMA_GET:
    case WF_OTF2_RMA_COMPLETE:
    case WF_OTF2_OTHER:
    case WF_OTF2_KINDS:
        break;
    }
    return OTF2_SUCCESS;
}

void wf_otf2_out_event(struct wf_otf2_out *out, const struct wf_otf2_event *event)
{
    struct wf_otf2_event later = *event;

    later.time += FIRST_TIME;
    if (out->events != NULL) {
        keep(out, put(out->events, &later));
        out->last = event->time > out->last ? event->time : out->last;
        out->id = wf_rng_mix(out->id ^ event->time) + event->kind + event->bytes;
    }
}

/* ---- definitions ---- */

static uint32_t put_string(struct wf_otf2_out *out, OTF2_GlobalDefWriter *defs,
                           const char *text)
{
    keep(out, OTF2_GlobalDefWriter_WriteString(defs, out->n_strings, text));
    return out->n_strings++;
}

/* Writes the node of a rank as a child of the machine, unless the rank before is on it too.
 * Returns the node's number. */
static uint32_t put_node(struct wf_otf2_out *out, OTF2_GlobalDefWriter *defs, uint32_t rank,
                         uint32_t machine)
{
    uint64_t node = out->places[rank].node;
    char name[40];

    if (rank == 0 || out->places[rank - 1].node != node) {
        (void)snprintf(name, sizeof(name), "node %" PRIu64, node);
        uint32_t string = put_string(out, defs, name);
        keep(out, OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, ++out->n_nodes, string,
                                                           machine, 0));
    }
    return out->n_nodes;
}

static void put_places(struct wf_otf2_out *out, OTF2_GlobalDefWriter *defs)
{
    uint32_t machine = put_string(out, defs, "machine");
    uint32_t thread = put_string(out, defs, "Master thread");
    char name[32];

    keep(out, OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, machine, machine,
                                                       OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t rank = 0; rank < out->n_ranks; rank++) {
        const char *called = out->places != NULL ? out->places[rank].name : NULL;
        uint32_t node = called != NULL ? put_node(out, defs, rank, machine) : 0;

        (void)snprintf(name, sizeof(name), "MPI Rank %" PRIu32, rank);
        uint32_t string = put_string(out, defs, called != NULL ? called : name);
        keep(out, OTF2_GlobalDefWriter_WriteLocationGroup(defs, rank, string,
                                                          OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                          node, OTF2_UNDEFINED_LOCATION_GROUP));
        keep(out, OTF2_GlobalDefWriter_WriteLocation(defs, rank, thread,
                                                     OTF2_LOCATION_TYPE_CPU_THREAD,
                                                     out->n_events[rank], rank));
    }
}

static void put_markers(struct wf_otf2_out *out)
{
    OTF2_MarkerWriter *writer =
        out->n_markers > 0 ? OTF2_Archive_GetMarkerWriter(out->archive) : NULL;

    if (writer == NULL) {
        return;
    }
    keep(out,
         OTF2_MarkerWriter_WriteDefMarker(writer, 0, "weft", "iteration", OTF2_SEVERITY_NONE));
    for (uint32_t i = 0; i < out->n_markers; i++) {
        keep(out,
             OTF2_MarkerWriter_WriteMarker(writer, out->markers[i].time + FIRST_TIME, 0, 0,
                                           OTF2_MARKER_SCOPE_GLOBAL, 0, out->markers[i].text));
    }
    keep(out, OTF2_Archive_CloseMarkerWriter(out->archive, writer));
}

static void put_comms(struct wf_otf2_out *out, OTF2_GlobalDefWriter *defs, uint32_t empty)
{
    uint32_t world = put_string(out, defs, "MPI_COMM_WORLD");

    /* The number of a location is its rank, so that one list serves both. */
    keep(out, OTF2_GlobalDefWriter_WriteGroup(
                  defs, MPI_LOCATIONS, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                  OTF2_GROUP_FLAG_NONE, out->comms[0].n, out->comms[0].ranks));
    for (uint32_t i = 0; i < out->n_comms; i++) {
        keep(out, OTF2_GlobalDefWriter_WriteGroup(defs, FIRST_GROUP + i, empty,
                                                  OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                                  OTF2_GROUP_FLAG_NONE, out->comms[i].n,
                                                  out->comms[i].ranks));
        keep(out,
             OTF2_GlobalDefWriter_WriteComm(defs, i, i == 0 ? world : empty, FIRST_GROUP + i,
                                            OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
}

static void put_definitions(struct wf_otf2_out *out, OTF2_GlobalDefWriter *defs)
{
    keep(out,
         OTF2_GlobalDefWriter_WriteClockProperties(defs, UINT64_C(1000000000000), FIRST_TIME,
                                                   out->last + 1, OTF2_UNDEFINED_TIMESTAMP));
    (void)put_string(out, defs, "program");
    uint32_t empty = put_string(out, defs, "");
    for (uint32_t i = 0; i < out->n_regions; i++) {
        uint32_t name = put_string(out, defs, out->regions[i].name);
        keep(out, OTF2_GlobalDefWriter_WriteRegion(
                      defs, i, name, name, empty, OTF2_REGION_ROLE_FUNCTION,
                      out->regions[i].is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                      OTF2_REGION_FLAG_NONE, empty, 0, 0));
    }
    put_places(out, defs);
    put_comms(out, defs, empty);
}

static void put_local(struct wf_otf2_out *out)
{
    keep(out, OTF2_Archive_OpenDefFiles(out->archive));
    for (uint32_t rank = 0; rank < out->n_ranks; rank++) {
        OTF2_DefWriter *defs = OTF2_Archive_GetDefWriter(out->archive, rank);
        keep(out, defs != NULL ? OTF2_Archive_CloseDefWriter(out->archive, defs)
                               : OTF2_ERROR_FILE_CAN_NOT_OPEN);
    }
    keep(out, OTF2_Archive_CloseDefFiles(out->archive));
}

static enum wf_status set_id(const struct wf_otf2_out *out, struct wf_err *err)
{
    char *anchor = wf_text_make("%s/" WF_OTF2_NAME ".otf2", out->directory);
    enum wf_status status = wf_otf2_set_id(anchor, out->id, err);
    free(anchor);
    return status;
}

enum wf_status wf_otf2_out_finish(struct wf_otf2_out *out, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    (void)OTF2_Error_RegisterCallback(on_error, out);
    close_rank(out);
    keep(out, OTF2_Archive_CloseEvtFiles(out->archive));
    put_local(out);
    OTF2_GlobalDefWriter *defs = OTF2_Archive_GetGlobalDefWriter(out->archive);
    if (defs != NULL) {
        put_definitions(out, defs);
        keep(out, OTF2_Archive_CloseGlobalDefWriter(out->archive, defs));
    }
    keep(out, defs != NULL ? OTF2_SUCCESS : OTF2_ERROR_FILE_CAN_NOT_OPEN);
    put_markers(out);
    keep(out, OTF2_Archive_Close(out->archive));
    if (out->code != OTF2_SUCCESS) {
        status = failed(out, err);
    } else {
        status = set_id(out, err);
    }
    release(out);
    return status;
}

void wf_otf2_out_discard(struct wf_otf2_out *out)
{
    if (out != NULL) {
        close_rank(out);
        (void)OTF2_Archive_CloseEvtFiles(out->archive);
        (void)OTF2_Archive_Close(out->archive);
        release(out);
    }
}
