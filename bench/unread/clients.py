"""`clients.py <port> <number> <kind>`: clients that ask and read nothing but a byte. Prints a line once all have asked, and ends with its input.

In Python, as Node cannot set SO_RCVBUF: on loopback a system would take up to 6 MB for each client before anything waits in the server.
"""
import select
import socket
import struct
import sys
import time

port, number, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
# So many connect at the same time. A server's queue of connections has 511 places.
batch = 200
# How long a batch has, in seconds.
patience = 60


def get(path: str, head: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: h\r\n{head}\r\n".encode()


handshake = (
    "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
    "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


def frame(type: int, flags: int, stream: int, payload: bytes) -> bytes:
    """RFC 9113 section 4.1"""
    return struct.pack(">I", len(payload))[1:] + bytes([type, flags]) + struct.pack(">I", stream) + payload


def request(path: str) -> bytes:
    """GET, http, the path and the authority `h`, without an index (RFC 7541 section 6.2.2)."""
    return bytes([0x82, 0x86, 0x04, len(path)]) + path.encode() + bytes([0x01, 1, 0x68])


def no_window(path: str) -> bytes:
    """Settings with a window of zero, and 20 requests."""
    asks = b"".join(frame(1, 5, 2 * i + 1, request(path)) for i in range(20))
    settings = frame(4, 0, 0, bytes([0, 4, 0, 0, 0, 0]))
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings + frame(4, 1, 0, b"") + asks


ask = {
    "pipelined": get("/page") * 100,
    "large": get("/large"),
    "file": get("/files/large.bin"),
    "events": get("/events"),
    "socket": get("/socket", handshake),
    "window 0": no_window("/long"),
    "window 0, file": no_window("/files/large.bin"),
}[kind]

clients: list[socket.socket] = []
failed = 0


def connect(i: int) -> socket.socket:
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    # From a hundred addresses, as the share of one would be the limit.
    client.bind((f"127.0.0.{2 + i % 100}", 0))
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", port))
    return client


def ask_all(group: list[socket.socket]) -> int:
    """Asks on each, and waits until its answer has begun: clients do not come faster than the server accepts them. Returns how many failed."""
    poll = select.poll()
    waiting = {client.fileno(): (client, False) for client in group}
    for number in waiting:
        poll.register(number, select.POLLOUT)
    lost = 0
    until = time.monotonic() + patience
    while waiting and time.monotonic() < until:
        for number, _ in poll.poll(1000):
            client, has_asked = waiting[number]
            try:
                if has_asked:
                    client.recv(1)
                    poll.unregister(number)
                    del waiting[number]
                else:
                    # Its buffer for sending takes the whole text.
                    client.sendall(ask)
                    waiting[number] = (client, True)
                    poll.modify(number, select.POLLIN)
            except OSError:
                lost += 1
                poll.unregister(number)
                del waiting[number]
    return lost + len(waiting)


for start in range(0, number, batch):
    group = [connect(i) for i in range(start, min(start + batch, number))]
    clients += group
    failed += ask_all(group)
print(f"asked, {failed} failed", flush=True)
sys.stdin.read()
