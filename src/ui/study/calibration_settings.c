/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/calibration_settings.h"

#include "base/mem.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

struct wf_calibration_setting *wf_calibration_find(struct wf_calibration_model *model,
                                                   const char *key)
{
    for (size_t i = 0; i < model->n; i++) {
        if (strcmp(model->settings[i].key, key) == 0) {
            return &model->settings[i];
        }
    }
    return NULL;
}

void wf_calibration_set(struct wf_calibration_model *model, const char *key, const char *text,
                        const char *note)
{
    struct wf_calibration_setting *setting = wf_calibration_find(model, key);

    if (setting == NULL) {
        if (model->n == WF_CALIBRATION_SETTINGS_MAX) {
            return;
        }
        setting = &model->settings[model->n++];
        *setting = (struct wf_calibration_setting){.number = 0};
        (void)snprintf(setting->key, sizeof(setting->key), "%s", key);
    }
    free(setting->text);
    setting->text = wf_xstrdup(text);
    setting->note = note;
}

void wf_calibration_remove(struct wf_calibration_model *model, const char *key)
{
    struct wf_calibration_setting *setting = wf_calibration_find(model, key);

    if (setting != NULL) {
        free(setting->text);
        *setting = model->settings[--model->n];
    }
}

void wf_calibration_clear(struct wf_calibration_model *model)
{
    for (size_t i = 0; i < model->n; i++) {
        free(model->settings[i].text);
    }
    model->n = 0;
}

void wf_calibration_copy(const struct wf_calibration_model *from,
                         struct wf_calibration_model *to)
{
    wf_calibration_clear(to);
    to->n = from->n;
    for (size_t i = 0; i < from->n; i++) {
        to->settings[i] = from->settings[i];
        to->settings[i].text = wf_xstrdup(from->settings[i].text);
    }
}

void wf_calibration_format(const char *key, double number, char *buf, size_t size)
{
    char text[WF_UNITS_TEXT_MAX];

    if (strcmp(key, "net.burst") == 0) {
        (void)snprintf(text, sizeof(text), "%.0fB", number);
    } else if (strstr(key, "bandwidth") != NULL) {
        (void)wf_format_measured_rate(number, text);
    } else {
        (void)wf_format_measured_time(number * 1e3, text);
    }
    (void)snprintf(buf, size, "%s", text);
}

void wf_calibration_set_number(struct wf_calibration_model *model, const char *key,
                               double number, const char *note)
{
    char text[48];

    wf_calibration_format(key, number, text, sizeof(text));
    wf_calibration_set(model, key, text, note);
}

void wf_calibration_vary(struct wf_calibration_model *model, const char *key, double number,
                         const char *note)
{
    wf_calibration_set_number(model, key, number, note);
    struct wf_calibration_setting *setting = wf_calibration_find(model, key);
    if (setting != NULL) {
        setting->number = setting->start = number;
    }
}
