/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/interpose.h"

#include "mpilib/openmp.h"
#include "mpilib/spilled_memory.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
enum {
    RELOCATION_GLOBAL = R_X86_64_GLOB_DAT,
    RELOCATION_CALL = R_X86_64_JUMP_SLOT,
    RELOCATION_WORD = R_X86_64_64
};
#elif defined(__aarch64__)
enum {
    RELOCATION_GLOBAL = R_AARCH64_GLOB_DAT,
    RELOCATION_CALL = R_AARCH64_JUMP_SLOT,
    RELOCATION_WORD = R_AARCH64_ABS64
};
#else
enum { RELOCATION_GLOBAL = -1, RELOCATION_CALL = -2, RELOCATION_WORD = -3 };
#endif

static const struct wl_replacement replacements[] = {
#define X(name) {#name, (void (*)(void))wl_libc_##name},
    WL_INTERPOSED(X)
#undef X
};

/* In the order of strcmp(). What weftcc replaces when it links a program (libc_process.c, libc_wrappers.c): libraries that
 * were built without it need the same. */
/* clang-format off */
#define WRAPPED(X)                                                                  \
    X(_Exit) X(__cxa_atexit) X(__fread_chk) X(__read_chk) X(_exit) X(abort) X(exit) \
    X(fork) X(fread) X(fread_unlocked) X(fstat) X(fstat64) X(getcwd) X(on_exit)     \
    X(pipe) X(posix_spawn) X(posix_spawnp) X(pread) X(pread64) X(quick_exit)        \
    X(read) X(readlink) X(readv) X(recv) X(sigaction) X(signal) X(uname) X(vfork)   \
    X(wait) X(wait3) X(wait4) X(waitpid)
/* clang-format on */

#define X(name) void __wrap_##name(void);
WRAPPED(X)
#undef X

static const struct wl_replacement wrapped[] = {
#define X(name) {#name, __wrap_##name},
    WRAPPED(X)
#undef X
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, ((const struct wl_replacement *)b)->name);
}

static const struct wl_replacement *find_openmp(const char *name)
{
    static const struct wl_replacement *const tables[] = {wl_omp_regions, wl_omp_works,
                                                          wl_omp_locks,   wl_omp_tasks,
                                                          wl_omp_queries, wl_pthread_functions};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const struct wl_replacement *row = tables[i]; row->name != NULL; row++) {
            if (strcmp(row->name, name) == 0) {
                return row;
            }
        }
    }
    return NULL;
}

/* The names of OpenMP and of functions that create threads begin alike. */
static bool is_of_threads(const char *name)
{
    const char *threads = getenv("OMP_NUM_THREADS");

    if (strcmp(name, "__kmpc_fork_call") == 0) {
        return threads == NULL || strcmp(threads, "1") != 0;
    }
    return strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "omp_", 4) == 0 ||
           strncmp(name, "pthread_", 8) == 0 || strncmp(name, "sem_", 4) == 0 ||
           strcmp(name, "sched_yield") == 0 || strcmp(name, "thrd_create") == 0;
}

const struct wl_replacement *wl_replacement_of(const char *name)
{
    if (is_of_threads(name)) {
        return find_openmp(name);
    }
    const struct wl_replacement *found =
        bsearch(name, replacements, sizeof(replacements) / sizeof(replacements[0]),
                sizeof(replacements[0]), compare);
    if (found == NULL) {
        found = bsearch(name, wrapped, sizeof(wrapped) / sizeof(wrapped[0]), sizeof(wrapped[0]),
                        compare);
    }
    return found != NULL ? found : wl_spill_replacement(name);
}

/* The addresses of a loaded object. */
struct range {
    uintptr_t begin, end;
};

static bool is_in(struct range range, uintptr_t address)
{
    return address >= range.begin && address < range.end;
}

static struct range range_of(const struct dl_phdr_info *info)
{
    struct range range = {UINTPTR_MAX, 0};

    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD) {
            uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;
            range.begin = from < range.begin ? from : range.begin;
            range.end = to > range.end ? to : range.end;
        }
    }
    return range;
}

static const ElfW(Phdr) * segment_of(const struct dl_phdr_info *info, uint32_t type)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == type) {
            return &info->dlpi_phdr[i];
        }
    }
    return NULL;
}

