/* SPDX-License-Identifier: Apache-2.0 */
#include "base/imports.h"

#include <elf.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* The loader gives addresses as integers. */
/* NOLINTBEGIN(performance-no-int-to-ptr) */

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

struct wf_address_range wf_imports_range(const struct dl_phdr_info *object)
{
    struct wf_address_range range = {UINTPTR_MAX, 0};

    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD) {
            uintptr_t from = object->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;
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

static void visit_tables(const struct imports *imports, wf_import *visit, void *arg)
{
    for (int k = 0; k < 2; k++) {
        size_t n = imports->tables[k].first != NULL
                       ? imports->tables[k].bytes / sizeof(ElfW(Rela))
                       : 0;
        for (size_t i = 0; i < n; i++) {
            const ElfW(Rela) *relocation = &imports->tables[k].first[i];
            if (is_import(imports, relocation)) {
                size_t symbol = ELF64_R_SYM(relocation->r_info);
                visit(imports->names + imports->symbols[symbol].st_name,
                      (uintptr_t *)(imports->base + relocation->r_offset), arg);
            }
        }
    }
}

void wf_imports_visit(const struct dl_phdr_info *object, wf_import *visit, void *arg)
{
    const ElfW(Phdr) *relro = segment_of(object, PT_GNU_RELRO);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = relro != NULL ? (object->dlpi_addr + relro->p_vaddr) / page * page : 0;
    uintptr_t end =
        relro != NULL ? (object->dlpi_addr + relro->p_vaddr + relro->p_memsz) / page * page : 0;
    struct imports imports;

    if (!read_imports(object, &imports) ||
        (end > begin && mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) != 0)) {
        return;
    }
    visit_tables(&imports, visit, arg);
    if (end > begin) {
        (void)mprotect((void *)begin, end - begin, PROT_READ);
    }
}

/* NOLINTEND(performance-no-int-to-ptr) */
