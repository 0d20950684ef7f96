/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without libFuzzer on each file named, and on each file in each directory
 * named: a corpus as a plain test. Fails if a file cannot be read, or if there is none.
 *
 *     fuzz_x --mutate FIRST COUNT DIRECTORY
 *
 * runs mutations of the files of a corpus instead, numbers FIRST to FIRST + COUNT - 1: of any format
 * (mutate.h), and by what the reader says of its own (described.h) when it reads the corpus. Before
 * each one its number is in the file `mutation` of the current directory, for the case that it ends the
 * program.
 *
 * With libFuzzer, --mutate works as well, and libFuzzer mutates with mutate.h as often as with its own
 * means. */
#include "fuzz/described.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- mutations ---- */

enum { FILES_MAX = 512 };

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static size_t read_corpus(const char *path, struct mutate_bytes *files)
{
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, NULL, by_name);
    size_t kept = 0;

    for (int i = 0; i < n; i++) {
        char inner[4096];
        (void)snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
        FILE *file =
            entries[i]->d_name[0] != '.' && kept < FILES_MAX ? fopen(inner, "rb") : NULL;
        if (file != NULL) {
            files[kept].data = malloc(MUTATE_MAX);
            files[kept].size = fread(files[kept].data, 1, MUTATE_MAX, file);
            if (files[kept].size > 0) {
                kept++;
            } else {
                free(files[kept].data);
            }
            (void)fclose(file);
        }
        free(entries[i]);
    }
    free(entries);
    return kept;
}

static void note(int fd, uint64_t number)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%20llu\n", (unsigned long long)number);

    (void)!pwrite(fd, text, (size_t)n, 0);
}

/* Half of all mutations are by what the reader says. */
static void mutate_one(struct mutate_bytes *one, const struct mutate_bytes *other,
                       const struct described *about, uint64_t *state)
{
    static const uint8_t times[] = {1, 1, 1, 2, 4};

    for (uint64_t i = mutate_draw(state, 4) > 0 ? times[mutate_draw(state, sizeof(times))] : 0;
         i > 0; i--) {
        (void)described_mutate(one, about, state);
    }
    if (mutate_draw(state, 2) == 0) {
        mutate(one, other, mutate_draw(state, UINT64_MAX));
    }
}

static int run_mutations(uint64_t first, uint64_t count, const char *corpus)
{
    static struct mutate_bytes files[FILES_MAX];
    static struct described about[FILES_MAX];
    struct mutate_bytes one = {.data = malloc(MUTATE_MAX)};
    size_t n = read_corpus(corpus, files), n_values = 0, n_parts = 0;
    int fd = open("mutation", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    for (size_t i = 0; i < n; i++) {
        described_begin(files[i].data, files[i].size);
        (void)LLVMFuzzerTestOneInput(files[i].data, files[i].size);
        about[i] = described_end();
        n_values += about[i].n_values;
        n_parts += about[i].n_parts;
    }
    for (uint64_t i = first; i < first + count && n > 0 && fd >= 0; i++) {
        uint64_t state = i;
        const struct mutate_bytes *from = &files[mutate_draw(&state, n)];
        const struct mutate_bytes *other = &files[mutate_draw(&state, n)];
        memcpy(one.data, from->data, from->size);
        one.size = from->size;
        mutate_one(&one, mutate_draw(&state, 2) == 0 ? from : other, &about[from - files],
                   &state);
        note(fd, i);
        uint8_t *exact = malloc(one.size + 1);
        memcpy(exact, one.data, one.size);
        (void)LLVMFuzzerTestOneInput(exact, one.size);
        free(exact);
    }
    for (size_t i = 0; i < n; i++) {
        free(files[i].data);
    }
    free(one.data);
    (void)close(fd);
    struct described_counts known = described_count();
    printf(
        "%llu mutations of %zu files; described by %zu words, %zu members, %zu values and %zu "
        "parts\n",
        (unsigned long long)count, n, known.words, known.members, n_values, n_parts);
    return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION

int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t max_size,
                                 unsigned seed);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char **words = *argv;

    if (*argc == 5 && strcmp(words[1], "--mutate") == 0) {
        exit(run_mutations(strtoull(words[2], NULL, 10), strtoull(words[3], NULL, 10),
                           words[4]));
    }
    described_begin(NULL, 0); /* words and members, of all inputs */
    return 0;
}

/* A mutation of one input with parts of another, cut to what libFuzzer allows. */
static size_t mutate_into(struct mutate_span given, const uint8_t *one, const uint8_t *other,
                          size_t other_size, uint8_t *out, unsigned seed)
{
    struct mutate_bytes file = {.data = malloc(MUTATE_MAX), .size = given.at};
    struct mutate_bytes parts = {.data = malloc(other_size + 1), .size = other_size};

    memcpy(file.data, one, given.at);
    memcpy(parts.data, other, other_size);
    uint64_t state = seed;
    mutate_one(&file, &parts, &(struct described){.n_values = 0}, &state);
    size_t n = file.size < given.n ? file.size : given.n;
    memcpy(out, file.data, n);
    free(file.data);
    free(parts.data);
    return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    if (seed % 2 == 0 || size == 0 || size > MUTATE_MAX) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    return mutate_into((struct mutate_span){size, max_size}, data, data, size, data, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t max_size,
                                 unsigned seed)
{
    if (size > MUTATE_MAX) {
        return 0;
    }
    return mutate_into((struct mutate_span){size, max_size}, one, other, other_size, out, seed);
}

#else

enum { INPUT_MAX = 1 << 20 };

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return -1;
    }

    uint8_t *data = malloc(INPUT_MAX);
    size_t size = data == NULL ? 0 : fread(data, 1, INPUT_MAX, file);
    int failed = data == NULL || ferror(file) != 0;
    (void)fclose(file);
    if (failed) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        free(data);
        return -1;
    }

    /* In a block of its own size, so that a sanitizer sees any step beyond it. */
    uint8_t *exact = realloc(data, size == 0 ? 1 : size);
    (void)LLVMFuzzerTestOneInput(exact != NULL ? exact : data, size);
    free(exact != NULL ? exact : data);
    return 1;
}

/* The number of inputs run, or -1. */
static int replay(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return replay_file(path);
    }

    int n = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL && n >= 0; entry = readdir(dir)) {
        char inner[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        n = replay_file(inner) < 0 ? -1 : n + 1;
    }
    (void)closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    int total = 0;

    if (argc == 5 && strcmp(argv[1], "--mutate") == 0) {
        return run_mutations(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), argv[4]);
    }

    for (int i = 1; i < argc; i++) {
        int n = replay(argv[i]);
        if (n < 0) {
            return EXIT_FAILURE;
        }
        total += n;
    }
    printf("%d inputs replayed\n", total);
    return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
