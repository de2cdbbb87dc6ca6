#!/usr/bin/env python3
"""check.py PAGE JSON [BROWSER]: what a reader, a screen reader and a browser find in the page of a report.
Speaks TAP without a plan. Without BROWSER only what the file itself shows."""
import html.parser
import json
import re
import subprocess
import sys
import tempfile

page, data = open(sys.argv[1], encoding="utf-8").read(), json.load(open(sys.argv[2], encoding="utf-8"))
browser = sys.argv[3] if len(sys.argv) > 3 else None
VOID = "meta br img link input hr path rect".split()


def test(name, wrong):
    print(("not ok" if wrong else "ok") + " 0 - " + name)
    if wrong:
        print("# " + str(wrong)[:400].replace("\n", " "))


class Outline(html.parser.HTMLParser):
    """Elements as (tag, attributes, text), the stack of open ones checked."""

    def __init__(self):
        super().__init__()
        self.stack, self.elements, self.wrong = [], [], []

    def handle_starttag(self, tag, attrs):
        e = [tag, dict(attrs), "", [t[0] for t in self.stack]]
        if len(dict(attrs)) != len(attrs):
            self.wrong.append("attribute twice in " + tag)
        self.elements.append(e)
        if tag not in VOID or tag == "path":
            self.stack.append(e)

    def handle_startendtag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), "", []])

    def handle_endtag(self, tag):
        if not self.stack or self.stack[-1][0] != tag:
            if tag == "rect":
                return
            self.wrong.append("</%s> closes %s" % (tag, self.stack[-1][0] if self.stack else "nothing"))
        else:
            self.stack.pop()

    def handle_data(self, text):
        for e in self.stack:
            e[2] += text


o = Outline()
o.feed(page)
found = lambda *tags: [e for e in o.elements if e[0] in tags]
test("elements_are_closed", o.wrong or [e[0] for e in o.stack])
test("there_is_no_script", [e for e in o.elements if e[0] in ("script", "iframe", "object", "img", "link", "base", "form") or
                            any(k.startswith("on") for k in e[1])])
test("nothing_comes_from_a_network", [e for e in o.elements for k in ("src", "href", "action", "xlink:href")
                                      if not e[1].get(k, "#").startswith("#")] or "url(" in page or "@import" in page)
levels = [int(e[0][1]) for e in found("h1", "h2", "h3", "h4")]
test("headings_make_an_outline", levels[:1] != [1] or levels.count(1) != 1 or any(b > a + 1 for a, b in zip(levels, levels[1:])))
ids = [e[1]["id"] for e in o.elements if "id" in e[1]]
test("ids_are_unique_and_links_lead_to_them", len(ids) != len(set(ids)) or
     [e for e in found("a") if e[1]["href"][1:] not in ids])
test("tables_have_captions_and_headers", [e for e in found("th") if e[1].get("scope") not in ("row", "col")] or
     len(found("caption")) != len(found("table")) or [e for e in found("caption") if not e[2].strip()])
test("charts_have_a_text", [e for e in found("svg") if e[1].get("role") != "img" or len(e[1].get("aria-label", "")) < 20] or
     len(found("figcaption")) != len(found("figure")))
test("sections_have_names", [e for e in found("section") if e[1].get("aria-labelledby") not in ids])
test("there_is_a_language_and_a_viewport", 'lang="en"' not in page or 'name="viewport"' not in page or
     "default-src 'none'" not in page)

