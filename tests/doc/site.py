#!/usr/bin/env python3
"""site.py DIR: every link of the site leads to a page, an anchor or a file that is there; every page has one h1, no heading skips
a level, every table has headers, every picture a text, and no script or file comes from elsewhere."""
import html.parser
import os
import sys
from urllib.parse import unquote, urlparse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.levels, self.wrong = set(), [], [], []
        self.tables = self.headers = 0
        with open(path) as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if "id" in a:
            if a["id"] in self.ids:
                self.wrong.append(f"id {a['id']} twice")
            self.ids.add(a["id"])
        if tag == "a" or tag == "link":
            self.links.append(a.get("href", ""))
        if tag == "img":
            self.links.append(a.get("src", ""))
            if not a.get("alt"):
                self.wrong.append("a picture without a text")
        if tag == "script" or (tag in ("img", "link") and "//" in self.links[-1]):
            self.wrong.append(f"{tag} from elsewhere, or a script")
        if tag in ("h1", "h2", "h3", "h4"):
            level = int(tag[1])
            if level > (self.levels[-1] if self.levels else 0) + 1:
                self.wrong.append(f"{tag} skips a level")
            self.levels.append(level)
        self.tables += tag == "table"
        self.headers += tag == "th" and a.get("scope") == "col"


root = sys.argv[1]
pages = {name: Page(os.path.join(root, name)) for name in os.listdir(root) if name.endswith(".html")}
wrong = []
for name, page in sorted(pages.items()):
    wrong += [f"{name}: {w}" for w in page.wrong]
    if page.levels.count(1) != 1:
        wrong.append(f"{name}: {page.levels.count(1)} h1")
    if page.headers < page.tables:
        wrong.append(f"{name}: a table without headers")
    for link in page.links:
        url = urlparse(link)
        target = unquote(url.path) or name
        if url.scheme in ("https", "http"):
            continue
        if url.scheme or not os.path.exists(os.path.join(root, target)):
            wrong.append(f"{name}: {link} leads nowhere")
        elif url.fragment and url.fragment not in pages[target].ids:
            wrong.append(f"{name}: no anchor {link}")
if len(pages) < 10:
    wrong.append(f"only {len(pages)} pages")
print("\n".join(wrong))
sys.exit(bool(wrong))
