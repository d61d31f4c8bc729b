# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for what another program does: until it is so, and no longer than a limit. No other file of the tests sleeps."""
import time

_FIRST_LOOK, _LAST_LOOK = 0.005, 0.2  # s between two looks: ever longer, since some of them start a program


def until(condition, what, seconds=60):
    """What `condition()` gives as soon as that is true. Fails after so many seconds, with `what` was waited for: a text,
    or a function that gives one."""
    end, pause = time.monotonic() + seconds, _FIRST_LOOK
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s still no {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.5, _LAST_LOOK)
    return found
