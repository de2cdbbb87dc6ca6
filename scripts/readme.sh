#!/bin/sh
# readme.sh [FILE...]: run the commands that README.md (or FILE) shows again, and put what they print in
# place of what stands there. A block that begins with "$ COMMAND" is its own source; one below a line
# <!-- run: COMMAND --> is replaced as a whole. A block with a command and no output is left alone.
cd "$(dirname "$0")/.." || exit 1
PATH=$PWD/build/bin:$PATH
export PATH
[ $# -gt 0 ] || set -- README.md
exec python3 - "$@" <<'END'
import re
import subprocess
import sys


def output(command):
    run = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        sys.exit(f"readme.sh: status {run.returncode} of: {command}\n{run.stdout}")
    return run.stdout.rstrip("\n")


def block(m):
    marked, body = m.group(1), m.group(2)
    first, _, rest = body.partition("\n")
    if marked:
        body = output(marked)
    elif first.startswith("$ ") and rest.strip():
        body = first + "\n" + output(first[2:])
    else:
        return m.group(0)
    return (f"<!-- run: {marked} -->\n" if marked else "") + "```\n" + body + "\n```\n"


for path in sys.argv[1:]:
    with open(path) as f:
        text = f.read()
    text = re.sub(r"(?:<!-- run: (.*?) -->\n)?^```\n(.*?)\n```\n", block, text, flags=re.S | re.M)
    with open(path, "w") as f:
        f.write(text)
END
