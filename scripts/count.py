#!/usr/bin/env python3
"""count.py LOG: passed, failed and skipped tests of a JUnit file as Meson writes it."""
import sys
import xml.etree.ElementTree as tree

passed = failed = skipped = 0
for case in tree.parse(sys.argv[1]).iter("testcase"):
    if case.find("skipped") is not None:
        skipped += 1
        print("skip", case.get("name"), file=sys.stderr)
    elif case.find("failure") is not None or case.find("error") is not None:
        failed += 1
    else:
        passed += 1
print(passed, failed, skipped)