/* ---- the imports of an object ---- */

struct imports {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *names;
    struct {
        const ElfW(Rela) * first;
        size_t bytes;
    } tables[2]; /* data, and calls */
};

/* Some loaders keep the addresses as they are in the file. */
static const void *address_of(const struct imports *imports, const ElfW(Dyn) * entry)
{
    uintptr_t at = entry->d_un.d_ptr;

    return (const void *)(at < imports->base ? at + imports->base : at);
}

static bool read_imports(const struct dl_phdr_info *info, struct imports *out)
{
    const ElfW(Phdr) *segment = segment_of(info, PT_DYNAMIC);

    *out = (struct imports){.base = info->dlpi_addr};
    if (segment == NULL) {
        return false;
    }
    for (const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + segment->p_vaddr);
         entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB) {
            out->symbols = address_of(out, entry);
        } else if (entry->d_tag == DT_STRTAB) {
            out->names = address_of(out, entry);
        } else if (entry->d_tag == DT_RELA) {
            out->tables[0].first = address_of(out, entry);
        } else if (entry->d_tag == DT_RELASZ) {
            out->tables[0].bytes = entry->d_un.d_val;
        } else if (entry->d_tag == DT_JMPREL) {
            out->tables[1].first = address_of(out, entry);
        } else if (entry->d_tag == DT_PLTRELSZ) {
            out->tables[1].bytes = entry->d_un.d_val;
        }
    }
    return out->symbols != NULL && out->names != NULL;
}

static bool is_import(const struct imports *imports, const ElfW(Rela) * relocation)
{
    int type = (int)ELF64_R_TYPE(relocation->r_info);
    size_t symbol = ELF64_R_SYM(relocation->r_info);

    return (type == RELOCATION_GLOBAL || type == RELOCATION_CALL || type == RELOCATION_WORD) &&
           symbol != 0 && imports->symbols[symbol].st_shndx == SHN_UNDEF;
}

/* Replaces what the object imports, unless the program itself provides it. */
static void replace_imports(const struct imports *imports, struct range program)
{
    for (int k = 0; k < 2; k++) {
        size_t n = imports->tables[k].first != NULL
                       ? imports->tables[k].bytes / sizeof(ElfW(Rela))
                       : 0;
        for (size_t i = 0; i < n; i++) {
            const ElfW(Rela) *relocation = &imports->tables[k].first[i];
            uintptr_t *slot = (uintptr_t *)(imports->base + relocation->r_offset);
            if (!is_import(imports, relocation) || is_in(program, *slot)) {
                continue;
            }
            size_t symbol = ELF64_R_SYM(relocation->r_info);
            const struct wl_replacement *found =
                wl_replacement_of(imports->names + imports->symbols[symbol].st_name);
            if (found != NULL) {
                *slot = (uintptr_t)found->function;
            }
        }
    }
}

/* ---- the objects ---- */

struct walk {
    const void *inside;
    struct range program; /* once it was found */
};

/* Objects come in the order in which they were loaded: weft and its libraries, the program, the
 * libraries that only the program needs. */
static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct walk *walk = arg;
    struct range range = range_of(info);
    const ElfW(Phdr) *relro = segment_of(info, PT_GNU_RELRO);
    struct imports imports;

    (void)size;
    if (walk->program.end == 0 && is_in(range, (uintptr_t)walk->inside)) {
        walk->program = range;
    }
    if (walk->program.end == 0 || is_in(range, (uintptr_t)wl_interpose) ||
        !read_imports(info, &imports)) {
        return 0;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = relro != NULL ? (info->dlpi_addr + relro->p_vaddr) / page * page : 0;
    uintptr_t end =
        relro != NULL ? (info->dlpi_addr + relro->p_vaddr + relro->p_memsz) / page * page : 0;
    if (end > begin && mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) != 0) {
        return 0;
    }
    replace_imports(&imports, walk->program);
    if (end > begin) {
        (void)mprotect((void *)begin, end - begin, PROT_READ);
    }
    return 0;
}

void wl_interpose(const void *inside)
{
    struct walk walk = {.inside = inside};

    (void)dl_iterate_phdr(visit, &walk);
}
