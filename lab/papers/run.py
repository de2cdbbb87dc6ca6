#!/usr/bin/env python3
"""run.py [--quick] [--build DIR] [-j N] [--list] [--tap] [--figures DIR] [FIGURE...]

Runs the experiments of lab/papers/figures and writes what they give to BUILD/papers: results/ has what
each command printed, csv/ the rows of each figure, index.html the page. What has a result is not run
again, unless its command or a program in it changed: a run that was stopped goes on where it was.
FIGURE is a file name without .toml, or the beginning of one. Ends with status 1 if a command failed or a
claim does not hold.
"""
import argparse
import concurrent.futures
import csv
import glob
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time

from figure import ROOT, Figure, Mistake
import page

HERE = os.path.dirname(os.path.realpath(__file__))


class Runner:
    """Runs jobs side by side, those that want the machine for themselves after the others."""

    def __init__(self, out, jobs, workers):
        self.out, self.jobs, self.workers = out, jobs, workers
        self.same = {}  # jobs by their command, which runs once
        for job in jobs:
            self.same.setdefault(job.command, []).append(job)
        self.lock, self.children, self.stopped = threading.Lock(), set(), False
        self.times_file = os.path.join(out, "times.json")
        self.times = {}
        if os.path.exists(self.times_file):
            with open(self.times_file) as f:
                self.times = json.load(f)
        self.done, self.spent, self.foreseen = 0, 0, 0
        os.makedirs(os.path.join(out, "results"), exist_ok=True)

    def path(self, job):
        return os.path.join(self.out, "results", job.key() + ".csv")

    def kept(self, job):
        """True: there is a result from an earlier run."""
        try:
            with open(self.path(job)) as f:
                job.read(f.read())
            return True
        except (OSError, Mistake):
            return False

    def expected(self, job):
        return self.times.get(job.command, job.seconds)

    def left(self):
        """Seconds until the end, by earlier times or by the data files, corrected by how this run goes."""
        rest = sum(self.expected(j) for j in self.pending if j.rows is None and not j.error)
        pace = self.spent / self.foreseen if self.foreseen else 1
        return rest * pace / self.workers

    def run(self, job):
        if self.stopped:
            return
        start = time.monotonic()
        child = subprocess.Popen(job.command, shell=True, cwd=ROOT, text=True, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with self.lock:
            self.children.add(child)
        try:
            out, err = child.communicate(timeout=job.timeout)
            if child.returncode:
                raise Mistake(f"status {child.returncode}: {' '.join(err.split()[-40:])}")
            for twin in self.same[job.command]:
                twin.read(out)
            with open(self.path(job) + ".part", "w") as f:
                f.write(out)
            os.replace(self.path(job) + ".part", self.path(job))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            job.error = f"took more than {job.timeout} s"
        except Mistake as e:
            for twin in self.same[job.command]:
                twin.error = str(e)
        job.took = time.monotonic() - start
        with self.lock:
            self.children.discard(child)
            self.note(job)

    def note(self, job):
        self.done += 1
        self.spent += job.took
        self.foreseen += self.expected(job)
        if not job.error:
            self.times[job.command] = round(job.took, 2)
        if not self.stopped:
            how = "FAILED: " + job.error if job.error else f"{job.took:.1f} s"
            print(f"[{self.done}/{len(self.pending)}] {job.figure.name}: {label(job)}: {how}; "
                  f"{span(self.left())} left", file=sys.stderr, flush=True)

    def run_all(self):
        self.pending = [jobs[0] for jobs in self.same.values() if not all(self.kept(job) for job in jobs)]
        kept = len(self.same) - len(self.pending)
        print(f"{len(self.same)} experiments, {kept} have results; about {span(self.left())}",
              file=sys.stderr, flush=True)
        try:
            self.run_some([j for j in self.pending if not j.alone], self.workers)
            self.run_some([j for j in self.pending if j.alone], 1)
        except KeyboardInterrupt:
            self.stop()
            raise
        finally:
            with open(self.times_file, "w") as f:
                json.dump(self.times, f, indent=0, sort_keys=True)

    def run_some(self, jobs, workers):
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(self.run, j) for j in jobs]
            try:
                for f in futures:
                    f.result()
            except KeyboardInterrupt:
                self.stop()
                raise

    def stop(self):
        self.stopped = True
        with self.lock:
            for child in self.children:
                try:
                    os.killpg(child.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass


def span(seconds):
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def label(job):
    """What tells the job from others of its figure."""
    words = [str(v) for v in job.columns.values() if len(str(v)) < 20]
    if "series" in job.data and "{" not in job.data["series"]:
        words.append(job.data["series"])
    return ", ".join(words) or " ".join(shlex.split(job.command)[:3])


def write_csv(figure, folder):
    os.makedirs(folder, exist_ok=True)
    rows = figure.rows()
    names = list(dict.fromkeys(k for row in rows for k in row))
    with open(os.path.join(folder, figure.name + ".csv"), "w", newline="") as f:
        w = csv.DictWriter(f, names, restval="", lineterminator="\n")
        w.writeheader()
        for row in rows:
            w.writerow({k: f"{v:.10g}" if isinstance(v, float) else v for k, v in row.items()})


def figures_of(args):
    paths = sorted(glob.glob(os.path.join(args.figures, "*.toml")))
    if args.figure:
        paths = [p for p in paths if os.path.basename(p).startswith(tuple(args.figure))]
    build = os.path.relpath(os.path.realpath(args.build), ROOT)
    return [Figure(p, build, args.quick) for p in paths]


def report(figures, tap):
    """A line for each claim; the number of claims and commands that fail."""
    bad = n = 0
    for fig in figures:
        for job in fig.jobs:
            if job.error:
                n, bad = n + 1, bad + 1
                print(f"{'not ok - ' if tap else 'FAILED  '}{fig.name}: {job.command}: {job.error}")
        for mistake in fig.mistakes:
            n, bad = n + 1, bad + 1
            print(f"{'not ok - ' if tap else 'FAILED  '}{fig.name}: a note: {mistake}")
        for v in fig.claims():
            n, bad = n + 1, bad + (not v.holds)
            got = v.error or f"{page.number(v)}, printed {page.printed(v)}"
            start = ("ok - " if v.holds else "not ok - ") if tap else ""
            tail = "" if v.holds or tap else "  FAILS"
            print(f"{start}{v.state:7} {fig.name}: {v.claim['text']}: {got}{tail}")
    if tap:
        print(f"1..{n}")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and ranks: minutes, not hours")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), metavar="DIR")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="commands at a time")
    parser.add_argument("--list", action="store_true", help="print the commands, run nothing")
    parser.add_argument("--tap", action="store_true", help="report claims as tests")
    parser.add_argument("--figures", default=os.path.join(HERE, "figures"), metavar="DIR")
    parser.add_argument("figure", nargs="*")
    args = parser.parse_args()
    try:
        figures = figures_of(args)
    except Mistake as e:
        sys.exit(f"run.py: {e}")
    jobs = [job for fig in figures for job in fig.jobs]
    if args.list:
        print("\n".join(job.command for job in jobs))
        return 0
    out = os.path.join(args.build, "papers")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the commands too
    try:
        Runner(out, jobs, args.j).run_all()
    except KeyboardInterrupt:
        sys.exit("stopped; the next run goes on from here")
    for fig in figures:
        write_csv(fig, os.path.join(out, "csv"))
    page.write(figures, out, args.quick)
    bad = report(figures, args.tap)
    print(os.path.join(out, "index.html"), file=sys.stderr)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
