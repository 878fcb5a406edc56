/** Handlers that use a connection after HTTP, and the events that each received. */
import { Answer, Path, Returns, Socket, get, param } from "usher-http";
import type { Route, SocketHandler, TakenConnection } from "usher-http";
import { gate } from "../gate.ts";
import type { Gate } from "../gate.ts";
import type { Handler } from "./script.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
type TextSocket = Parameters<SocketHandler<string, string>>[0];

/** Longer than any test runs: a stop that is over before has waited for the handlers, and for nothing else. */
export const drainMs = 600_000;

/** The events of one handler: how its connection ended, and each notification of the server's stop. */
export interface Spoken {
  readonly key: string;
  readonly ends: string[];
  stops: number;
  isOver: boolean;
}

export class Speaking {
  readonly all: Spoken[] = [];
  /** Opens where a request that is late may be answered. */
  readonly letIn: Gate = gate();
  /** Opens when the script is over: it ends a handler that was not notified. */
  readonly over: Gate = gate();
  readonly routes: readonly Route[];

  constructor() {
    const [handler, key, late] = [Path.str("handler"), Path.str("key"), Path.str("late")];
    const inputs = { handler: param(handler), key: param(key), late: param(late) };
    const behind = async (late: string): Promise<void> => {
      if (late === "late") await this.letIn.passed;
    };
    this.routes = [
      get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
      get(
        Path.of("socket", handler, key, late),
        { inputs, returns: Returns.websocket(texts, { maxMessage: 20_000 }) },
        async ({ handler, key, late }) => {
          await behind(late);
          return (socket) => this.#counted(key, (told) => this.#speak(handler as Handler, socket, told));
        },
      ),
      get(
        Path.of("taken", handler, key, late),
        { inputs, returns: Returns.response },
        async ({ handler, key, late }) => {
          await behind(late);
          return Answer.takeover("echo", (connection) =>
            this.#counted(key, (told) => this.#speakBytes(handler as Handler, connection, told)),
          );
        },
      ),
    ];
  }

  async #counted(key: string, speak: (told: Spoken) => Promise<void>): Promise<void> {
    const told: Spoken = { key, ends: [], stops: 0, isOver: false };
    this.all.push(told);
    try {
      await speak(told);
    } finally {
      told.isOver = true;
    }
  }

  async #speak(handler: Handler, socket: TextSocket, told: Spoken): Promise<void> {
    if (handler === "leaves") return;
    if (handler === "raises") throw new Error("raised");
    if (handler === "deaf") await this.over.passed;
    if (handler === "floods") while ((await socket.send("f".repeat(50_000))).ok);
    for (;;) {
      const received = await socket.receive();
      if (received.ok) await socket.send(received.value);
      else if (received.error.kind !== "unreadable") {
        told.ends.push(received.error.kind === "closed" ? `closed ${received.error.code}` : "lost");
        return;
      }
    }
  }

  async #speakBytes(handler: Handler, { readable, writable, stopping }: TakenConnection, told: Spoken): Promise<void> {
    if (stopping.aborted) told.stops++;
    stopping.addEventListener("abort", () => told.stops++);
    if (handler === "leaves") return;
    if (handler === "raises") throw new Error("raised");
    if (handler === "deaf") return this.over.passed;
    if (handler === "floods") {
      const writer = writable.getWriter();
      for (;;) await writer.write(new Uint8Array(50_000));
    }
    try {
      await readable.pipeTo(writable, { signal: stopping });
      told.ends.push("ended");
    } catch (thrown) {
      told.ends.push(stopping.aborted ? "stopped" : "lost");
      if (!stopping.aborted) throw thrown;
    }
  }
}
