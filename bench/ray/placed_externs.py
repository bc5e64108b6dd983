"""The function of placed/calls.tn."""
import os

import tenon


@tenon.extern
def process() -> int:
    return os.getpid()
