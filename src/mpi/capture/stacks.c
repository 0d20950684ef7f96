/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/stacks.h"

#include "base/call_site.h"
#include "mpi/capture/file.h"
#include "program/ops/source.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FRAMES_MAX = 48,
    NUMBERS = 1 << 20, /* the trace format has no larger numbers of names */
    NAME_MAX_BYTES = 200,
    TEXT_MAX = 1000,
    IMAGES_MAX = 16
};

/* The symbols of a program or library; null without a table. */
struct image {
    const void *base;
    const ElfW(Sym) * symbols;
    size_t n;
    const char *names;
    size_t names_size;
    bool moves; /* addresses in it are relative to `base` */
};

/* ---- symbols ---- */

/* The file of a mapped image as it is on disk, with its size; null if it cannot be read. */
static const unsigned char *map_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(ElfW(Ehdr))) {
        *size = (size_t)st.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return bytes != MAP_FAILED ? bytes : NULL;
}

/* Whether `n` items of `each` bytes at an offset are within a file. */
static bool is_inside(uint64_t offset, uint64_t n, uint64_t each, size_t size)
{
    return offset <= size && n <= (size - offset) / each;
}

/* Finds the table of symbols in a file, which nobody promises to be whole. */
static void find_symbols(struct image *image, const unsigned char *bytes, size_t size)
{
    const ElfW(Ehdr) *head = (const void *)bytes;

    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head->e_shentsize != sizeof(ElfW(Shdr)) || head->e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
        !is_inside(head->e_shoff, head->e_shnum, sizeof(ElfW(Shdr)), size)) {
        return;
    }
    const ElfW(Shdr) *sections = (const void *)(bytes + head->e_shoff);
    image->moves = head->e_type == ET_DYN;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *table = &sections[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= head->e_shnum) {
            continue;
        }
        const ElfW(Shdr) *names = &sections[table->sh_link];
        if (is_inside(table->sh_offset, table->sh_size, 1, size) &&
            is_inside(names->sh_offset, names->sh_size, 1, size) && names->sh_size > 0 &&
            table->sh_offset % _Alignof(ElfW(Sym)) == 0 &&
            bytes[names->sh_offset + names->sh_size - 1] == '\0') {
            image->symbols = (const void *)(bytes + table->sh_offset);
            image->n = table->sh_size / sizeof(ElfW(Sym));
            image->names = (const char *)bytes + names->sh_offset;
            image->names_size = names->sh_size;
        }
    }
}

static const struct image *image_of(const Dl_info *info)
{
    static struct image images[IMAGES_MAX];
    static size_t n_images;
    const unsigned char *bytes = NULL;
    size_t size = 0;

    for (size_t i = 0; i < n_images; i++) {
        if (images[i].base == info->dli_fbase) {
            return &images[i];
        }
    }
    if (n_images == IMAGES_MAX) {
        return NULL;
    }
    struct image *image = &images[n_images++];
    image->base = info->dli_fbase;
    /* The name of the program is as it was called, perhaps without a path. */
    bytes = strchr(info->dli_fname, '/') != NULL ? map_file(info->dli_fname, &size) : NULL;
    bytes = bytes != NULL ? bytes : map_file("/proc/self/exe", &size);
    if (bytes != NULL) {
        find_symbols(image, bytes, size);
    }
    return image;
}

/* The function in the file's own table, which has those that are not exported too. */
static const char *own_symbol(const Dl_info *info, uintptr_t address)
{
    const struct image *image = image_of(info);

    if (image == NULL || image->symbols == NULL) {
        return NULL;
    }
    address -= image->moves ? (uintptr_t)image->base : 0;
    for (size_t i = 0; i < image->n; i++) {
        const ElfW(Sym) *symbol = &image->symbols[i];
        if ((symbol->st_info & 0xf) == STT_FUNC && symbol->st_value <= address &&
            address - symbol->st_value < symbol->st_size &&
            symbol->st_name < image->names_size) {
            return image->names + symbol->st_name;
        }
    }
    return NULL;
}

/* A name of C++ as it is in the source, if the program has the function for that; that of a
 * procedure in a module of Fortran as "module::procedure". */
