/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tool interface, MPI_T (MPI-4.0, 15). Control variables tell how the program was started;
 * they cannot be set. Performance variables are counted for each rank. There are no events; the
 * only event source is the simulated time.
 */
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rank's use of the interface. Allocated by MPI_T_init_thread(). */
struct wl_tool {
    int n_inits;
    struct wl_table cvars, sessions, pvars;
};

/* The handle of a control variable. */
struct cvar_handle {
    int index;
};

struct session {
    int n_handles;
};

/* The handle of a performance variable in a session. */
struct pvar_handle {
    int index;
    MPI_T_pvar_session session;
    bool runs;
    uint64_t base;  /* the variable's value when it was started or reset */
    uint64_t value; /* counted before it was stopped */
};

/* ---- variables ---- */

static uint64_t get_n_ranks(const struct wl_rank *rank)
{
    return wl.n_ranks;
}

static uint64_t get_payload_max(const struct wl_rank *rank)
{
    return wl.port->payload_max;
}

static uint64_t get_checks_data(const struct wl_rank *rank)
{
    return wl.port->checks_data;
}

static uint64_t get_node(const struct wl_rank *rank)
{
    return wl.port->node(rank->self, rank->self->rank);
}

struct variable {
    const char *name, *text;
    uint64_t (*get)(const struct wl_rank *rank);
    int var_class; /* of a performance variable */
    bool counts;   /* it can be started, stopped and reset */
};

static const struct variable cvars[] = {
    {.name = "weft_ranks", .text = "ranks of the program", .get = get_n_ranks},
    {.name = "weft_node", .text = "the simulated node of this rank", .get = get_node},
    {.name = "weft_payload_max",
     .text = "data of more bytes need not arrive",
     .get = get_payload_max},
    {.name = "weft_checks_data",
     .text = "1 if the run checks that data does not change on its way",
     .get = get_checks_data},
};

static uint64_t get_messages(const struct wl_rank *rank)
{
    return rank->n_sent;
}

static uint64_t get_bytes(const struct wl_rank *rank)
{
    return rank->n_sent_bytes;
}

static uint64_t get_receives(const struct wl_rank *rank)
{
    uint64_t n = 0;

    for (const struct wl_recv *at = rank->first_recv; at != NULL; at = at->next) {
        n++;
    }
    return n;
}

static uint64_t get_requests(const struct wl_rank *rank)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < wl_table_n(&rank->requests); i++) {
        n += wl_table_at(&rank->requests, i) != NULL;
    }
    return n;
}

static const struct variable pvars[] = {
    {"weft_messages_sent", "point-to-point messages that the rank has sent", get_messages,
     MPI_T_PVAR_CLASS_COUNTER, true},
    {"weft_bytes_sent", "bytes of these messages", get_bytes, MPI_T_PVAR_CLASS_COUNTER, true},
    {"weft_posted_receives", "receives that no message has matched or completed", get_receives,
     MPI_T_PVAR_CLASS_LEVEL, false},
    {"weft_requests", "requests that the program has not completed or freed", get_requests,
     MPI_T_PVAR_CLASS_LEVEL, false},
};

enum {
    N_CVARS = sizeof(cvars) / sizeof(cvars[0]),
    N_PVARS = sizeof(pvars) / sizeof(pvars[0]),
};

/* ---- beginning and end ---- */

bool wl_tool_is_initialized(const struct wl_rank *rank)
{
    return rank->tool != NULL && rank->tool->n_inits > 0;
}

int wl_MPI_T_init_thread(struct wl_rank *rank, int required, int *provided)
{
    if (rank->tool == NULL) {
        rank->tool = wl_calloc(1, sizeof(*rank->tool));
    }
    rank->tool->n_inits++;
    *provided = wl_thread_level(required);
    return MPI_SUCCESS;
}

static void free_items(struct wl_table *table)
{
    for (uint32_t i = 0; i < wl_table_n(table); i++) {
        free(wl_table_at(table, i));
    }
    wl_table_fini(table);
}

void wl_tool_free(struct wl_rank *rank)
{
    if (rank->tool != NULL) {
        free_items(&rank->tool->cvars);
        free_items(&rank->tool->sessions);
        free_items(&rank->tool->pvars);
        free(rank->tool);
        rank->tool = NULL;
    }
}

int wl_MPI_T_finalize(struct wl_rank *rank)
{
    rank->tool->n_inits--;
    return MPI_SUCCESS;
}

/* ---- what variables there are ---- */

