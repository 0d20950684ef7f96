/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/draw/picture.h"

#include "base/array.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wf_draw_picture_fini(struct wf_draw_picture *picture)
{
    free(picture->marks);
    free(picture->lines);
    free(picture->notes);
    *picture = (struct wf_draw_picture){.n_marks = 0};
}

uint32_t wf_draw_picture_mark(struct wf_draw_picture *picture, const struct wf_draw_mark *mark)
{
    WF_GROW(picture->marks, picture->n_marks, picture->marks_capacity);
    picture->marks[picture->n_marks] = *mark;
    return picture->n_marks++;
}

uint32_t wf_draw_picture_line(struct wf_draw_picture *picture, const struct wf_draw_line *line)
{
    WF_GROW(picture->lines, picture->n_lines, picture->lines_capacity);
    picture->lines[picture->n_lines] = *line;
    return picture->n_lines++;
}

void wf_draw_picture_note(struct wf_draw_picture *picture, double x, double y, double size,
                          const char *fmt, ...)
{
    struct wf_draw_note note = {.x = x, .y = y, .size = size};
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(note.text, sizeof(note.text), fmt, ap);
    va_end(ap);
    WF_PUSH(picture->notes, picture->n_notes, picture->notes_capacity, note);
}

void wf_draw_picture_legend(struct wf_draw_picture *picture, const char *fmt, ...)
{
    size_t used = strlen(picture->legend);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(picture->legend + used, sizeof(picture->legend) - used, fmt, ap);
    va_end(ap);
}

uint32_t wf_draw_picture_append(struct wf_draw_picture *picture,
                                const struct wf_draw_picture *from, double x, double y,
                                double scale)
{
    uint32_t first = picture->n_marks;

    for (uint32_t i = 0; i < from->n_marks; i++) {
        struct wf_draw_mark mark = from->marks[i];
        mark.x = x + mark.x * scale;
        mark.y = y + mark.y * scale;
        mark.r *= scale;
        (void)wf_draw_picture_mark(picture, &mark);
    }
    for (uint32_t i = 0; i < from->n_lines; i++) {
        struct wf_draw_line line = from->lines[i];
        line.a += first;
        line.b += first;
        line.bow *= scale;
        (void)wf_draw_picture_line(picture, &line);
    }
    for (uint32_t i = 0; i < from->n_notes; i++) {
        const struct wf_draw_note *note = &from->notes[i];
        wf_draw_picture_note(picture, x + note->x * scale, y + note->y * scale,
                             note->size * scale, "%s", note->text);
    }
    return first;
}

void wf_draw_picture_spread(struct wf_draw_picture *picture, double factor)
{
    for (uint32_t i = 0; i < picture->n_marks; i++) {
        picture->marks[i].x *= factor;
        picture->marks[i].y *= factor;
    }
    for (uint32_t i = 0; i < picture->n_lines; i++) {
        picture->lines[i].bow *= factor;
    }
    for (uint32_t i = 0; i < picture->n_notes; i++) {
        picture->notes[i].x *= factor;
        picture->notes[i].y *= factor;
    }
}

void wf_draw_picture_control(const struct wf_draw_picture *picture,
                             const struct wf_draw_line *line, double *x, double *y)
{
    const struct wf_draw_mark *a = &picture->marks[line->a], *b = &picture->marks[line->b];
    double dx = b->x - a->x, dy = b->y - a->y;
    double length = sqrt(dx * dx + dy * dy);
    double off = length > 0 ? 2 * line->bow / length : 0; /* a curve goes half-way to it */

    *x = (a->x + b->x) / 2 + dy * off;
    *y = (a->y + b->y) / 2 - dx * off;
}

static void include(struct wf_draw_box *box, double x, double y, double half_width,
                    double half_height)
{
    box->left = fmin(box->left, x - half_width);
    box->right = fmax(box->right, x + half_width);
    box->top = fmin(box->top, y - half_height);
    box->bottom = fmax(box->bottom, y + half_height);
}

struct wf_draw_box wf_draw_picture_bounds(const struct wf_draw_picture *picture)
{
    struct wf_draw_box box = {HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};

    for (uint32_t i = 0; i < picture->n_marks; i++) {
        const struct wf_draw_mark *mark = &picture->marks[i];
        include(&box, mark->x, mark->y, mark->r, mark->r);
    }
    for (uint32_t i = 0; i < picture->n_lines; i++) {
        const struct wf_draw_line *line = &picture->lines[i];
        const struct wf_draw_mark *a = &picture->marks[line->a], *b = &picture->marks[line->b];
        double x, y;

        wf_draw_picture_control(picture, line, &x, &y);
        include(&box, ((a->x + b->x) / 2 + x) / 2, ((a->y + b->y) / 2 + y) / 2, 1, 1);
    }
    for (uint32_t i = 0; i < picture->n_notes; i++) {
        const struct wf_draw_note *note = &picture->notes[i];
        include(&box, note->x, note->y, 0.3 * note->size * (double)strlen(note->text),
                note->size);
    }
    if (box.left > box.right) {
        return (struct wf_draw_box){0, 0, 0, 0};
    }
    return box;
}
