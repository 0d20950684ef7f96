/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/program_relink.h"

#include "base/buf.h"
#include "base/mem.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- reading ---- */

static const ElfW(Dyn) * entry_of(const struct wf_vrank_dynamic *dynamic, int64_t tag)
{
    for (size_t i = 0; i < dynamic->n && dynamic->entries[i].d_tag != DT_NULL; i++) {
        if (dynamic->entries[i].d_tag == tag) {
            return &dynamic->entries[i];
        }
    }
    return NULL;
}

bool wf_vrank_dynamic_find(const struct wf_vrank_program_file *file,
                           struct wf_vrank_dynamic *out)
{
    unsigned n;
    const ElfW(Phdr) *segments = wf_vrank_program_segments(file, &n);

    *out = (struct wf_vrank_dynamic){.entries = NULL};
    for (unsigned i = 0; i < n; i++) {
        if (segments[i].p_type == PT_DYNAMIC &&
            segments[i].p_offset % _Alignof(ElfW(Dyn)) == 0) {
            out->entries = (void *)(file->bytes + segments[i].p_offset);
            out->n = segments[i].p_filesz / sizeof(ElfW(Dyn));
        }
    }
    const ElfW(Dyn) *at = entry_of(out, DT_STRTAB), *size = entry_of(out, DT_STRSZ);
    if (at == NULL || size == NULL || size->d_un.d_val == 0) {
        return false;
    }
    out->strings_size = size->d_un.d_val;
    out->strings =
        (const char *)wf_vrank_program_bytes(file, at->d_un.d_ptr, out->strings_size);
    return out->strings != NULL && out->strings[out->strings_size - 1] == '\0';
}

const char *wf_vrank_dynamic_needed(const struct wf_vrank_dynamic *dynamic, size_t i)
{
    const ElfW(Dyn) *entry = &dynamic->entries[i];

    return entry->d_tag == DT_NEEDED && entry->d_un.d_val < dynamic->strings_size
               ? dynamic->strings + entry->d_un.d_val
               : NULL;
}

/* The symbols of a file: at least those that it imports, which come first. */
static ElfW(Sym) * symbols_of(const struct wf_vrank_program_file *file,
                              const struct wf_vrank_dynamic *dynamic, size_t *n)
{
    const ElfW(Dyn) *at = entry_of(dynamic, DT_SYMTAB), *all = entry_of(dynamic, DT_HASH),
                    *exported = entry_of(dynamic, DT_GNU_HASH);
    const ElfW(Dyn) *hash = all != NULL ? all : exported;
    uint32_t words[2] = {0, 0};

    *n = 0;
    if (at == NULL || hash == NULL) {
        return NULL;
    }
    const unsigned char *head = wf_vrank_program_bytes(file, hash->d_un.d_ptr, sizeof(words));
    if (head == NULL) {
        return NULL;
    }
    /* The second word is the number of symbols, or the first one that is exported. */
    memcpy(words, head, sizeof(words));
    void *symbols = wf_vrank_program_bytes(file, at->d_un.d_ptr, words[1] * sizeof(ElfW(Sym)));
    *n = symbols != NULL ? words[1] : 0;
    return symbols;
}

/* The name of a symbol that is an import; null if it is none. */
static const char *import_name(const struct wf_vrank_dynamic *dynamic, const ElfW(Sym) * symbol)
{
    return symbol->st_shndx == SHN_UNDEF && symbol->st_name != 0 &&
                   symbol->st_name < dynamic->strings_size
               ? dynamic->strings + symbol->st_name
               : NULL;
}

/* The number of symbols that the hash table of exports covers, or 0: chains end with an odd
 * number. */
