/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/kernel_calls.h"

#include "base/imports.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the functions that take the place of kernels ---- */

/*
 * A C function whose parameters are as many whole numbers as go into registers, as many floating-
 * point numbers, and some words more, gets the arguments of any call: the two kinds of registers
 * are filled independently of each other, and the rest follows on the stack. It may read a few
 * words of its caller's stack that are no arguments, and passes them on.
 */
/* clang-format off */
#ifdef __aarch64__
#define MORE_PARAMETERS uint64_t w6, uint64_t w7,
#define MORE_ARGUMENTS w6, w7,
#else
#define MORE_PARAMETERS
#define MORE_ARGUMENTS
#endif
#define PARAMETERS                                                                      \
    uint64_t w0, uint64_t w1, uint64_t w2, uint64_t w3, uint64_t w4, uint64_t w5,       \
    MORE_PARAMETERS                                                                     \
    double r0, double r1, double r2, double r3, double r4, double r5, double r6,        \
    double r7, uint64_t s0, uint64_t s1, uint64_t s2, uint64_t s3, uint64_t s4,         \
    uint64_t s5, uint64_t s6, uint64_t s7, uint64_t s8, uint64_t s9, uint64_t s10,      \
    uint64_t s11
#define WORDS                                                                           \
    w0, w1, w2, w3, w4, w5, MORE_ARGUMENTS s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
#define ARGUMENTS                                                                       \
    w0, w1, w2, w3, w4, w5, MORE_ARGUMENTS r0, r1, r2, r3, r4, r5, r6, r7,              \
    s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
/* clang-format on */

static void open_site(struct wf_vrank_kernel_site *site);
static void close_site(struct wf_vrank_kernel_site *site);

#define KERNEL(type, kind, i)                                                          \
    static type kind##_##i(PARAMETERS)                                                 \
    {                                                                                  \
        const struct wf_vrank_call call = {{WORDS}, {r0, r1, r2, r3, r4, r5, r6, r7}}; \
        struct wf_vrank_kernel_outcome outcome =                                       \
            wf_vrank_kernel_called(i, &call, __builtin_return_address(0));             \
        type result = (type)outcome.result;                                            \
        if (outcome.execute != NULL) {                                                 \
            type (*original)(PARAMETERS);                                              \
            open_site(outcome.execute);                                                \
            memcpy(&original, &outcome.execute->code, sizeof(original));               \
            result = original(ARGUMENTS);                                              \
            close_site(outcome.execute);                                               \
            wf_vrank_kernel_executed();                                                \
        }                                                                              \
        return result;                                                                 \
    }

/* Numbers up to WF_VRANK_KERNELS_MAX, eight at a time. */
/* clang-format off */
#define EIGHT(X, t) X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7)
#define ALL(X)                                                                          \
    EIGHT(X, 00) EIGHT(X, 01) EIGHT(X, 02) EIGHT(X, 03) EIGHT(X, 04) EIGHT(X, 05)       \
    EIGHT(X, 06) EIGHT(X, 07) EIGHT(X, 010) EIGHT(X, 011) EIGHT(X, 012) EIGHT(X, 013)
/* clang-format on */

#define WHOLE(i) KERNEL(uint64_t, whole, i)
#define REAL(i)  KERNEL(double, real, i)
/* NOLINTBEGIN(readability-function-size): as many parameters as registers and words of the stack */
ALL(WHOLE)
ALL(REAL)
/* NOLINTEND(readability-function-size) */

typedef void replacement(void);

static replacement *code_of(uint32_t function, bool is_real)
{
#define X_WHOLE(i) (replacement *)whole_##i,
#define X_REAL(i)  (replacement *)real_##i,
    static replacement *const whole[] = {ALL(X_WHOLE)}, *const real[] = {ALL(X_REAL)};

    _Static_assert(sizeof(whole) / sizeof(whole[0]) == WF_VRANK_KERNELS_MAX, "one for each");
    return is_real ? real[function] : whole[function];
}

/* ---- jumps ---- */

/* The instructions of a jump to a function; their number of bytes. It may use a register that no
 * convention keeps. 0: unknown on this processor. */
