# SPDX-License-Identifier: GPL-2.0-only
"""Test results as TAP."""


class Tap:
    """Counts and prints results; done() ends them and gives the exit status."""

    def __init__(self, stage):
        self.stage, self.number, self.failed = stage, 0, 0

    def __call__(self, good, text, detail=""):
        self.number += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {self.stage}: {text}", flush=True)
        if not good:
            print("".join(f"# {line}\n" for line in detail.splitlines()), end="", flush=True)
        return good

    def done(self):
        print(f"1..{self.number}", flush=True)
        return int(self.failed > 0 or not self.number)
