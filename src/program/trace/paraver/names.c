/* SPDX-License-Identifier: Apache-2.0 */
/* The names of calls in a Paraver trace. */
#include "base/mem.h"
#include "program/trace/paraver/paraver.h"

#include <stdlib.h>
#include <unistd.h>

static void name_value(struct wf_paraver_reading *r, uint64_t type, uint64_t value,
                       const char *name)
{
    uint32_t number = wf_strings_put(&r->names, name, strlen(name));

    *wf_map_put(&r->values, type << 32 | (value & UINT32_MAX)) = (uint64_t)number + 1;
}

/* The values of Extrae, if there is no .pcf file. */
static void set_names(struct wf_paraver_reading *r)
{
    static const struct {
        uint32_t type, value;
        const char *name;
    } known[] = {
        {0, 1, "MPI_Send"},
        {0, 2, "MPI_Recv"},
        {0, 3, "MPI_Isend"},
        {0, 4, "MPI_Irecv"},
        {0, 5, "MPI_Wait"},
        {0, 6, "MPI_Waitall"},
        {1, 7, "MPI_Bcast"},
        {1, 8, "MPI_Barrier"},
        {1, 9, "MPI_Reduce"},
        {1, 10, "MPI_Allreduce"},
        {1, 11, "MPI_Alltoall"},
        {1, 12, "MPI_Alltoallv"},
        {1, 13, "MPI_Gather"},
        {1, 14, "MPI_Gatherv"},
        {1, 15, "MPI_Scatter"},
        {1, 16, "MPI_Scatterv"},
        {1, 17, "MPI_Allgather"},
        {1, 18, "MPI_Allgatherv"},
        {1, 30, "MPI_Scan"},
        {2, 31, "MPI_Init"},
        {2, 32, "MPI_Finalize"},
        {0, 33, "MPI_Bsend"},
        {0, 34, "MPI_Ssend"},
        {0, 35, "MPI_Rsend"},
        {0, 36, "MPI_Ibsend"},
        {0, 37, "MPI_Issend"},
        {0, 38, "MPI_Irsend"},
        {2, 39, "MPI_Test"},
        {0, 41, "MPI_Sendrecv"},
        {0, 42, "MPI_Sendrecv_replace"},
        {0, 59, "MPI_Waitany"},
        {0, 60, "MPI_Waitsome"},
        {1, 80, "MPI_Reduce_scatter"},
        {2, 125, "MPI_Testall"},
        {2, 126, "MPI_Testany"},
        {2, 128, "MPI_Testsome"},
        {1, 168, "MPI_Reduce_scatter_block"},
        {1, 214, "MPI_Exscan"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        name_value(r, WF_PARAVER_P2P + known[i].type, known[i].value, known[i].name);
    }
}

/* Blocks EVENT_TYPE with lines "<gradient> <type> <name>", then VALUES with lines "<value>
 * <name>". A file that is not there, or other lines, do not matter. */
static void read_pcf(struct wf_paraver_reading *r, const char *prv)
{
    size_t size = strlen(prv) + 1, length = 0;
    char *path = wf_xstrdup(prv);
    uint64_t types[8], n_types = 0;
    struct wf_intext in = {.fd = -1};
    bool in_values = false;

    memcpy(path + size - sizeof(".prv"), ".pcf", sizeof(".pcf"));
    bool found = access(path, F_OK) == 0;
    enum wf_status status = found ? wf_intext_open(&in, path, r->err) : WF_OK;
    free(path);
    if (!found || status != WF_OK) {
        return;
    }
    for (char *line = wf_intext_line(&in, &length); line != NULL;
         line = wf_intext_line(&in, &length)) {
        char *end = NULL;
        unsigned long long first = strtoull(line, &end, 10);
        if (strncmp(line, "EVENT_TYPE", 10) == 0) {
            n_types = 0;
            in_values = false;
        } else if (strncmp(line, "VALUES", 6) == 0) {
            in_values = true;
        } else if (end == line) {
            in_values = false;
        } else if (!in_values) {
            unsigned long long type = strtoull(end, NULL, 10);
            if (type >= WF_PARAVER_P2P && type <= WF_PARAVER_P2P + 2 && n_types < 8) {
                types[n_types++] = type;
            }
        } else {
            char *name = end + strspn(end, " \t");
            for (uint64_t i = 0; i < n_types; i++) {
                name_value(r, types[i], first, name);
            }
        }
    }
    wf_intext_close(&in);
}

void wf_paraver_names_read(struct wf_paraver_reading *r, const char *path)
{
    size_t length = strlen(path);

    set_names(r);
    if (length > 4 && strcmp(path + length - 4, ".prv") == 0) {
        read_pcf(r, path);
    }
}
