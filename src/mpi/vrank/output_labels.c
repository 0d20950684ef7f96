/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/vrank/output_labels.h"

#include "base/buf.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wf_vrank_labels {
    uint32_t n_ranks;
    bool (*who)(uint32_t *rank);
    struct wf_buf **begun; /* [rank] an incomplete line; null if there is none */
    pthread_mutex_t lock;  /* protects the output */
    FILE *before, *ours;
    bool in_child;
};

static void put_line(struct wf_vrank_labels *labels, uint32_t rank, const char *text, size_t n)
{
    struct wf_buf *begun = labels->begun[rank];

    (void)pthread_mutex_lock(&labels->lock);
    (void)fprintf(labels->before, "[%u] ", rank);
    if (begun != NULL) {
        (void)fwrite(begun->data, 1, begun->size, labels->before);
        begun->size = 0;
    }
    (void)fwrite(text, 1, n, labels->before);
    (void)fputc('\n', labels->before);
    (void)fflush(labels->before); /* the rank may crash at any time */
    (void)pthread_mutex_unlock(&labels->lock);
}

static void keep(struct wf_vrank_labels *labels, uint32_t rank, const char *text, size_t n)
{
    if (labels->begun[rank] == NULL) {
        labels->begun[rank] = wf_xcalloc(1, sizeof(struct wf_buf));
    }
    wf_buf_append(labels->begun[rank], text, n);
}

static ssize_t put(void *cookie, const char *text, size_t size)
{
    struct wf_vrank_labels *labels = cookie;
    size_t left = size;
    uint32_t rank;

    if (labels->in_child || !labels->who(&rank)) {
        return (ssize_t)fwrite(text, 1, size, labels->before);
    }
    while (left > 0) {
        const char *end = memchr(text, '\n', left);
        if (end == NULL) {
            keep(labels, rank, text, left);
            break;
        }
        put_line(labels, rank, text, (size_t)(end - text));
        left -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    return (ssize_t)size;
}

struct wf_vrank_labels *wf_vrank_labels_new(uint32_t n_ranks, bool (*who)(uint32_t *rank))
{
    struct wf_vrank_labels *labels = wf_xcalloc(1, sizeof(*labels));

    *labels = (struct wf_vrank_labels){.n_ranks = n_ranks, .who = who, .before = stdout};
    labels->begun = wf_xcalloc(n_ranks, sizeof(struct wf_buf *));
    (void)pthread_mutex_init(&labels->lock, NULL);
    labels->ours = fopencookie(labels, "w", (cookie_io_functions_t){.write = put});
    if (labels->ours != NULL) {
        /* Unbuffered: a buffer would mix the output of ranks. */
        (void)setvbuf(labels->ours, NULL, _IONBF, 0);
        stdout = labels->ours;
    }
    return labels;
}

void wf_vrank_labels_in_child(struct wf_vrank_labels *labels)
{
    if (labels != NULL) {
        labels->in_child = true;
    }
}

void wf_vrank_labels_ended(struct wf_vrank_labels *labels, uint32_t rank)
{
    if (labels == NULL || labels->begun[rank] == NULL) {
        return;
    }
    if (labels->begun[rank]->size > 0) {
        put_line(labels, rank, "", 0);
    }
    wf_buf_fini(labels->begun[rank]);
    free(labels->begun[rank]);
    labels->begun[rank] = NULL;
}

void wf_vrank_labels_free(struct wf_vrank_labels *labels)
{
    if (labels == NULL) {
        return;
    }
    for (uint32_t i = 0; i < labels->n_ranks; i++) {
        wf_vrank_labels_ended(labels, i);
    }
    stdout = labels->before;
    if (labels->ours != NULL) {
        (void)fclose(labels->ours);
    }
    (void)pthread_mutex_destroy(&labels->lock);
    free(labels->begun);
    free(labels);
}
