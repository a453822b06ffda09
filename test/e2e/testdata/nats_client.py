"""A client of NATS that is not ours, with nats-py. NATS_URL is the server's address.

publish       publish the lines of stdin, each SUBJECT<tab>MESSAGE, with the stream's acknowledgement
dead COUNT    take so many copies of dead letters, and print each on a line
hear LAST     print the lifecycle events of the stream EVENTS from its first one, each on a line, up to one of type LAST
"""

import asyncio
import json
import os
import sys

import nats


async def publish(js):
    for line in sys.stdin:
        subject, message = line.rstrip("\n").split("\t", 1)
        await js.publish(subject, message.encode())


async def dead(js, count):
    queue = await js.pull_subscribe_bind(consumer="ocr-workers-deadletter", stream="TASKS")
    while count > 0:
        for message in await queue.fetch(1, timeout=60):
            print(message.data.decode())
            await message.ack_sync()
            count -= 1


async def hear(js, last):
    events = await js.pull_subscribe("ocr.>", stream="EVENTS")
    while True:
        for message in await events.fetch(1, timeout=90):
            print(message.data.decode())
            await message.ack_sync()
            if json.loads(message.data)["type"] == last:
                return


async def main():
    connection = await nats.connect(os.environ["NATS_URL"])
    js = connection.jetstream()
    if sys.argv[1] == "publish":
        await publish(js)
    elif sys.argv[1] == "hear":
        await hear(js, sys.argv[2])
    else:
        await dead(js, int(sys.argv[2]))
    await connection.close()


asyncio.run(main())