static size_t make_jump(replacement *to, unsigned char out[WF_VRANK_JUMP_MAX])
{
#if defined(__x86_64__)
    static const unsigned char load_r11[] = {0x49, 0xbb}, jump_r11[] = {0x41, 0xff, 0xe3};
    memcpy(out, load_r11, sizeof(load_r11));
    memcpy(out + sizeof(load_r11), &to, sizeof(to));
    memcpy(out + sizeof(load_r11) + sizeof(to), jump_r11, sizeof(jump_r11));
    return sizeof(load_r11) + sizeof(to) + sizeof(jump_r11);
#elif defined(__aarch64__)
    static const uint32_t load_x16_jump[] = {0x58000050, 0xd61f0200};
    memcpy(out, load_x16_jump, sizeof(load_x16_jump));
    memcpy(out + sizeof(load_x16_jump), &to, sizeof(to));
    return sizeof(load_x16_jump) + sizeof(to);
#else
    return 0;
#endif
}

static bool make_writable(unsigned char *code, size_t bytes, int also)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)code / page * page;

    return mprotect((void *)at, (uintptr_t)code + bytes - at, PROT_READ | PROT_EXEC | also) ==
           0;
}

static void write_code(unsigned char *to, const unsigned char *from, size_t n)
{
    memcpy(to, from, n);
    __builtin___clear_cache((char *)to, (char *)to + n);
}

/* A function that is also executed now and then keeps its code writable. */
static bool is_sampled(const struct wf_vrank_kernels *kernels, uint32_t function)
{
    bool found = false;

    for (uint32_t i = 0; i < kernels->n_sections && !found; i++) {
        found = kernels->sections[i].times[kernels->functions[function].kernel].every > 0;
    }
    return found;
}

static enum wf_status patch(const struct wf_vrank_kernels *kernels, uint32_t number,
                            unsigned char *code, uint64_t bytes,
                            struct wf_vrank_kernel_site *site, struct wf_err *err)
{
    const struct wf_vrank_kernel_function *function = &kernels->functions[number];
    struct wf_vrank_kernel_site made = {.code = code, .is_patched = true};
    size_t n = make_jump(code_of(number, function->is_real), made.jump);

    if (n == 0) {
        return wf_err_set(err, WF_EINVAL, "kernels cannot be replaced on this processor");
    }
    if (bytes < n) {
        return WF_OK; /* too short for a jump: only imports of it can change */
    }
    bool keeps = is_sampled(kernels, number);
    memcpy(made.before, code, n);
    if (!make_writable(code, n, PROT_WRITE)) {
        return wf_err_set(err, WF_EINVAL,
                          "the system does not let the code of %s change, which kernels need",
                          function->name);
    }
    write_code(code, made.jump, n);
    (void)(keeps || make_writable(code, n, 0));
    *site = site->code == NULL ? made : *site;
    return WF_OK;
}

/* Writes the jump of a site, or what was there. */
static void set_jump(const struct wf_vrank_kernel_site *site, bool jumps)
{
    unsigned char any[WF_VRANK_JUMP_MAX];

    write_code(site->code, jumps ? site->jump : site->before,
               make_jump(code_of(0, false), any));
}

static void open_site(struct wf_vrank_kernel_site *site)
{
    if (site->is_patched && site->executing++ == 0) {
        set_jump(site, false);
    }
}

static void close_site(struct wf_vrank_kernel_site *site)
{
    if (site->is_patched && --site->executing == 0) {
        set_jump(site, true);
    }
}

/* ---- symbols ---- */

struct symbols {
    const ElfW(Sym) * list;
    size_t n;
    const char *names;
    size_t names_size;
};

static bool is_inside(const struct wf_vrank_program_file *file, uint64_t at, uint64_t bytes)
{
    return at <= file->size && bytes <= file->size - at;
}

/* The symbols of a section, if it has some. */
static bool symbols_in(const struct wf_vrank_program_file *file, const ElfW(Shdr) * sections,
                       unsigned n_sections, unsigned i, struct symbols *out)
{
    ElfW(Shdr) section, names;

    memcpy(&section, &sections[i], sizeof(section));
    if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) ||
        section.sh_link >= n_sections || section.sh_offset % _Alignof(ElfW(Sym)) != 0 ||
        !is_inside(file, section.sh_offset, section.sh_size)) {
        return false;
    }
    memcpy(&names, &sections[section.sh_link], sizeof(names));
    *out = (struct symbols){.list = (const void *)(file->bytes + section.sh_offset),
                            .n = section.sh_size / sizeof(ElfW(Sym)),
                            .names = (const char *)(file->bytes + names.sh_offset),
                            .names_size = names.sh_size};
    return is_inside(file, names.sh_offset, names.sh_size) && names.sh_size > 0 &&
           out->names[names.sh_size - 1] == '\0';
}

