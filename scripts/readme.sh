#!/bin/sh
# readme.sh [--only TEXT] [--all] [--test-log LOG] [FILE...]: run the commands that README.md (or FILE)
# shows, and replace the output in it.
#
#   a block whose first line is "$ COMMAND"   the output follows that line
#   a block below <!-- run: COMMAND -->       is replaced as a whole; its first line becomes "$ COMMAND",
#                                             with the filter (| sed ...) if COMMAND has one
#   a block with a command and no output      is left alone
#
# Commands that start with "make" take long and run only with --all, or if --only selects them.
#   --only TEXT     only the blocks whose command contains TEXT
#   --test-log LOG  fill the block of `make test` from LOG, the output of an earlier run; nothing else
cd "$(dirname "$0")/.." || exit 1
PATH=$PWD/build/bin:$PATH
export PATH
exec python3 - "$@" <<'END'
import argparse
import re
import subprocess
import sys

parser = argparse.ArgumentParser(prog="readme.sh")
parser.add_argument("--only", metavar="TEXT")
parser.add_argument("--all", action="store_true")
parser.add_argument("--test-log", metavar="LOG")
parser.add_argument("files", metavar="FILE", nargs="*", default=["README.md"])
args = parser.parse_args()


def wanted(command):
    if args.test_log:
        return command.startswith("make test")
    if args.only:
        return args.only in command
    return args.all or not command.startswith("make")


def output(command):
    if args.test_log:
        command = re.sub(r"^make test", f"cat '{args.test_log}'", command)
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        sys.exit(f"readme.sh: status {run.returncode} of: {command}\n{run.stdout}")
    return run.stdout.rstrip("\n")


def block(m):
    marked, body = m.group(1), m.group(2)
    first, _, rest = body.partition("\n")
    command = marked or (first[2:] if first.startswith("$ ") and rest.strip() else None)
    if not command or not wanted(command):
        return m.group(0)
    mark = f"<!-- run: {marked} -->\n" if marked else ""
    return f"{mark}```\n$ {command}\n{output(command)}\n```\n"


for path in args.files:
    with open(path) as f:
        text = f.read()
    text = re.sub(r"(?:^<!-- run: (.*?) -->\n)?^```\n(.*?)\n```\n", block, text, flags=re.S | re.M)
    with open(path, "w") as f:
        f.write(text)
END