HARNESS = """<!DOCTYPE html><meta charset="utf-8"><title>harness</title><body><iframe id="f" style="border:0;width:%dpx;height:900px"></iframe>
<pre id="result"></pre><script>
var errors = [];
window.onerror = function (m) { errors.push(String(m)); };
function lum(c) {
  var v = c.match(/[\\d.]+/g).slice(0, 3).map(function (x) { x /= 255; return x <= 0.03928 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4); });
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
}
function behind(e) {
  for (; e; e = e.parentElement) { var c = getComputedStyle(e).backgroundColor; if (c != 'rgba(0, 0, 0, 0)') return c; }
  return 'rgb(255,255,255)';
}
var f = document.getElementById('f');
f.onload = function () {
  var d = f.contentDocument, low = [], small = [];
  d.querySelectorAll('h1,h2,h3,p,dt,dd,th,td,a,li,figcaption,caption,summary,strong,span').forEach(function (e) {
    if (!e.textContent.trim() || !e.offsetParent) return;
    var s = getComputedStyle(e), a = lum(s.color), b = lum(behind(e)), r = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (r < 4.5) low.push(e.tagName + ' ' + r.toFixed(2) + ' ' + e.textContent.slice(0, 20));
    if (parseFloat(s.fontSize) < 12) small.push(e.tagName + ' ' + s.fontSize);
  });
  document.getElementById('result').textContent = JSON.stringify({
    hacked: window.hacked === undefined ? null : 1, errors: errors, low: low.slice(0, 5), small: small.slice(0, 5),
    wide: [d.documentElement.scrollWidth, d.documentElement.clientWidth], background: getComputedStyle(d.body).backgroundColor,
    charts: Array.from(d.querySelectorAll('svg')).map(function (s) { var b = s.getBoundingClientRect(); return [b.width, b.height]; }),
    rows: Array.from(d.querySelectorAll('tr')).map(function (r) { return Array.from(r.cells).map(function (c) { return c.textContent; }); }),
    text: d.body.textContent});
};
f.srcdoc = atob('%s').split('').length ? new TextDecoder().decode(Uint8Array.from(atob('%s'), function (c) { return c.charCodeAt(0); })) : '';
</script>"""


def look(width, dark):
    import base64
    coded = base64.b64encode(page.encode()).decode()
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as f:
        f.write(HARNESS % (width, coded, coded))
        f.flush()
        out = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                              "--blink-settings=preferredColorScheme=%d" % (0 if dark else 1), "--virtual-time-budget=20000",
                              "--window-size=1300,1000", "--dump-dom", "file://" + f.name],
                             capture_output=True, text=True, timeout=300)
    m = re.search(r'<pre id="result">(.*?)</pre>', out.stdout, re.S)
    import html
    return json.loads(html.unescape(m.group(1))) if m and m.group(1) else None


if browser:
    background = {}
    for width, dark in ((390, False), (390, True), (1200, False), (1200, True)):
        how = "%s_%s" % ("phone" if width == 390 else "desktop", "dark" if dark else "light")
        r = look(width, dark)
        if not r:
            test(how + "_opens", "no result from the browser")
            continue
        test(how + "_runs_no_script", r["hacked"] or r["errors"])
        test(how + "_fits_the_width", r["wide"][0] > r["wide"][1] and r["wide"])
        test(how + "_has_contrast", r["low"])
        test(how + "_has_no_tiny_text", r["small"])
        test(how + "_draws_charts", [c for c in r["charts"] if c[0] < 100 or c[1] < 60] or len(r["charts"]) < 1)
        background[how] = r["background"]
        if "rows" in data:
            have = [tuple(x) for x in r["rows"]]
            want = [(x["collective"], x["size"], x["algorithm"] or "host MPI: " + x["host"], str(x["calls"]),
                     "%.3f" % (x["seconds"] * 1e3)) for x in data["rows"]]
            test(how + "_has_the_counts", [w for w in want if w not in have][:3])
            names = [x["name"] for x in data.get("communicators", [])]
            clean = [re.sub(r"[\x00-\x1f\x7f]", " ", n) or "(no name)" for n in names]
            test(how + "_has_the_communicators", [n for n in clean if n not in r["text"]][:3])
            value = ["%.3f" % (v["saved_seconds"] * 1e3) for v in data["value"]["rows"]]
            late = ["%.3f" % (v["caused_seconds"] * 1e3) for v in data.get("waiting", {}).get("late", [])]
            cells = {c for row in have for c in row}
            test(how + "_has_what_was_saved_and_who_is_late", [v for v in value + late if v not in cells][:3])
            t = data["traffic"]
            test(how + "_has_the_traffic", [v for v in (t["between_nodes"]["messages"], t["inside_nodes"]["bytes"],
                                                       t["shared_memory_bytes"]) if str(v) not in cells])
    test("light_and_dark_differ", len(set(background.values())) != 2 and background)