static void put_readable(const char *name, char *out)
{
    const char *procedure = strncmp(name, "__", 2) == 0 ? strstr(name, "_MOD_") : NULL;
    typedef char *demangle_fn(const char *, char *, size_t *, int *);
    demangle_fn *demangle = NULL;
    void *found =
        name[0] == '_' && name[1] == 'Z' ? dlsym(RTLD_DEFAULT, "__cxa_demangle") : NULL;
    char *text = NULL;
    int status = -1;

    if (procedure != NULL) {
        (void)snprintf(out, NAME_MAX_BYTES, "%.*s::%s", (int)(procedure - name - 2), name + 2,
                       procedure + strlen("_MOD_"));
        return;
    }
    memcpy(&demangle, &found, sizeof(demangle));
    if (demangle != NULL) {
        text = demangle(name, NULL, NULL, &status);
    }
    (void)snprintf(out, NAME_MAX_BYTES, "%s", text != NULL && status == 0 ? text : name);
    free(text);
}

/* The function of a return address: its name, else file and offset. */
static void function_of(const void *address, char *out)
{
    const char *at = (const char *)address - 1; /* the call may be the last instruction */
    const char *name = NULL;
    Dl_info info;

    if (dladdr(at, &info) == 0) {
        (void)snprintf(out, NAME_MAX_BYTES, "?");
        return;
    }
    name = own_symbol(&info, (uintptr_t)at);
    name = name != NULL ? name : info.dli_sname;
    if (name != NULL) {
        put_readable(name, out);
        return;
    }
    const char *file = strrchr(info.dli_fname, '/');
    (void)snprintf(out, NAME_MAX_BYTES, "%.100s+0x%zx",
                   file != NULL ? file + 1 : info.dli_fname,
                   (size_t)(at - (const char *)info.dli_fbase));
}

/* ---- stacks ---- */

/* Puts `name` and what is between them before `text`, unless there is no room. */
static bool put_before(char *text, const char *name)
{
    static const char between[] = " > ";
    size_t n = strlen(name), gap = text[0] != '\0' ? sizeof(between) - 1 : 0,
           length = strlen(text);

    if (n + gap + length >= TEXT_MAX) {
        return false;
    }
    memmove(text + n + gap, text, length + 1);
    memcpy(text, name, n);
    memcpy(text + n, between, gap);
    return true;
}

/* Whether an address is in this library. */
static bool is_ours(const void *address)
{
    static const char here;
    Dl_info there, own;

    return dladdr(address, &there) != 0 && dladdr(&here, &own) != 0 &&
           there.dli_fbase == own.dli_fbase;
}

/* Whether a function is one of MPI: its Fortran interface calls that of C. */
static bool is_mpi(const char *name)
{
    return strncasecmp(name, "mpi_", 4) == 0 || strncasecmp(name, "pmpi_", 5) == 0;
}

/* Writes the names of the frames, innermost first, up to main(). */
static void record_stack(uint32_t number, void *const *frames, int n)
{
    char text[TEXT_MAX] = "", name[NAME_MAX_BYTES];

    for (int i = 0; i < n; i++) {
        if (is_ours(frames[i])) {
            continue;
        }
        function_of(frames[i], name);
        if (text[0] == '\0' && is_mpi(name)) {
            continue;
        }
        if (strcmp(name, "__libc_start_main") == 0 || !put_before(text, name) ||
            strcmp(name, "main") == 0) {
            break;
        }
    }
    wf_cap_file_record(WF_RECORD_NAME, (const uint64_t[]){WF_NAME_SITE, number}, 2, text);
}

static uint32_t hash_of(void *const *frames, int n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < n; i++) {
        hash = (hash ^ wf_call_site(frames[i])) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return 1 + (uint32_t)(hash % (NUMBERS - 1));
}

uint32_t wf_cap_stack(const void *site)
{
    static unsigned char known[NUMBERS / 8];
    void *frames[FRAMES_MAX];
    int n = backtrace(frames, FRAMES_MAX), first = 0;

    /* The first frames are those of this library. */
    while (first < n && frames[first] != site) {
        first++;
    }
    if (first == n) {
        return wf_call_site(site) % NUMBERS;
    }
    uint32_t number = hash_of(frames + first, n - first);
    if ((known[number / 8] >> (number % 8) & 1) == 0) {
        known[number / 8] = (unsigned char)(known[number / 8] | 1U << (number % 8));
        record_stack(number, frames + first, n - first);
    }
    return number;
}
