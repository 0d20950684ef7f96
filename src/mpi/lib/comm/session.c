/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions (MPI-4.0, 11.3): MPI without MPI_COMM_WORLD. A session knows two sets of
 * processes. */
#include "mpi/lib/comm/group.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/threads/openmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct session {
    struct wl_properties *properties; /* its error handler */
    int thread_level;
};

static const char *const psets[] = {"mpi://WORLD", "mpi://SELF"};
enum { N_PSETS = sizeof(psets) / sizeof(psets[0]) };

static struct session *session_of(const struct wl_rank *rank, MPI_Session handle)
{
    struct session *session = wl_table_get(&rank->sessions, WL_SESSION, handle);

    if (session == NULL) {
        wl_fatal(rank, "there is no session 0x%x", (unsigned)handle);
    }
    return session;
}

struct wl_properties **wl_session_properties(struct wl_rank *rank, MPI_Session handle)
{
    return &session_of(rank, handle)->properties;
}

/* The thread level that the program asks for, as far as it can be had. */
static int asked_level(struct wl_rank *rank, MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int flag = 0, asked = MPI_THREAD_SINGLE;

    if (info != MPI_INFO_NULL) {
        (void)wl_MPI_Info_get(rank, info, "thread_level", MPI_MAX_INFO_VAL - 1, value, &flag);
    }
    for (int i = 0; flag && i <= MPI_THREAD_MULTIPLE; i++) {
        asked = strcmp(value, wl_thread_level_name(i)) == 0 ? i : asked;
    }
    return wl_thread_level(asked);
}

int wl_MPI_Session_init(struct wl_rank *rank, MPI_Info info, MPI_Errhandler errhandler,
                        MPI_Session *handle)
{
    struct session *session = wl_calloc(1, sizeof(*session));

    session->thread_level = asked_level(rank, info);
    if (session->thread_level > rank->thread_level) {
        rank->thread_level = session->thread_level;
        wl_omp_note_level(rank);
    }
    wl_properties_get(&session->properties)->errhandler = errhandler;
    rank->handles_errors = rank->checks_arguments = true;
    *handle = wl_table_add(&rank->sessions, WL_SESSION, session);
    return MPI_SUCCESS;
}

int wl_MPI_Session_finalize(struct wl_rank *rank, MPI_Session *handle)
{
    struct session *session = session_of(rank, *handle);

    wl_properties_free(session->properties);
    free(wl_table_take(&rank->sessions, WL_SESSION, *handle));
    *handle = MPI_SESSION_NULL;
    return MPI_SUCCESS;
}

int wl_MPI_Session_get_info(struct wl_rank *rank, MPI_Session handle, MPI_Info *info)
{
    const struct session *session = session_of(rank, handle);

    (void)wl_MPI_Info_create(rank, info);
    /* Threads may do what the program was granted otherwise, too. */
    int level =
        session->thread_level > rank->thread_level ? session->thread_level : rank->thread_level;
    return wl_MPI_Info_set(rank, *info, "thread_level", wl_thread_level_name(level));
}

/* ---- sets of processes ---- */

int wl_MPI_Session_get_num_psets(struct wl_rank *rank, MPI_Session session, MPI_Info info,
                                 int *npset_names)
{
    (void)session_of(rank, session);
    *npset_names = N_PSETS;
    return MPI_SUCCESS;
}

/* *pset_len counts the byte that ends the string, and becomes what the whole name needs. */
int wl_MPI_Session_get_nth_pset(struct wl_rank *rank, MPI_Session session, MPI_Info info, int n,
                                int *pset_len, char *pset_name)
{
    (void)session_of(rank, session);
    if (n < 0 || n >= N_PSETS) {
        wl_fatal(rank, "there is no process set %d of %d", n, N_PSETS);
    }
    if (*pset_len > 0) {
        (void)snprintf(pset_name, (size_t)*pset_len, "%s", psets[n]);
    }
    *pset_len = (int)strlen(psets[n]) + 1;
    return MPI_SUCCESS;
}

/* The number of a set; the program ends if there is none of that name. */
static int pset_of(const struct wl_rank *rank, const char *name)
{
    for (int i = 0; i < N_PSETS; i++) {
        if (strcasecmp(name, psets[i]) == 0) {
            return i;
        }
    }
    wl_fatal(rank, "there is no process set '%.64s'; there are mpi://WORLD and mpi://SELF",
             name);
}

int wl_MPI_Session_get_pset_info(struct wl_rank *rank, MPI_Session session,
                                 const char *pset_name, MPI_Info *info)
{
    char size[16];

    (void)session_of(rank, session);
    (void)snprintf(size, sizeof(size), "%u",
                   pset_of(rank, pset_name) == 0 ? wl_comm_of(rank, MPI_COMM_WORLD).size : 1);
    (void)wl_MPI_Info_create(rank, info);
    return wl_MPI_Info_set(rank, *info, "mpi_size", size);
}

int wl_MPI_Group_from_session_pset(struct wl_rank *rank, MPI_Session session,
                                   const char *pset_name, MPI_Group *newgroup)
{
    struct wl_view world = wl_comm_of(rank, MPI_COMM_WORLD);
    bool all = pset_of(rank, pset_name) == 0;

    (void)session_of(rank, session);
    *newgroup = wl_group_new(rank, world.comm, all ? 0 : world.rank, all ? world.size : 1);
    return MPI_SUCCESS;
}

/* ---- communicators from groups ---- */

/* Calls with different strings do not match each other. */
static int tag_of(const char *stringtag)
{
    uint32_t hash = 2166136261U;

    for (const char *at = stringtag; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619U;
    }
    return (int)(hash % WL_TAG_LIMIT);
}

static void set_errhandler(struct wl_rank *rank, MPI_Comm comm, MPI_Errhandler errhandler)
{
    if (comm != MPI_COMM_NULL) {
        (void)wl_MPI_Comm_set_errhandler(rank, comm, errhandler);
    }
}

int wl_MPI_Comm_create_from_group(struct wl_rank *rank, MPI_Group group, const char *stringtag,
                                  MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    int code =
        wl_MPI_Comm_create_group(rank, MPI_COMM_WORLD, group, tag_of(stringtag), newcomm);

    set_errhandler(rank, *newcomm, errhandler);
    return code;
}

int wl_MPI_Intercomm_create_from_groups(struct wl_rank *rank, MPI_Group local_group,
                                        int local_leader, MPI_Group remote_group,
                                        int remote_leader, const char *stringtag, MPI_Info info,
                                        MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    const struct wl_group *local = wl_group_of(rank, local_group);
    const struct wl_group *remote = wl_group_of(rank, remote_group);
    bool leads = local_leader >= 0 && (uint32_t)local_leader < local->size &&
                 local->members[local_leader] == rank->self->rank;
    int tag = tag_of(stringtag), other = -1;
    MPI_Comm own;

    if (leads) {
        if (remote_leader < 0 || (uint32_t)remote_leader >= remote->size) {
            wl_fatal(rank, "there is no leader %d in a group of %u ranks", remote_leader,
                     remote->size);
        }
        other = (int)remote->members[remote_leader];
    }
    int code = wl_MPI_Comm_create_group(rank, MPI_COMM_WORLD, local_group, tag, &own);
    if (code == MPI_SUCCESS) {
        code = wl_MPI_Intercomm_create(rank, own, local_leader, WL_COMM_ALL, other, tag,
                                       newintercomm);
        set_errhandler(rank, *newintercomm, errhandler);
        (void)wl_MPI_Comm_free(rank, &own);
    }
    return code;
}
