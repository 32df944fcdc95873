"""Judges families in processes of their own: one that hangs, dies or eats memory takes nothing along."""

import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Iterator
from typing import Any

import torch
import transformers
from breadth.families import Family
from breadth.judge import NOT_BUILT, Verdict, judge, record

SECONDS, GIGABYTES, WORKERS = 180, 8, 2


def judged(families: list[Family], seconds: float = SECONDS) -> Iterator[dict[str, Any]]:
    """One record for each family, in the order in which they end."""
    torch.set_num_threads(1)  # before the fork: threads do not survive it
    context = multiprocessing.get_context("fork")
    waiting, working = list(families), []
    while waiting or working:
        while waiting and len(working) < WORKERS:
            family, (answer, theirs) = waiting.pop(0), context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(family, theirs), daemon=True)
            process.start()
            theirs.close()
            working.append((family, process, answer, time.monotonic()))
        for one in list(working):
            family, process, answer, start = one
            if answer.poll() or not process.is_alive():
                yield _receive(family, process, answer)
            elif time.monotonic() - start > seconds:
                process.kill()
                yield record(Verdict(family.name, NOT_BUILT, sentence=f"took longer than {seconds:.0f} s"))
            else:
                continue
            process.join()
            working.remove(one)
        time.sleep(0.01)


def _receive(family: Family, process, answer) -> dict[str, Any]:
    try:
        return answer.recv()
    except EOFError:
        process.join()
        return record(Verdict(family.name, sentence=f"its process died with {process.exitcode}"))


def _work(family: Family, answer) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # models warn about much that is meant here
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    start = time.monotonic()
    try:
        found = judge(family)
    except BaseException as error:
        found = Verdict(family.name, sentence=f"the judge itself failed: {type(error).__name__}: {error}")
    answer.send({**record(found), "seconds": round(time.monotonic() - start, 1)})
    answer.close()
