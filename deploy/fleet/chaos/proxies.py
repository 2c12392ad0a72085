"""Connections between the parts of a fleet that can be harmed: a TCP proxy for each pair, all in a
process of their own, which orders of one JSON object a line control.

Faults of a link: `hold` (nothing passes until `heal`, then everything does, as when a cable is out and
in again), `forget` (what is connected never hears again, as behind a firewall that lost its state),
`delay` (milliseconds), `half-close` (one direction ends), `reset`, `refuse`, and `fail` (a share of
HTTP requests is answered with an error of S3).
"""

import asyncio
import json
import os
import random
import socket
import struct
import sys

CHUNK = 64 << 10
# What TCP needs to notice that the other side is gone, with the settings of Platen and PostgreSQL.
FORGOTTEN_SECONDS = 25
ERRORS = ((500, "InternalError"), (503, "SlowDown"))


class Connection:
    def __init__(self, link, client):
        self.link, self.sides = link, {"up": client}
        self.is_forgotten, self.closed, self.expects_request = False, set(), True

    def abort(self):
        for _, writer in self.sides.values():
            connected = writer.get_extra_info("socket")
            if connected is not None and connected.fileno() >= 0:
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def run(self):
        await self.link.flows.wait()
        try:
            self.sides["down"] = await asyncio.open_connection(*self.link.target)
        except OSError:
            return self.abort()
        try:
            await asyncio.gather(self.pass_on("up", "down"), self.pass_on("down", "up"))
        finally:
            for _, writer in self.sides.values():
                writer.close()

    async def pass_on(self, source, target):
        """Passes on what `source` sends, each piece as late as the link is slow."""
        queue, loop = asyncio.Queue(64), asyncio.get_running_loop()

        async def read():
            data = b"?"
            while data:
                try:
                    data = await self.sides[source][0].read(CHUNK)
                except OSError:
                    data = b""
                await queue.put((loop.time() + self.link.delay, data))

        reading = asyncio.create_task(read())
        try:
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0, due - loop.time()))
                await self.link.flows.wait()
                if self.is_forgotten or target in self.closed:
                    if not data:
                        return
                    continue
                writer = self.sides[target][1]
                if not data:
                    if not writer.is_closing():
                        writer.write_eof()
                    return
                if source == "up" and self.link.fails and await self.answer_with_error():
                    return
                self.expects_request = source == "down"
                writer.write(data)
                await writer.drain()
        except OSError:
            self.abort()
        finally:
            reading.cancel()

    async def answer_with_error(self):
        """Answers a request that begins here instead of the server, for a share of them."""
        if not self.expects_request or random.random() >= self.link.fails:
            return False
        status, code = random.choice(ERRORS)
        body = f"<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>injected</Message></Error>".encode()
        head = f"HTTP/1.1 {status} {code}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer = self.sides["up"][1]
        writer.write(head.encode() + body)
        await writer.drain()
        await asyncio.sleep(0.2)
        self.sides["down"][1].transport.abort()
        writer.close()
        return True


class Link:
    def __init__(self, address, target):
        self.address, self.target = address, target
        self.connections, self.server, self.tasks = set(), None, set()
        self.flows, self.delay, self.fails = asyncio.Event(), 0, 0
        self.flows.set()

    async def listen(self):
        self.server = await asyncio.start_server(self.accept, *self.address, limit=CHUNK, backlog=256)

    async def accept(self, reader, writer):
        connection = Connection(self, (reader, writer))
        self.connections.add(connection)
        try:
            await connection.run()
        finally:
            self.connections.discard(connection)

    def later(self, work):
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def order(self, what, value):
        if what == "hold":
            self.flows.clear()
        elif what == "delay":
            self.delay = value / 1e3
        elif what == "fail":
            self.fails = value
        elif what == "refuse":
            self.server.close()
            self.reset()
        elif what == "move":
            self.target = value
            self.reset()
        elif what == "forget":
            forgotten = list(self.connections)
            for connection in forgotten:
                connection.is_forgotten = True
            self.later(self.end(forgotten))
        else:
            {"reset": self.reset, "half-close": self.half_close}.get(what, lambda: None)()
        if what == "heal":
            self.delay = self.fails = 0
            self.flows.set()
            if not self.server.is_serving():
                await self.listen()

    def reset(self):
        for connection in list(self.connections):
            connection.abort()

    def half_close(self):
        for connection in list(self.connections):
            side = random.choice(list(connection.sides))
            connection.closed.add(side)
            writer = connection.sides[side][1]
            if not writer.is_closing():
                writer.write_eof()

    async def end(self, connections):
        await asyncio.sleep(FORGOTTEN_SECONDS)
        for connection in connections:
            connection.abort()


async def main():
    links, loop = {}, asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)
    orders = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        order = json.loads(line)
        try:
            if order["do"] == "open":
                link = links[order["link"]] = Link(order["at"], order["value"])
                await link.listen()
            else:
                await links[order["link"]].order(order["do"], order.get("value"))
            print("done", flush=True)
        except (KeyError, OSError) as error:
            print(f"{type(error).__name__}: {error}", flush=True)
    # Connections end with the process.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
