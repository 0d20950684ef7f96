/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/program_file.h"

#include "mpi/vrank/program_relink.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum wf_status fail(struct wf_err *err, const char *path, const char *what)
{
    return wf_err_set(err, WF_EINVAL, "cannot run '%.300s': %s", path, what);
}

static enum wf_status map_file(const char *path, unsigned char **out, size_t *size,
                               struct wf_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) != 0) {
        enum wf_status status =
            wf_err_set(err, WF_EIO, "cannot read '%.300s': %s", path, strerror(errno));
        if (fd >= 0) {
            (void)close(fd);
        }
        return status;
    }
    void *map = MAP_FAILED;
    if (S_ISREG(st.st_mode) && st.st_size > 0) {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    }
    (void)close(fd);
    if (map == MAP_FAILED) {
        return fail(err, path, "it is not a program");
    }
    *out = map;
    *size = (size_t)st.st_size;
    return WF_OK;
}

static bool is_executable(const unsigned char *bytes, size_t size)
{
    const ElfW(Ehdr) *header = (const void *)bytes;

    return size >= sizeof(*header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_type == ET_DYN && header->e_phentsize == sizeof(ElfW(Phdr)) &&
           header->e_phoff % _Alignof(ElfW(Phdr)) == 0;
}

/* The loader maps segments without a look at the size of the file, and a page beyond its end
 * is a bus error. */
static bool is_complete(const unsigned char *bytes, size_t size)
{
    const ElfW(Ehdr) *header = (const void *)bytes;

    if (header->e_phoff > size ||
        (size - header->e_phoff) / sizeof(ElfW(Phdr)) < header->e_phnum) {
        return false;
    }
    const ElfW(Phdr) *segments = (const void *)(bytes + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if ((segments[i].p_type == PT_LOAD || segments[i].p_type == PT_DYNAMIC) &&
            (segments[i].p_offset > size ||
             size - segments[i].p_offset < segments[i].p_filesz)) {
            return false;
        }
    }
    return true;
}

wf_vrank_segment *wf_vrank_program_segments(const struct wf_vrank_program_file *file,
                                            unsigned *n)
{
    const ElfW(Ehdr) *header = (const void *)file->bytes;

    *n = header->e_phnum;
    return (void *)(file->bytes + header->e_phoff);
}

unsigned char *wf_vrank_program_bytes(const struct wf_vrank_program_file *file, uint64_t at,
                                      uint64_t bytes)
{
    unsigned n;
    const ElfW(Phdr) *segments = wf_vrank_program_segments(file, &n);

    for (unsigned i = 0; i < n; i++) {
        if (segments[i].p_type == PT_LOAD && at >= segments[i].p_vaddr &&
            at - segments[i].p_vaddr <= segments[i].p_filesz &&
            segments[i].p_filesz - (at - segments[i].p_vaddr) >= bytes) {
            return file->bytes + segments[i].p_offset + (at - segments[i].p_vaddr);
        }
    }
    return NULL;
}

/* Takes one entry of the dynamic section from the loader, and keeps what it said. */
static void take_entry(ElfW(Dyn) * entry, struct wf_vrank_program_file *file)
{
    switch (entry->d_tag) {
    case DT_FLAGS_1: /* the loader refuses an executable */
        entry->d_un.d_val &= ~(ElfW(Xword))DF_1_PIE;
        break;
    case DT_INIT_ARRAY:
        file->constructors.at = entry->d_un.d_ptr;
        break;
    case DT_INIT_ARRAYSZ:
        file->constructors.n = entry->d_un.d_val / sizeof(ElfW(Addr));
        entry->d_un.d_val = 0;
        break;
    case DT_FINI_ARRAY:
        file->destructors.at = entry->d_un.d_ptr;
        break;
    case DT_FINI_ARRAYSZ:
        file->destructors.n = entry->d_un.d_val / sizeof(ElfW(Addr));
        entry->d_un.d_val = 0;
        break;
    default:
        break;
    }
}

static void take_entries(struct wf_vrank_program_file *file)
{
    const ElfW(Ehdr) *header = (const void *)file->bytes;
    const ElfW(Phdr) *segments = (const void *)(file->bytes + header->e_phoff);

    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type != PT_DYNAMIC ||
            segments[i].p_offset % _Alignof(ElfW(Dyn)) != 0) {
            continue;
        }
        ElfW(Dyn) *entries = (void *)(file->bytes + segments[i].p_offset);
        for (size_t k = 0; k < segments[i].p_filesz / sizeof(*entries); k++) {
            take_entry(&entries[k], file);
        }
    }
}

/* Why a file cannot be run, and what to do about it. */
static const char *unfit(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    return strncmp(name, "python", strlen("python")) == 0
               ? "it is not a program built with weftcc; build an interpreter from "
                 "examples/python/python.c (docs/howto/run-a-program.md)"
               : "it is not a program built with weftcc, weftc++ or weftf90";
}

static enum wf_status open_file(const char *path, bool is_library,
                                struct wf_vrank_program_file *out, struct wf_err *err)
{
    enum wf_status status = WF_OK;

    *out = (struct wf_vrank_program_file){.bytes = NULL};
    WF_TRY(map_file(path, &out->bytes, &out->size, err));
    if (!is_executable(out->bytes, out->size)) {
        status = fail(err, path, unfit(path));
    } else if (!is_complete(out->bytes, out->size)) {
        status = fail(err, path, "the end of the file is missing; build or copy it again");
    } else {
        take_entries(out);
        wf_vrank_dynamic_split(out);
        status = is_library ? WF_OK : wf_vrank_tls_take(out, path, err);
    }
    if (status != WF_OK) {
        wf_vrank_program_file_close(out);
    }
    return status;
}

enum wf_status wf_vrank_program_file_open(const char *path, struct wf_vrank_program_file *out,
                                          struct wf_err *err)
{
    return open_file(path, false, out, err);
}

enum wf_status wf_vrank_library_file_open(const char *path, struct wf_vrank_program_file *out,
                                          struct wf_err *err)
{
    return open_file(path, true, out, err);
}

void wf_vrank_program_file_close(struct wf_vrank_program_file *file)
{
    if (file->bytes != NULL) {
        (void)munmap(file->bytes, file->size);
        file->bytes = NULL;
    }
}
