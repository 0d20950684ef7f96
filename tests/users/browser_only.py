# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes of somebody who has a browser and a page that another sent: sliders, and a trace dropped into it."""
import pathlib

from minutes import browser, check, finish, page_check, run, weft


def main():
    done = run("try", "-o", "try.html")
    if done.returncode != 0 or not browser.find():
        check("no live pages" in done.stderr or not browser.find(), "no page to try", done)
        print("skipped: no live pages, or no browser")
        finish()
        return
    weft("gen", "stencil2d", "-n", "4", "--parts", "4", "-o", "trace.weft")
    pages = page_check.Pages()
    page = pages.page
    check(pages.open("try.html") and page.wait("document.querySelector('#live-status').dataset.digest"), "the first answer")
    first = page.value("doc.result.predicted_time_ps")
    root = page.call("DOM.getDocument")["root"]["nodeId"]
    files = page.call("DOM.querySelector", nodeId=root, selector="#try-file")["nodeId"]
    page.call("DOM.setFileInputFiles", nodeId=files, files=[str(path.resolve()) for path in sorted(pathlib.Path("trace.weft").iterdir())])
    check(page.wait("doc.scenario.source === '/trace' && doc.scenario.ranks === 4"), "the files of a trace of four ranks: "
          + str(page.value("document.getElementById('live-error').textContent")))
    check(page.value("doc.result.predicted_time_ps") != first, "the page still shows the first run")
    # A file that is no trace: the page says so, and shows the last run that worked.
    page.value("takeFiles([new File(['%PNG'], 'photo.png')])")
    check(page.wait("/photo.png/.test(document.getElementById('live-error').textContent)"),
          "a picture is taken: " + str(page.value("document.getElementById('live-error').textContent")))
    check(page.value("doc.scenario.source") == "/trace", "the last run is gone")
    # A page that somebody sent, of a run that he cannot repeat at home: on a telephone, and printed.
    weft("replay", "gen:cg", "-n", "48", "--machine", "xc", "--runs", "3", "-q", "-o", "sent.html")
    check(pages.problems("sent.html", ((400, "dark", ""), (1400, "light", "print"))) == [], "the page that was sent")
    check(page.problems == [], f"{page.problems}")
    page.close()
    finish()


main()
