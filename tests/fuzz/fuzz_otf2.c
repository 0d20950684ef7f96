/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: whatever a file of an OTF2 archive is, the archive is read or refused. The first
 * byte of the input says which file of a good archive the others replace. */
#include "foreign.h"

#include "program/trace/otf2/out.h"

#include <sys/stat.h>

static const char *const files[] = {"traces.otf2", "traces.def", "traces/0.def",
                                    "traces/0.evt"};
enum { FILES = sizeof(files) / sizeof(*files), MAX = 1 << 16 };

struct whole {
    unsigned char bytes[MAX];
    size_t n;
};

static void put_event(struct wf_otf2_out *out, struct wf_otf2_event event)
{
    static uint64_t now;

    now += 1000;
    event.time = now;
    wf_otf2_out_event(out, &event);
}

/* An archive with an event of each kind; false in a build without the library. */
static bool make_archive(void)
{
    static const uint32_t one[] = {1};
    struct wf_otf2_out *out = NULL;
    struct wf_err err;
    char path[128];

    if (wf_otf2_out_open(foreign_path(".", path, sizeof(path)), path, 2, NULL, &out, &err) !=
        WF_OK) {
        return false;
    }
    (void)wf_otf2_out_region(out, "MPI_Sendrecv", true);
    (void)wf_otf2_out_region(out, "work", false);
    (void)wf_otf2_out_comm(out, one, 1);
    for (uint32_t rank = 0; rank < 2; rank++) {
        wf_otf2_out_rank(out, rank);
        for (uint32_t kind = 0; kind < WF_OTF2_OTHER; kind++) {
            const struct wf_otf2_event event = {.kind = (enum wf_otf2_kind)kind,
                                                .peer = 1 - rank,
                                                .region = kind % 2,
                                                .bytes = 100,
                                                .received = 100,
                                                .request = 5};
            put_event(out, event);
        }
    }
    require(wf_otf2_out_finish(out, &err) == WF_OK);
    return true;
}

static void read_file(const char *name, struct whole *whole)
{
    char path[128];
    FILE *in = fopen(foreign_path(name, path, sizeof(path)), "rb");

    require(in != NULL);
    whole->n = fread(whole->bytes, 1, MAX, in);
    (void)fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static enum { UNKNOWN, ABSENT, THERE } library;
    static struct whole whole[FILES];

    if (library == UNKNOWN) {
        library = make_archive() ? THERE : ABSENT;
        for (int i = 0; library == THERE && i < FILES; i++) {
            read_file(files[i], &whole[i]);
        }
    }
    if (library == ABSENT || size == 0) {
        return 0;
    }
    int which = data[0] % FILES;
    foreign_write(files[which], data + 1, size - 1);
    foreign_check("traces.otf2", &wf_otf2_reader_ops);
    foreign_write(files[which], whole[which].bytes, whole[which].n);
    return 0;
}
