"""Models that actors make, for the hosts of a node or of the cluster."""
import asyncio
import os
import time

import tenon


def make_streaming():
    async def answer(request: tenon.Request):
        """Who answers, in pieces; `slow` takes until it is cancelled, and notes that; `a stranger` gets no answer."""
        if "a stranger" in request.text:
            raise ValueError("it has no answer")
        if "slow" in request.text:
            log = os.environ["TENON_TEST_LOG"]
            try:
                with open(log, "a") as output:
                    output.write(f"begun {os.getpid()}\n")
                await asyncio.sleep(60)
            finally:
                with open(log, "a") as output:
                    output.write("ended\n")
        for piece in ("Hello ", "from ", str(os.getpid())):
            await asyncio.sleep(0.02)
            yield piece

    return answer


def make_batching():
    def answer(requests):
        time.sleep(0.2)
        return [f"one of {len(requests)}" for _ in requests]

    return answer