static size_t count_symbols(const struct wf_vrank_program_file *file,
                            const struct wf_vrank_dynamic *dynamic)
{
    const ElfW(Dyn) *hash = entry_of(dynamic, DT_GNU_HASH);
    enum { N_BUCKETS, FIRST, N_FILTER, SHIFT, WORDS };
    uint32_t head[WORDS], last = 0;

    const unsigned char *at =
        hash != NULL ? wf_vrank_program_bytes(file, hash->d_un.d_ptr, sizeof(head)) : NULL;
    if (at == NULL) {
        return 0;
    }
    memcpy(head, at, sizeof(head));
    uint64_t buckets = hash->d_un.d_ptr + sizeof(head) + head[N_FILTER] * sizeof(ElfW(Addr));
    uint64_t chains = buckets + head[N_BUCKETS] * sizeof(uint32_t);
    at = wf_vrank_program_bytes(file, buckets, head[N_BUCKETS] * sizeof(uint32_t));
    for (uint32_t i = 0; at != NULL && i < head[N_BUCKETS]; i++) {
        uint32_t first;
        memcpy(&first, at + i * sizeof(first), sizeof(first));
        last = first > last ? first : last;
    }
    for (uint32_t hashed = 0; last >= head[FIRST] && (hashed & 1) == 0; last++) {
        at = wf_vrank_program_bytes(
            file, chains + (uint64_t)(last - head[FIRST]) * sizeof(hashed), sizeof(hashed));
        if (at == NULL) {
            return 0;
        }
        memcpy(&hashed, at, sizeof(hashed));
    }
    return last;
}

void wf_vrank_dynamic_split(const struct wf_vrank_program_file *file)
{
    struct wf_vrank_dynamic dynamic;

    if (!wf_vrank_dynamic_find(file, &dynamic)) {
        return;
    }
    size_t n = count_symbols(file, &dynamic);
    const ElfW(Dyn) *at = entry_of(&dynamic, DT_SYMTAB);
    ElfW(Sym) *symbols =
        at != NULL ? (void *)wf_vrank_program_bytes(file, at->d_un.d_ptr, n * sizeof(*symbols))
                   : NULL;
    for (size_t i = 0; symbols != NULL && i < n; i++) {
        if (ELF64_ST_BIND(symbols[i].st_info) == STB_GNU_UNIQUE) {
            symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbols[i].st_info));
        }
    }
}

