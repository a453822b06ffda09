"""Runs no-op tasks with Celery on Azure's queue protocol. Its argument says what it does: work (a number of tasks that it
has put on the queue), idle (tell of each task that starts), or send (put one on the queue for each line)."""

import sys
import threading
import time

import peer
from celery import Celery, signals

CONCURRENCY, SENDERS = 32, 8

role, t = sys.argv[1], peer.task()
parts = dict(part.split("=", 1) for part in t["queues"].split(";") if "=" in part)
app = Celery("noop", broker=f"azurestoragequeues://{parts['AccountKey']}@{parts['QueueEndpoint']}")
app.conf.update(
    task_default_queue=t["name"],
    task_ignore_result=True,
    worker_hijack_root_logger=False,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
)
ended = threading.Semaphore(0)
first = []


@app.task(name="noop")
def noop(i):
    if role == "idle":
        peer.say('{"at": %f}' % time.time())
    else:
        first.append(time.monotonic())
        ended.release()


def work():
    argv = ["worker", f"--concurrency={CONCURRENCY}", "--pool=threads", "--loglevel=ERROR"]
    app.worker_main(argv + ["--without-gossip", "--without-mingle", "--without-heartbeat"])


def send_all():
    def send(numbers):
        for i in numbers:
            noop.delay(i)

    threads = [threading.Thread(target=send, args=(range(k, t["tasks"], SENDERS),)) for k in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run():
    """The time counts from the start of the first task to the end of the last: a worker takes a second to start."""
    threading.Thread(target=work, daemon=True).start()
    for _ in range(t["tasks"]):
        ended.acquire()
    return {"seconds": max(first) - min(first)}


if role == "work":
    send_all()
    peer.serve(run)
elif role == "send":
    peer.say("ready")
    for _ in sys.stdin:
        began = time.time()
        noop.delay(0)
        peer.say('{"at": %f}' % began)
else:
    signals.worker_ready.connect(lambda **_: peer.say("ready"), weak=False)
    threading.Thread(target=work, daemon=True).start()
    sys.stdin.read()