/* *length counts the byte that ends the string, and becomes what the whole text needs. */
static void put_text(const char *text, char *to, int *length)
{
    if (length == NULL) {
        return;
    }
    if (to != NULL && *length > 0) {
        (void)snprintf(to, (size_t)*length, "%s", text);
    }
    *length = (int)strlen(text) + 1;
}

static void put(int *to, int value)
{
    if (to != NULL) {
        *to = value;
    }
}

static int find_name(const struct variable *list, int n, const char *name)
{
    int i = 0;

    while (i < n && strcmp(list[i].name, name) != 0) {
        i++;
    }
    return i;
}

int wl_MPI_T_cvar_get_num(struct wl_rank *rank, int *num)
{
    *num = N_CVARS;
    return MPI_SUCCESS;
}

int wl_MPI_T_cvar_get_info(struct wl_rank *rank, int index, char *name, int *name_len,
                           int *verbosity, MPI_Datatype *datatype, MPI_T_enum *enumtype,
                           char *desc, int *desc_len, int *bind, int *scope)
{
    if (index < 0 || index >= N_CVARS) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    put_text(cvars[index].name, name, name_len);
    put_text(cvars[index].text, desc, desc_len);
    put(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    put(datatype, MPI_UNSIGNED_LONG_LONG);
    put(enumtype, MPI_T_ENUM_NULL);
    put(bind, MPI_T_BIND_NO_OBJECT);
    put(scope, MPI_T_SCOPE_CONSTANT);
    return MPI_SUCCESS;
}

int wl_MPI_T_cvar_get_index(struct wl_rank *rank, const char *name, int *index)
{
    if (name == NULL || index == NULL) {
        return MPI_T_ERR_INVALID;
    }
    *index = find_name(cvars, N_CVARS, name);
    return *index < N_CVARS ? MPI_SUCCESS : MPI_T_ERR_INVALID_NAME;
}

int wl_MPI_T_pvar_get_num(struct wl_rank *rank, int *num)
{
    *num = N_PVARS;
    return MPI_SUCCESS;
}

int wl_MPI_T_pvar_get_info(struct wl_rank *rank, int index, char *name, int *name_len,
                           int *verbosity, int *varclass, MPI_Datatype *datatype,
                           MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
                           int *readonly, int *continuous, int *atomic)
{
    if (index < 0 || index >= N_PVARS) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    put_text(pvars[index].name, name, name_len);
    put_text(pvars[index].text, desc, desc_len);
    put(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    put(varclass, pvars[index].var_class);
    put(datatype, MPI_UNSIGNED_LONG_LONG);
    put(enumtype, MPI_T_ENUM_NULL);
    put(bind, MPI_T_BIND_NO_OBJECT);
    put(readonly, !pvars[index].counts);
    put(continuous, !pvars[index].counts);
    put(atomic, 0);
    return MPI_SUCCESS;
}

int wl_MPI_T_pvar_get_index(struct wl_rank *rank, const char *name, int varclass, int *index)
{
    if (name == NULL || index == NULL) {
        return MPI_T_ERR_INVALID;
    }
    *index = find_name(pvars, N_PVARS, name);
    return *index < N_PVARS && pvars[*index].var_class == varclass ? MPI_SUCCESS
                                                                   : MPI_T_ERR_INVALID_NAME;
}

/* ---- control variables ---- */

int wl_MPI_T_cvar_handle_alloc(struct wl_rank *rank, int index, void *obj_handle,
                               MPI_T_cvar_handle *handle, int *count)
{
    if (index < 0 || index >= N_CVARS) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    struct cvar_handle *created = wl_malloc(sizeof(*created));
    created->index = index;
    *handle = wl_table_add(&rank->tool->cvars, WL_TOOL_CVAR, created);
    *count = 1;
    return MPI_SUCCESS;
}

int wl_MPI_T_cvar_handle_free(struct wl_rank *rank, MPI_T_cvar_handle *handle)
{
    struct cvar_handle *own = wl_table_take(&rank->tool->cvars, WL_TOOL_CVAR, *handle);
    if (own == NULL) {
        return MPI_T_ERR_INVALID_HANDLE;
    }
    free(own);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

static int put_value(void *buf, uint64_t value)
{
    unsigned long long out = value;

    memcpy(buf, &out, sizeof(out));
    return MPI_SUCCESS;
}

int wl_MPI_T_cvar_read(struct wl_rank *rank, MPI_T_cvar_handle handle, void *buf)
{
    const struct cvar_handle *own = wl_table_get(&rank->tool->cvars, WL_TOOL_CVAR, handle);

    return own != NULL ? put_value(buf, cvars[own->index].get(rank)) : MPI_T_ERR_INVALID_HANDLE;
}

int wl_MPI_T_cvar_write(struct wl_rank *rank, MPI_T_cvar_handle handle, const void *buf)
{
    return wl_table_get(&rank->tool->cvars, WL_TOOL_CVAR, handle) != NULL
               ? MPI_T_ERR_CVAR_SET_NEVER
               : MPI_T_ERR_INVALID_HANDLE;
}

/* ---- performance variables ---- */

int wl_MPI_T_pvar_session_create(struct wl_rank *rank, MPI_T_pvar_session *session)
{
    *session = wl_table_add(&rank->tool->sessions, WL_TOOL_SESSION,
                            wl_calloc(1, sizeof(struct session)));
    return MPI_SUCCESS;
}

int wl_MPI_T_pvar_session_free(struct wl_rank *rank, MPI_T_pvar_session *session)
{
    struct session *own = wl_table_take(&rank->tool->sessions, WL_TOOL_SESSION, *session);
    if (own == NULL) {
        return MPI_T_ERR_INVALID_SESSION;
    }
    free(own);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

int wl_MPI_T_pvar_handle_alloc(struct wl_rank *rank, MPI_T_pvar_session session, int index,
                               void *obj_handle, MPI_T_pvar_handle *handle, int *count)
{
    if (wl_table_get(&rank->tool->sessions, WL_TOOL_SESSION, session) == NULL) {
        return MPI_T_ERR_INVALID_SESSION;
    }
    if (index < 0 || index >= N_PVARS) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    struct pvar_handle *created = wl_calloc(1, sizeof(*created));
    *created = (struct pvar_handle){.index = index, .session = session};
    *handle = wl_table_add(&rank->tool->pvars, WL_TOOL_PVAR, created);
    *count = 1;
    return MPI_SUCCESS;
}

/* Finds a handle in its session. Returns the error if there is none. */
static int find_handle(const struct wl_rank *rank, MPI_T_pvar_session session,
                       MPI_T_pvar_handle handle, struct pvar_handle **out)
{
    *out = wl_table_get(&rank->tool->pvars, WL_TOOL_PVAR, handle);
    if (wl_table_get(&rank->tool->sessions, WL_TOOL_SESSION, session) == NULL) {
        return MPI_T_ERR_INVALID_SESSION;
    }
    return *out != NULL && (*out)->session == session ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int wl_MPI_T_pvar_handle_free(struct wl_rank *rank, MPI_T_pvar_session session,
                              MPI_T_pvar_handle *handle)
{
    struct pvar_handle *own;
    int code = find_handle(rank, session, *handle, &own);

    if (code == MPI_SUCCESS) {
        free(wl_table_take(&rank->tool->pvars, WL_TOOL_PVAR, *handle));
        *handle = MPI_T_PVAR_HANDLE_NULL;
    }
    return code;
}

static uint64_t value_of(const struct wl_rank *rank, const struct pvar_handle *own)
{
    const struct variable *variable = &pvars[own->index];

    if (!variable->counts) {
        return variable->get(rank);
    }
    return own->value + (own->runs ? variable->get(rank) - own->base : 0);
}

/* What the functions do with a handle, for one or for all of a session. */
static int start(const struct wl_rank *rank, struct pvar_handle *own)
{
    if (!pvars[own->index].counts) {
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    }
    if (!own->runs) {
        own->base = pvars[own->index].get(rank);
        own->runs = true;
    }
    return MPI_SUCCESS;
}

static int stop(const struct wl_rank *rank, struct pvar_handle *own)
{
    if (!pvars[own->index].counts) {
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    }
    own->value = value_of(rank, own);
    own->runs = false;
    return MPI_SUCCESS;
}

static int reset(const struct wl_rank *rank, struct pvar_handle *own)
{
    if (!pvars[own->index].counts) {
        return MPI_T_ERR_PVAR_NO_WRITE;
    }
    own->value = 0;
    own->base = pvars[own->index].get(rank);
    return MPI_SUCCESS;
}

static int apply(struct wl_rank *rank, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                 int (*action)(const struct wl_rank *rank, struct pvar_handle *own))
{
    struct pvar_handle *own;

    if (handle != MPI_T_PVAR_ALL_HANDLES) {
        int code = find_handle(rank, session, handle, &own);
        return code == MPI_SUCCESS ? action(rank, own) : code;
    }
    for (uint32_t i = 0; i < wl_table_n(&rank->tool->pvars); i++) {
        own = wl_table_at(&rank->tool->pvars, i);
        if (own != NULL && own->session == session) {
            (void)action(rank, own); /* those that cannot are left out */
        }
    }
    return MPI_SUCCESS;
}

int wl_MPI_T_pvar_start(struct wl_rank *rank, MPI_T_pvar_session session,
                        MPI_T_pvar_handle handle)
{
    return apply(rank, session, handle, start);
}

int wl_MPI_T_pvar_stop(struct wl_rank *rank, MPI_T_pvar_session session,
                       MPI_T_pvar_handle handle)
{
    return apply(rank, session, handle, stop);
}

int wl_MPI_T_pvar_reset(struct wl_rank *rank, MPI_T_pvar_session session,
                        MPI_T_pvar_handle handle)
{
    return apply(rank, session, handle, reset);
}

int wl_MPI_T_pvar_read(struct wl_rank *rank, MPI_T_pvar_session session,
                       MPI_T_pvar_handle handle, void *buf)
{
    struct pvar_handle *own;
    int code = find_handle(rank, session, handle, &own);

    return code == MPI_SUCCESS ? put_value(buf, value_of(rank, own)) : code;
}

int wl_MPI_T_pvar_write(struct wl_rank *rank, MPI_T_pvar_session session,
                        MPI_T_pvar_handle handle, const void *buf)
{
    struct pvar_handle *own;
    int code = find_handle(rank, session, handle, &own);
    unsigned long long value;

    if (code == MPI_SUCCESS) {
        code = reset(rank, own);
    }
    if (code == MPI_SUCCESS) {
        memcpy(&value, buf, sizeof(value));
        own->value = value;
    }
    return code;
}

int wl_MPI_T_pvar_readreset(struct wl_rank *rank, MPI_T_pvar_session session,
                            MPI_T_pvar_handle handle, void *buf)
{
    struct pvar_handle *own;
    int code = find_handle(rank, session, handle, &own);

    if (code == MPI_SUCCESS) {
        (void)put_value(buf, value_of(rank, own));
        code = reset(rank, own);
    }
    return code;
}

/* ---- categories: one, of all variables ---- */

int wl_MPI_T_category_get_info(struct wl_rank *rank, int index, char *name, int *name_len,
                               char *desc, int *desc_len, int *num_cvars, int *num_pvars,
                               int *num_categories)
{
    if (index != 0) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    put_text("weft", name, name_len);
    put_text("the simulated run", desc, desc_len);
    put(num_cvars, N_CVARS);
    put(num_pvars, N_PVARS);
    put(num_categories, 0);
    return MPI_SUCCESS;
}

int wl_MPI_T_category_get_index(struct wl_rank *rank, const char *name, int *index)
{
    if (name == NULL || index == NULL) {
        return MPI_T_ERR_INVALID;
    }
    *index = 0;
    return strcmp(name, "weft") == 0 ? MPI_SUCCESS : MPI_T_ERR_INVALID_NAME;
}

static int list(const struct wl_rank *rank, int index, int n, int len, int *indices)
{
    if (index != 0) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    for (int i = 0; i < n && i < len; i++) {
        indices[i] = i;
    }
    return MPI_SUCCESS;
}

int wl_MPI_T_category_get_cvars(struct wl_rank *rank, int index, int len, int *indices)
{
    return list(rank, index, N_CVARS, len, indices);
}

int wl_MPI_T_category_get_pvars(struct wl_rank *rank, int index, int len, int *indices)
{
    return list(rank, index, N_PVARS, len, indices);
}

/* There are neither categories within it nor events. */
int wl_MPI_T_category_get_categories(struct wl_rank *rank, int index, int len, int *indices)
{
    return list(rank, index, 0, len, indices);
}

int wl_MPI_T_category_get_num_events(struct wl_rank *rank, int index, int *num_events)
{
    *num_events = 0;
    return list(rank, index, 0, 0, NULL);
}

/* ---- events: none ---- */

int wl_MPI_T_source_get_info(struct wl_rank *rank, int source_index, char *name, int *name_len,
                             char *desc, int *desc_len, MPI_T_source_order *ordering,
                             MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
{
    if (source_index != 0) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    put_text("weft_time", name, name_len);
    put_text("simulated time", desc, desc_len);
    if (ordering != NULL) {
        *ordering = MPI_T_SOURCE_ORDERED;
    }
    if (ticks_per_second != NULL) {
        *ticks_per_second = 1000000000000;
    }
    if (max_ticks != NULL) {
        *max_ticks = INT64_MAX;
    }
    put(info, MPI_INFO_NULL);
    return MPI_SUCCESS;
}

int wl_MPI_T_source_get_timestamp(struct wl_rank *rank, int source_index, MPI_Count *timestamp)
{
    if (source_index != 0) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    *timestamp = wl_call(rank, &(struct wf_op){.kind = WF_OP_COMPUTE})->clock;
    return MPI_SUCCESS;
}
