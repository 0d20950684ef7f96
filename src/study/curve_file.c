/* SPDX-License-Identifier: Apache-2.0 */
#include "study/curve.h"

#include <string.h>

static const struct wf_curve_format formats[] = {
    {".txt", false, false, wf_curve_table}, {".json", false, false, wf_curve_json},
    {".csv", true, false, wf_curve_csv},    {".svg", true, true, wf_curve_svg},
    {".png", true, true, wf_curve_png},     {".html", false, false, wf_curve_html},
};

enum wf_status wf_curve_for_path(const char *path, bool plot,
                                 const struct wf_curve_format **out, struct wf_err *err)
{
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        size_t end = strlen(formats[i].extension);
        if (length > end && strcmp(path + length - end, formats[i].extension) == 0 &&
            (!plot || formats[i].is_plot)) {
            *out = &formats[i];
            return WF_OK;
        }
    }
    return wf_err_set(err, WF_EUSAGE, "%s '%.200s': the name must end in %s",
                      plot ? "plot" : "curve", path,
                      plot ? ".svg or .png" : ".txt, .json, .csv, .svg, .png or .html");
}
