/* SPDX-License-Identifier: Apache-2.0 */
/* Mutates a file in place and keeps most of its structure (tests/fuzz/mutate.h).
 *
 * usage: adversary_mutate SEED FILE [OTHER]
 *
 * Parts come from the file itself, and from OTHER, a file of the same format. Files that are longer
 * than MUTATE_MAX are left alone. */
#include "fuzz/mutate.h"

static bool read_file(const char *path, struct mutate_bytes *out)
{
    FILE *in = fopen(path, "rb");

    out->data = malloc(MUTATE_MAX);
    out->size = in != NULL && out->data != NULL ? fread(out->data, 1, MUTATE_MAX, in) : 0;
    bool whole = in != NULL && out->size < MUTATE_MAX;
    if (in != NULL) {
        (void)fclose(in);
    }
    return whole;
}

int main(int argc, char **argv)
{
    struct mutate_bytes file = {.data = NULL}, other = {.data = NULL};

    if (argc < 3) {
        return EXIT_FAILURE;
    }
    if (!read_file(argv[2], &file)) {
        return EXIT_SUCCESS;
    }
    bool has_other = argc > 3 && read_file(argv[3], &other);
    mutate(&file, has_other ? &other : &file, strtoull(argv[1], NULL, 10));
    FILE *out = fopen(argv[2], "wb");
    bool good = out != NULL && fwrite(file.data, 1, file.size, out) == file.size;
    good = out != NULL && fclose(out) == 0 && good;
    free(file.data);
    free(other.data);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
