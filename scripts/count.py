#!/usr/bin/env python3
"""count.py LOG...: the tests of Meson's logs (testlog.json), one line for each that failed or was skipped,
with the reason, then: N passed, N failed, N skipped. Ends with status 1 if one failed.

A test that speaks TAP counts as the tests it reports; one that ended otherwise than they say (a crash, a
timeout) counts as one more failure.
"""
import json
import re
import sys

LINE = re.compile(r"^(not )?ok\b *\d* *(?:- )?(.*)$")


def tests_of(entry):
    """(passed, failed, skipped): names, and names with reasons."""
    passed, failed, skipped = [], [], []
    for line in (entry.get("stdout") or "").splitlines():
        m = LINE.match(line)
        if not m:
            if failed and line.startswith("#") and last_failed:
                failed[-1] = (failed[-1][0], (failed[-1][1] + " " + line[1:].strip()).strip())
            continue
        name, _, directive = m.group(2).partition(" # ")
        last_failed = False
        if directive.upper().startswith("SKIP") and not m.group(1):
            skipped.append((name, directive[4:].strip() or directive))
        elif m.group(1):
            failed.append((name, ""))
            last_failed = True
        else:
            passed.append(name)
    return passed, failed, skipped


def main():
    count = [0, 0, 0]
    for path in sys.argv[1:]:
        with open(path) as f:
            for line in f:
                entry = json.loads(line)
                passed, failed, skipped = tests_of(entry)
                result = entry["result"]
                if result == "SKIP" and not skipped:
                    skipped.append(("all", (entry.get("stdout") or "it says no reason").strip()[-200:]))
                elif result in ("FAIL", "TIMEOUT", "INTERRUPT", "ERROR", "UNEXPECTEDPASS") and not failed:
                    failed.append(("as a whole", f"{result}, status {entry.get('returncode')}"))
                elif result in ("OK", "EXPECTEDFAIL") and not (passed or skipped or failed):
                    passed.append("")
                suite = entry["name"].partition(":")[2].replace(" / ", "/") or entry["name"]
                for name, why in failed:
                    print(f"FAIL {suite}: {name}: {why[:600]}")
                for name, why in skipped:
                    print(f"skip {suite}: {name}: {why}")
                for i, found in enumerate((passed, failed, skipped)):
                    count[i] += len(found)
    print("\n{} passed, {} failed, {} skipped".format(*count))
    sys.exit(1 if count[1] else 0)


main()
