/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of all ranks of OTF2 archives, as the OTF2 library writes them. */
#include "harness/wf_test.h"
#include "otf2_archive.h"
#include "program/trace/otf2/anchor.h"

#include <stdio.h>
#include <string.h>

enum { RANKS = 3, PS = 1000000000 };

static void put_ranks(OTF2_GlobalDefWriter *w)
{
    static const char *const strings[] = {"", "MPI_Send", "work", "memcpy"};

    (void)OTF2_GlobalDefWriter_WriteClockProperties(w, PS, 5, 9, OTF2_UNDEFINED_TIMESTAMP);
    for (uint32_t i = 0; i < 4; i++) {
        (void)OTF2_GlobalDefWriter_WriteString(w, i, strings[i]);
    }
    (void)OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < RANKS; i++) {
        (void)OTF2_GlobalDefWriter_WriteLocationGroup(w, i, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                      0, OTF2_UNDEFINED_LOCATION_GROUP);
        (void)OTF2_GlobalDefWriter_WriteLocation(w, 100 + i, 0, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                 i, i);
    }
    (void)OTF2_GlobalDefWriter_WriteLocationGroup(w, 9, 0, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
                                                  0, 2);
    (void)OTF2_GlobalDefWriter_WriteLocation(w, 200, 0, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
                                             7, 9);
}

static void put_region(OTF2_GlobalDefWriter *w, uint32_t id, uint32_t name,
                       OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
    (void)OTF2_GlobalDefWriter_WriteRegion(w, id, name, 0, 0, role, paradigm,
                                           OTF2_REGION_FLAG_NONE, 0, 0, 0);
}

static void put_group(OTF2_GlobalDefWriter *w, uint32_t id, OTF2_GroupType type,
                      OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    (void)OTF2_GlobalDefWriter_WriteGroup(w, id, 0, type, OTF2_PARADIGM_MPI, flags, n, members);
}

/* The ranks are the locations in the reverse order. */
static void put_comms(OTF2_GlobalDefWriter *w)
{
    static const uint64_t locations[] = {102, 101, 100}, ranks[] = {0, 1, 2}, two[] = {2, 0},
                          places[] = {100, 101};

    put_group(w, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_GROUP_FLAG_NONE, 3, locations);
    put_group(w, 1, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_GROUP_FLAG_NONE, 3, ranks);
    put_group(w, 2, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_GROUP_FLAG_NONE, 2, two);
    put_group(w, 3, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_GROUP_FLAG_GLOBAL_MEMBERS, 2, places);
    put_group(w, 4, OTF2_GROUP_TYPE_COMM_SELF, OTF2_GROUP_FLAG_NONE, 0, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        (void)OTF2_GlobalDefWriter_WriteComm(w, i, 0, 1 + i, OTF2_UNDEFINED_COMM,
                                             OTF2_COMM_FLAG_NONE);
    }
    (void)OTF2_GlobalDefWriter_WriteInterComm(w, 70000, 0, 2, 3, OTF2_UNDEFINED_COMM,
                                              OTF2_COMM_FLAG_NONE);
}

static void read_back(const struct otf2_archive *a, struct wf_otf2_defs *defs)
{
    struct wf_otf2_layout layout;
    struct wf_err err = {.status = WF_OK};
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/traces.otf2", a->directory);
    wf_otf2_anchor_read(path, &layout, &err);
    wf_otf2_defs_read(path, &layout, defs, &err);
    CHECK_STR(err.text, "");
}

static void check_comm(const struct wf_otf2_defs *defs, uint32_t id, uint32_t n,
                       const uint32_t *ranks)
{
    const struct wf_otf2_comm *comm = wf_otf2_defs_find_comm(defs, id);

    CHECK(comm != NULL && comm->n == n && !comm->is_inter);
    CHECK(comm != NULL && memcmp(comm->ranks, ranks, n * sizeof(*ranks)) == 0);
}

static void definitions_are_read(void)
{
    struct otf2_archive a = otf2_archive_open();
    struct wf_otf2_defs defs = {.resolution = 0};

    (void)OTF2_Archive_CloseEvtFiles(a.archive);
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(a.archive);
    put_ranks(w);
    put_region(w, 3, 1, OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI);
    put_region(w, 4, 2, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
    put_region(w, 5, 2, OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_PARADIGM_CUDA);
    put_region(w, 6, 2, OTF2_REGION_ROLE_ALLOCATE, OTF2_PARADIGM_CUDA);
    put_region(w, 7, 3, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_CUDA);
    put_comms(w);
    (void)OTF2_Archive_CloseGlobalDefWriter(a.archive, w);
    (void)OTF2_Archive_Close(a.archive);

    read_back(&a, &defs);
    CHECK_U64(defs.resolution, PS);
    CHECK_U64(defs.n_ranks, RANKS);
    CHECK_U64(defs.places[0], 102);
    CHECK_U64(wf_otf2_defs_find_location(&defs, 101)->n_events, 1);
    const struct wf_otf2_stream *stream = wf_otf2_defs_streams(&defs, 0);
    CHECK(stream != NULL && stream->location == 200);
    CHECK(wf_otf2_defs_find_region(&defs, 3)->is_mpi);
    CHECK_STR(wf_otf2_defs_name(&defs, wf_otf2_defs_find_region(&defs, 3)), "MPI_Send");
    CHECK(!wf_otf2_defs_find_region(&defs, 4)->is_mpi);
    CHECK(wf_otf2_defs_find_region(&defs, 4)->work == WF_OTF2_KERNEL);
    CHECK(wf_otf2_defs_find_region(&defs, 5)->work == WF_OTF2_COPY);
    CHECK(wf_otf2_defs_find_region(&defs, 6)->work == WF_OTF2_NO_WORK);
    CHECK(wf_otf2_defs_find_region(&defs, 7)->work == WF_OTF2_COPY);
    check_comm(&defs, 0, 3, (const uint32_t[]){0, 1, 2});
    CHECK(wf_otf2_defs_find_comm(&defs, 0)->is_world);
    check_comm(&defs, 1, 2, (const uint32_t[]){2, 0});
    check_comm(&defs, 2, 2, (const uint32_t[]){2, 1});
    CHECK(wf_otf2_defs_find_comm(&defs, 3)->is_self);
    CHECK(wf_otf2_defs_find_comm(&defs, 70000)->is_inter);
    wf_otf2_defs_fini(&defs);
    otf2_archive_remove(&a);
}

int main(void)
{
    RUN(definitions_are_read);
    return wf_test_done();
}
