/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without libFuzzer on each file named, and on each file in each directory
 * named: a corpus as a plain test. Fails if a file cannot be read, or if there is none. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