bool wf_vrank_dynamic_imports(const struct wf_vrank_program_file *file, const char *beginning)
{
    struct wf_vrank_dynamic dynamic;
    size_t n = 0;

    if (!wf_vrank_dynamic_find(file, &dynamic)) {
        return false;
    }
    const ElfW(Sym) *symbols = symbols_of(file, &dynamic, &n);
    for (size_t i = 0; i < n; i++) {
        const char *name = import_name(&dynamic, &symbols[i]);
        if (name != NULL && strncmp(name, beginning, strlen(beginning)) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- changing ---- */

const char *wf_vrank_fd_name(int fd, char out[WF_VRANK_FD_NAME_MAX])
{
    (void)snprintf(out, WF_VRANK_FD_NAME_MAX, "/proc/self/fd/%d", fd);
    return out;
}

static bool write_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n <= 0) {
            return false;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

int wf_vrank_memory_file(const unsigned char *bytes, size_t size)
{
    int fd = memfd_create("weft-program", MFD_CLOEXEC);

    if (fd >= 0 && !write_all(fd, bytes, size)) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* A segment that holds the longer list of names takes the place of a note, which nobody reads. It
 * has the highest address, so that it must be the last of the segments that are loaded. Null if
 * there is no note. */
static ElfW(Phdr) * add_segment(const struct wf_vrank_program_file *file)
{
    unsigned n, note = 0, last = 0;
    ElfW(Phdr) *segments = wf_vrank_program_segments(file, &n);

    for (unsigned i = 1; i < n; i++) {
        note = segments[i].p_type == PT_NOTE ? i : note;
        last = segments[i].p_type == PT_LOAD ? i : last;
    }
    if (note == 0 || last == 0) {
        return NULL;
    }
    if (note < last) {
        memmove(&segments[note], &segments[note + 1], (last - note) * sizeof(*segments));
        return &segments[last];
    }
    memmove(&segments[last + 2], &segments[last + 1], (note - last - 1) * sizeof(*segments));
    return &segments[last + 1];
}

static uint64_t round_up(uint64_t at, uint64_t to)
{
    return (at + to - 1) / to * to;
}

/* The address after all segments. */
static uint64_t end_of(const struct wf_vrank_program_file *file)
{
    unsigned n;
    const ElfW(Phdr) *segments = wf_vrank_program_segments(file, &n);
    uint64_t end = 0;

    for (unsigned i = 0; i < n; i++) {
        uint64_t its = segments[i].p_vaddr + segments[i].p_memsz;
        end = segments[i].p_type == PT_LOAD && its > end ? its : end;
    }
    return end;
}

/* The versions of symbols name the library that defines them. */
static void rename_versions(const struct wf_vrank_program_file *file,
                            const struct wf_vrank_dynamic *dynamic, uint64_t old,
                            uint64_t renamed)
{
    uint64_t at = 0, n = 0;

    for (size_t i = 0; i < dynamic->n && dynamic->entries[i].d_tag != DT_NULL; i++) {
        at = dynamic->entries[i].d_tag == DT_VERNEED ? dynamic->entries[i].d_un.d_ptr : at;
        n = dynamic->entries[i].d_tag == DT_VERNEEDNUM ? dynamic->entries[i].d_un.d_val : n;
    }
    for (; at != 0 && n > 0; n--) {
        ElfW(Verneed) need;
        unsigned char *bytes = wf_vrank_program_bytes(file, at, sizeof(need));
        if (bytes == NULL) {
            return;
        }
        memcpy(&need, bytes, sizeof(need));
        if (need.vn_file < dynamic->strings_size &&
            strcmp(dynamic->strings + need.vn_file, dynamic->strings + old) == 0) {
            need.vn_file = (ElfW(Word))renamed;
            memcpy(bytes, &need, sizeof(need));
        }
        at = need.vn_next != 0 ? at + need.vn_next : 0;
    }
}

/* The library that replaces a needed one; null if that stays as it is. */
static const char *instead_of(const struct wf_vrank_relinking *relinking, const char *needed)
{
    for (uint32_t k = 0; k < relinking->n; k++) {
        if (relinking->instead[k] != NULL && strcmp(relinking->libraries[k], needed) == 0) {
            return relinking->instead[k];
        }
    }
    return NULL;
}

/* Replaces the names of libraries by those that are added to the end of `strings`. */
static void rename_libraries(const struct wf_vrank_program_file *file,
                             const struct wf_vrank_dynamic *dynamic,
                             const struct wf_vrank_relinking *relinking, struct wf_buf *strings)
{
    for (size_t i = 0; i < dynamic->n && dynamic->entries[i].d_tag != DT_NULL; i++) {
        const char *needed = wf_vrank_dynamic_needed(dynamic, i);
        const char *instead = needed != NULL ? instead_of(relinking, needed) : NULL;
        if (instead == NULL) {
            continue;
        }
        uint64_t renamed = strings->size;
        wf_buf_append(strings, instead, strlen(instead) + 1);
        rename_versions(file, dynamic, dynamic->entries[i].d_un.d_val, renamed);
        dynamic->entries[i].d_un.d_val = renamed;
    }
}

/* Lets the file ask for one library more. Linkers leave unused entries at the end of the dynamic
 * section; otherwise an entry that only saves the loader time gives way. */
static bool add_library(const struct wf_vrank_dynamic *dynamic, const char *name,
                        struct wf_buf *strings)
{
    size_t i = 0;

    while (i < dynamic->n && dynamic->entries[i].d_tag != DT_NULL &&
           dynamic->entries[i].d_tag != DT_RELACOUNT) {
        i++;
    }
    bool is_end = i < dynamic->n && dynamic->entries[i].d_tag == DT_NULL;
    if (i >= dynamic->n || (is_end && i + 1 >= dynamic->n)) {
        return false;
    }
    dynamic->entries[i].d_tag = DT_NEEDED;
    dynamic->entries[i].d_un.d_val = strings->size;
    wf_buf_append(strings, name, strlen(name) + 1);
    return true;
}

/* Likewise the names of imports. */
static void rename_imports(const struct wf_vrank_program_file *file,
                           const struct wf_vrank_dynamic *dynamic,
                           const struct wf_vrank_relinking *relinking, struct wf_buf *strings)
{
    char name[256];
    size_t n = 0;
    ElfW(Sym) *symbols = relinking->rename != NULL ? symbols_of(file, dynamic, &n) : NULL;

    for (size_t i = 0; i < n; i++) {
        const char *old = import_name(dynamic, &symbols[i]);
        const char *renamed =
            old != NULL ? relinking->rename(relinking->arg, old, name, sizeof(name)) : NULL;
        if (renamed != NULL) {
            symbols[i].st_name = (ElfW(Word))strings->size;
            wf_buf_append(strings, renamed, strlen(renamed) + 1);
        }
    }
}

/* The copy of a file that is changed; it has the bytes of the original before and after. */
static int relink_copy(const struct wf_vrank_program_file *file,
                       const struct wf_vrank_relinking *relinking)
{
    static const unsigned char zeros[4096];
    struct wf_vrank_dynamic dynamic;
    struct wf_buf strings = {.size = 0};

    if (!wf_vrank_dynamic_find(file, &dynamic)) {
        return -1;
    }
    wf_buf_append(&strings, dynamic.strings, dynamic.strings_size);
    rename_libraries(file, &dynamic, relinking, &strings);
    rename_imports(file, &dynamic, relinking, &strings);
    if (relinking->more != NULL && !add_library(&dynamic, relinking->more, &strings)) {
        wf_buf_fini(&strings);
        return -1;
    }
    if (strings.size == dynamic.strings_size) { /* it asks for none of them */
        wf_buf_fini(&strings);
        return wf_vrank_memory_file(file->bytes, file->size);
    }
    uint64_t address = round_up(end_of(file), sizeof(zeros));
    ElfW(Phdr) *segment = add_segment(file);
    if (segment == NULL) {
        wf_buf_fini(&strings);
        return -1;
    }
    uint64_t offset = round_up(file->size, sizeof(zeros));
    *segment = (ElfW(Phdr)){.p_type = PT_LOAD,
                            .p_flags = PF_R,
                            .p_offset = offset,
                            .p_vaddr = address,
                            .p_paddr = address,
                            .p_filesz = strings.size,
                            .p_memsz = strings.size,
                            .p_align = sizeof(zeros)};
    for (size_t i = 0; i < dynamic.n && dynamic.entries[i].d_tag != DT_NULL; i++) {
        if (dynamic.entries[i].d_tag == DT_STRTAB) {
            dynamic.entries[i].d_un.d_ptr = address;
        } else if (dynamic.entries[i].d_tag == DT_STRSZ) {
            dynamic.entries[i].d_un.d_val = strings.size;
        }
    }
    int fd = wf_vrank_memory_file(file->bytes, file->size);
    if (fd >= 0 && (!write_all(fd, zeros, offset - file->size) ||
                    !write_all(fd, strings.data, strings.size))) {
        (void)close(fd);
        fd = -1;
    }
    wf_buf_fini(&strings);
    return fd;
}

int wf_vrank_relink(const struct wf_vrank_program_file *file,
                    const struct wf_vrank_relinking *relinking)
{
    struct wf_vrank_program_file copy = *file;

    copy.bytes = wf_xmalloc(file->size);
    memcpy(copy.bytes, file->bytes, file->size);
    int fd = relink_copy(&copy, relinking);
    free(copy.bytes);
    return fd;
}