static void note_allocating(const struct wf_vrank_kernels *kernels, const char *name,
                            uintptr_t at, uint64_t bytes, struct wf_vrank_kernel_places *places)
{
    for (uint32_t i = 0; i < kernels->n_shares; i++) {
        if (strcmp(kernels->shares[i].function, name) == 0) {
            places->allocating[i] = (struct wf_address_range){at, at + bytes};
        }
    }
}

static enum wf_status patch_symbols(const struct wf_vrank_kernels *kernels,
                                    const struct wf_vrank_program_file *file,
                                    const struct symbols *symbols, uintptr_t base,
                                    struct wf_vrank_kernel_places *places, struct wf_err *err)
{
    for (size_t i = 0; i < symbols->n; i++) {
        const ElfW(Sym) *symbol = &symbols->list[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
            symbol->st_name >= symbols->names_size ||
            wf_vrank_program_bytes(file, symbol->st_value, symbol->st_size) == NULL) {
            continue;
        }
        const char *name = symbols->names + symbol->st_name;
        note_allocating(kernels, name, base + symbol->st_value, symbol->st_size, places);
        uint32_t number = wf_vrank_kernels_find(kernels, name);
        unsigned char *at = (unsigned char *)(base + symbol->st_value);
        unsigned char jump[WF_VRANK_JUMP_MAX];
        if (number == WF_VRANK_KERNEL_NONE) {
            continue;
        }
        bool real = kernels->functions[number].is_real;
        size_t n = make_jump(code_of(number, real), jump);
        if (symbol->st_size < n || memcmp(at, jump, n) != 0) { /* not both tables name it */
            WF_TRY(
                patch(kernels, number, at, symbol->st_size, &places->functions[number], err));
        }
    }
    return WF_OK;
}

enum wf_status wf_vrank_kernels_patch(const struct wf_vrank_kernels *kernels,
                                      const struct wf_vrank_program_file *file, uintptr_t base,
                                      struct wf_vrank_kernel_places *places, struct wf_err *err)
{
    const ElfW(Ehdr) *header = (const void *)file->bytes;
    struct symbols symbols;

    if (base == 0 || header->e_shentsize != sizeof(ElfW(Shdr)) ||
        header->e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
        !is_inside(file, header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr)))) {
        return WF_OK; /* without sections there are only imports */
    }
    const ElfW(Shdr) *sections = (const void *)(file->bytes + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (symbols_in(file, sections, header->e_shnum, i, &symbols)) {
            WF_TRY(patch_symbols(kernels, file, &symbols, base, places, err));
        }
    }
    return WF_OK;
}

/* ---- imports ---- */

struct imports {
    const struct wf_vrank_kernels *kernels;
    uintptr_t base;
    struct wf_vrank_kernel_places *places;
};

static void replace(const char *name, uintptr_t *bound, void *arg)
{
    const struct imports *imports = arg;
    uint32_t number = wf_vrank_kernels_find(imports->kernels, name);

    if (number == WF_VRANK_KERNEL_NONE || imports->places->functions[number].is_patched) {
        return;
    }
    imports->places->functions[number].code = imports->places->functions[number].code == NULL
                                                  ? (unsigned char *)*bound
                                                  : imports->places->functions[number].code;
    *bound = (uintptr_t)code_of(number, imports->kernels->functions[number].is_real);
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct imports *imports = arg;

    (void)size;
    if (info->dlpi_addr != imports->base) {
        return 0;
    }
    wf_imports_visit(info, replace, arg);
    return 1;
}

void wf_vrank_kernels_import(const struct wf_vrank_kernels *kernels, uintptr_t base,
                             struct wf_vrank_kernel_places *places)
{
    struct imports imports = {kernels, base, places};

    if (base != 0) {
        (void)dl_iterate_phdr(visit, &imports);
    }
}
