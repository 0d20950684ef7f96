/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The settings of a model that is being fitted: a short list of keys with their values as text. A
 * setting that the fit varies has its value as a number too. The model owns the texts; notes are
 * borrowed and must outlive it.
 */

#include "ui/study/calibration.h"

/* The setting with this key, or null. */
struct wf_calibration_setting *wf_calibration_find(struct wf_calibration_model *model,
                                                   const char *key);
/* Adds or replaces a setting; does nothing if the list is full. */
void wf_calibration_set(struct wf_calibration_model *model, const char *key, const char *text,
                        const char *note);
/* The same for a number: a rate in bytes per second, a size in bytes, or a time in ns. */
void wf_calibration_set_number(struct wf_calibration_model *model, const char *key,
                               double number, const char *note);
/* The same for a number that the fit is to vary, from this one on. */
void wf_calibration_vary(struct wf_calibration_model *model, const char *key, double number,
                         const char *note);
/* The text of such a number, with its unit; the key says what it is. */
void wf_calibration_format(const char *key, double number, char *buf, size_t size);
void wf_calibration_remove(struct wf_calibration_model *model, const char *key);
void wf_calibration_clear(struct wf_calibration_model *model);
/* Replaces the settings of `to` by copies of those of `from`. */
void wf_calibration_copy(const struct wf_calibration_model *from,
                         struct wf_calibration_model *to);
