/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/program_tls.h"

#include "base/mem.h"
#include "mpi/vrank/program_file.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct wf_vrank_tls_block {
    struct wf_vrank_tls_block *next;
    unsigned char values[];
};

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)

/* The linker places sections of this name behind all other thread-local variables, next to the
 * thread pointer. Large enough for the arrays that programs make threadprivate. */
#define ROOM      "1179648"
#define ROOM_SIZE 1179648

extern _Thread_local unsigned char wf_vrank_tls_room[ROOM_SIZE];
__asm__(".section .tcommon,\"awT\",@nobits\n"
        ".balign 64\n"
        ".globl wf_vrank_tls_room\n"
        ".hidden wf_vrank_tls_room\n"
        ".type wf_vrank_tls_room, @object\n"
        ".size wf_vrank_tls_room, " ROOM "\n"
        "wf_vrank_tls_room: .zero " ROOM "\n"
        ".previous\n");

static unsigned char *thread_pointer(void)
{
    unsigned char *pointer;

    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* 0 if the linker has placed it elsewhere. */
static size_t room(void)
{
    return wf_vrank_tls_room + ROOM_SIZE == thread_pointer() ? ROOM_SIZE : 0;
}

enum { DISTANCE = R_X86_64_TPOFF64, NOTHING = R_X86_64_NONE };

static bool is_dynamic(uint64_t type)
{
    return type == R_X86_64_DTPMOD64 || type == R_X86_64_DTPOFF64 || type == R_X86_64_TLSDESC;
}

#else

static unsigned char *thread_pointer(void)
{
    return NULL;
}

static size_t room(void)
{
    return 0;
}

enum { DISTANCE = 0x7fffffff, NOTHING = 0 }; /* no relocation has this number */

static bool is_dynamic(uint64_t type)
{
    return type == UINT64_MAX;
}

#endif

/* ---- the file ---- */

/* Likewise for structs, which are aligned. */
static void *in_file(const struct wf_vrank_program_file *file, uint64_t at, uint64_t bytes)
{
    unsigned char *place = wf_vrank_program_bytes(file, at, bytes);

    return (uintptr_t)place % sizeof(uint64_t) == 0 ? place : NULL;
}

struct relocations {
    uint64_t at, bytes, symbols;
};

static struct relocations find_relocations(const struct wf_vrank_program_file *file)
{
    struct relocations found = {0, 0, 0};
    unsigned n;
    const ElfW(Phdr) *segments = wf_vrank_program_segments(file, &n);

    for (unsigned i = 0; i < n; i++) {
        if (segments[i].p_type != PT_DYNAMIC ||
            segments[i].p_offset % _Alignof(ElfW(Dyn)) != 0) {
            continue;
        }
        const ElfW(Dyn) *entries = (const void *)(file->bytes + segments[i].p_offset);
        for (size_t k = 0; k < segments[i].p_filesz / sizeof(*entries); k++) {
            if (entries[k].d_tag == DT_RELA) {
                found.at = entries[k].d_un.d_ptr;
            } else if (entries[k].d_tag == DT_RELASZ) {
                found.bytes = entries[k].d_un.d_val;
            } else if (entries[k].d_tag == DT_SYMTAB) {
                found.symbols = entries[k].d_un.d_ptr;
            }
        }
    }
    return found;
}

/* Computes the distance from the thread pointer that the loader would compute. A variable of
 * another library is left to the loader. */
static void resolve(const struct wf_vrank_program_file *file, const struct relocations *all,
                    ElfW(Rela) * relocation)
{
    uint64_t number = ELF64_R_SYM(relocation->r_info);
    const ElfW(Sym) *symbol =
        in_file(file, all->symbols + number * sizeof(ElfW(Sym)), sizeof(ElfW(Sym)));
    int64_t *slot = in_file(file, relocation->r_offset, sizeof(*slot));

    if (symbol != NULL && slot != NULL && (number == 0 || symbol->st_shndx != SHN_UNDEF)) {
        *slot = (int64_t)(number == 0 ? 0 : symbol->st_value) + relocation->r_addend -
                (int64_t)file->tls.bytes;
        relocation->r_info = NOTHING;
    }
}

/* False if the program finds its variables in a way that only the loader knows. */
static bool resolve_all(const struct wf_vrank_program_file *file)
{
    const struct relocations all = find_relocations(file);
    ElfW(Rela) *table = in_file(file, all.at, all.bytes);
    size_t n = table != NULL ? all.bytes / sizeof(*table) : 0;

    for (size_t i = 0; i < n; i++) {
        if (is_dynamic(ELF64_R_TYPE(table[i].r_info))) {
            return false;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if ((int64_t)ELF64_R_TYPE(table[i].r_info) == DISTANCE) {
            resolve(file, &all, &table[i]);
        }
    }
    return true;
}

enum wf_status wf_vrank_tls_take(struct wf_vrank_program_file *file, const char *path,
                                 struct wf_err *err)
{
    size_t most = room();
    unsigned n;
    ElfW(Phdr) *segments = wf_vrank_program_segments(file, &n);

    for (unsigned i = 0; i < n; i++) {
        ElfW(Phdr) *segment = &segments[i];
        if (segment->p_type != PT_TLS || segment->p_memsz == 0 || most == 0) {
            continue;
        }
        uint64_t align = segment->p_align > 0 ? segment->p_align : 1;
        if (segment->p_memsz > most || align > 64 || segment->p_filesz > segment->p_memsz ||
            (segment->p_filesz > 0 &&
             wf_vrank_program_bytes(file, segment->p_vaddr, segment->p_filesz) == NULL)) {
            return wf_err_set(err, WF_EINVAL,
                              "cannot run '%.300s': its thread-local variables take %llu bytes "
                              "aligned to %llu; weft has place for %zu aligned to 64",
                              path, (unsigned long long)segment->p_memsz,
                              (unsigned long long)align, most);
        }
        file->tls =
            (struct wf_vrank_tls){.at = segment->p_vaddr,
                                  .initial = segment->p_filesz,
                                  .bytes = (segment->p_memsz + align - 1) / align * align};
        if (resolve_all(file)) {
            segment->p_type = PT_NULL;
        } else {
            file->tls.bytes = 0;
        }
    }
    return WF_OK;
}

/* ---- blocks ---- */

struct wf_vrank_tls_block *wf_vrank_tls_new(const struct wf_vrank_tls *tls,
                                            const unsigned char *base,
                                            struct wf_vrank_tls_block *others)
{
    struct wf_vrank_tls_block *block = wf_xcalloc(1, sizeof(*block) + tls->bytes);

    memcpy(block->values, base + tls->at, tls->initial);
    block->next = others;
    return block;
}

/* The block whose values are in place in this thread. */
static _Thread_local struct wf_vrank_tls_block *in_place;

void wf_vrank_tls_free(struct wf_vrank_tls_block *list)
{
    while (list != NULL) {
        struct wf_vrank_tls_block *block = list;
        list = block->next;
        in_place = in_place == block ? NULL : in_place;
        free(block);
    }
}

unsigned char *wf_vrank_tls_place(const struct wf_vrank_tls *tls)
{
    /* cppcheck-suppress nullPointerArithmetic ; without room there are no variables */
    return thread_pointer() - tls->bytes;
}

void wf_vrank_tls_use(const struct wf_vrank_tls *tls, struct wf_vrank_tls_block *block)
{
    unsigned char *place = wf_vrank_tls_place(tls);

    if (in_place == block) {
        return;
    }
    if (in_place != NULL) {
        memcpy(in_place->values, place, tls->bytes);
    }
    memcpy(place, block->values, tls->bytes);
    in_place = block;
}
