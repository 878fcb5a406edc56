import type { SocketHeard, SocketLink } from "../streams/sockets/link.ts";

/** The two ends of a connection with no wire between them. */
export function linkedPair(): readonly [SocketLink, SocketLink] {
  const [one, other] = [new MemoryLink(), new MemoryLink()];
  one.peer = other;
  other.peer = one;
  return [one, other];
}

type Said = (heard: SocketHeard) => void;

class MemoryLink implements SocketLink {
  /** The other end, once it has one. */
  peer: MemoryLink = this;
  #heard: SocketHeard | undefined = undefined;
  /** What the other side said and this one has not taken. */
  readonly #arrived: Said[] = [];
  #isPaused = false;
  #isDelivering = false;
  readonly #whenTaken: (() => void)[] = [];
  #isOver = false;

  start(heard: SocketHeard): void {
    this.#heard = heard;
    this.#deliver();
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    const { peer } = this;
    if (this.#isOver) return false;
    // Bytes are the sender's own to change once they are sent.
    const sent = typeof data === "string" ? data : data.slice();
    peer.#take((heard) => heard.message(sent));
    if (!peer.#isPaused) return true;
    return new Promise((resolve) => peer.#whenTaken.push(() => resolve(!this.#isOver)));
  }

  ping(): void {
    this.peer.#take((heard) => heard.frame());
    this.#take((heard) => heard.frame());
  }

  close(code = 1005, reason = ""): void {
    this.peer.#take((heard) => heard.closed(code, reason));
    this.peer.#over();
    this.#take((heard) => heard.closed(code, reason));
    this.#over();
  }

  terminate(): void {
    this.peer.#take((heard) => heard.lost("the connection ended without a close"));
    this.peer.#over();
    this.#over();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  #take(said: Said): void {
    this.#arrived.push(said);
    this.#deliver();
  }

  // Later, as what is on a wire comes; one after the other, as long as the socket takes them.
  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    queueMicrotask(() => {
      this.#isDelivering = false;
      const heard = this.#heard;
      while (heard !== undefined && !this.#isPaused && this.#arrived.length > 0) this.#arrived.shift()?.(heard);
      if (this.#arrived.length === 0) for (const taken of this.#whenTaken.splice(0)) taken();
    });
  }

  #over(): void {
    this.#isOver = true;
    // The close is behind what was said before it, and nobody waits for room any more.
    this.resume();
    for (const taken of this.#whenTaken.splice(0)) taken();
  }
}
