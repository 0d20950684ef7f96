/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Archives that tests write with the OTF2 library, in a temporary directory. */

#include "base/temp.h"

#include <otf2/otf2.h>

#include <stdlib.h>

struct otf2_archive {
    char *directory;
    OTF2_Archive *archive;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
static inline OTF2_FlushType otf2_before_flush(void *arg, OTF2_FileType type,
                                               OTF2_LocationRef location, void *caller,
                                               bool final)
{
    return OTF2_FLUSH;
}
#pragma GCC diagnostic pop

/* Opens an archive whose event files can be written. Chunks are as small as they may be. */
static inline struct otf2_archive otf2_archive_open(void)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = otf2_before_flush};
    struct otf2_archive a = {.directory = wf_temp_directory()};

    a.archive =
        OTF2_Archive_Open(a.directory, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                          OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    (void)OTF2_Archive_SetFlushCallbacks(a.archive, &flush, NULL);
    (void)OTF2_Archive_SetSerialCollectiveCallbacks(a.archive);
    (void)OTF2_Archive_OpenEvtFiles(a.archive);
    return a;
}

static inline uint64_t otf2_archive_end_events(struct otf2_archive *a, OTF2_EvtWriter *events)
{
    uint64_t n = 0;

    (void)OTF2_EvtWriter_GetNumberOfEvents(events, &n);
    (void)OTF2_Archive_CloseEvtWriter(a->archive, events);
    return n;
}

static inline void otf2_archive_remove(struct otf2_archive *a)
{
    wf_temp_remove(a->directory);
    free(a->directory);
}
