/** A connection of Node's listener that a model plays, next to what the tables say of it. */
import { deepStrictEqual as equal } from "node:assert/strict";
import { Duplex } from "node:stream";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { readings, writings } from "../../../adapters/node/connection-state.ts";
import type { ConnectionEvent, ReadState, WriteState } from "../../../adapters/node/connection-state.ts";
import { NodeConnection } from "../../../adapters/node/connection.ts";
import type { BodyFailure } from "../../../src/doors/inputs.ts";

/** What may happen, the usual more often. */
export const steps = [
  "request",
  "request",
  "answer",
  "sends",
  "sent",
  "stream",
  "stream ends",
  "whenIdle",
  "breaks",
  "begins",
  "last",
  "session",
  "line",
  "closes",
  "cut",
] as const;
type Step = (typeof steps)[number];

/** A connection, and what it has to be. */
export class PlayedConnection {
  readonly done: string[] = [];
  readonly #connection: NodeConnection;
  readonly #last = {} as IncomingMessage;
  /** Where the tables say that it is. */
  #reading: ReadState["at"] = "fresh";
  #writing: WriteState["at"] = "open";
  #fault: BodyFailure | undefined = undefined;
  #faults = 0;
  #making = 0;
  #sending = 0;
  #streams = 0;
  #held = 0;
  #begun = 0;
  #ends = 0;
  #ending: number | undefined = undefined;

  constructor() {
    const socket = Object.assign(new Duplex({ read: () => {}, write: (_part, _encoding, done) => done() }), {
      bytesRead: 1,
    });
    const unsent = { wait: () => {}, end: () => {} };
    const watching = { sendTimeoutMs: 1000, unsentOf: () => unsent as never };
    this.#connection = new NodeConnection(socket as unknown as Socket, watching, undefined);
  }

  does(step: Step): void {
    const { reading, writing } = this.#connection;
    switch (step) {
      case "request": {
        // As the handler does it.
        if (!reading.takes({} as IncomingMessage)) break;
        reading.arrived({ complete: true } as IncomingMessage);
        this.#moves("begins");
        if (writing.isFree) this.#make();
        else this.#hold();
        break;
      }
      case "answer":
        if (this.#making === 0) break;
        this.#making--;
        writing.endAnswer();
        this.#settles();
        break;
      case "sends":
        this.#sending++;
        writing.beginSending();
        break;
      case "sent":
        if (this.#sending === 0) break;
        this.#sending--;
        writing.endSending();
        this.#settles();
        break;
      case "stream":
        this.#streams++;
        writing.beginStream();
        break;
      case "stream ends":
        if (this.#streams === 0) break;
        this.#streams--;
        writing.endStream();
        this.#settles();
        break;
      case "whenIdle": {
        const end = ++this.#ends;
        const isIdle = this.#isIdle;
        if (!isIdle && writings[this.#writing].ends !== undefined) this.#ending = end;
        if (!isIdle) this.#moves("ends");
        writing.whenIdle(() => this.done.push(`end ${end}`));
        if (isIdle) equal(this.done.at(-1), `end ${end}`);
        break;
      }
      case "breaks": {
        const fault: BodyFailure = { kind: "unreadable", detail: String(++this.#faults) };
        if (readings[this.#reading].breaks !== undefined) this.#fault = fault;
        this.#moves("breaks");
        equal(reading.breaks(fault), this.#reading === "broken" ? this.#fault : undefined);
        break;
      }
      case "begins":
        this.#moves("begins");
        reading.begins();
        break;
      case "last":
        this.#moves("last");
        reading.endsWith(this.#last);
        break;
      case "session":
        this.#moves("session");
        reading.speaksHttp2();
        break;
      case "line":
        this.#moves("line");
        reading.awaitsLineEnd();
        break;
      case "closes":
        this.#moves("closes");
        reading.closes();
        break;
      case "cut":
        this.#moves("cut");
        this.#connection.cut();
        break;
    }
    this.#agrees();
  }

  /** Lets everything end that has begun. */
  ends(): void {
    for (let left = 0; left < 1000 && !this.#isIdle; left++)
      for (const step of ["answer", "sent", "stream ends"] as const) this.does(step);
    equal(this.#connection.writing.isIdle, true);
  }

  #make(): void {
    this.#making++;
    this.#connection.writing.beginAnswer();
  }

  #hold(): void {
    const turn = ++this.#held;
    const { reading, writing } = this.#connection;
    writing.hold(() => {
      this.done.push(`begin ${turn}`);
      // One after the other, and none while another one is made or streamed.
      equal([turn, this.#making, this.#streams], [++this.#begun, 0, 0]);
      if (!reading.isOver) this.#make();
    });
  }

  get #isIdle(): boolean {
    return this.#making + this.#sending + this.#streams + this.#held - this.#begun === 0;
  }

  #moves(event: ConnectionEvent): void {
    this.#reading = readings[this.#reading][event] ?? this.#reading;
    this.#writing = writings[this.#writing][event] ?? this.#writing;
    if (event === "cut") this.#ending = undefined;
  }

  /** What ends the connection was called, if nothing is pending. */
  #settles(): void {
    if (!this.#isIdle) return;
    this.#moves("idle");
    if (this.#ending !== undefined) equal(this.done.at(-1), `end ${this.#ending}`);
    this.#ending = undefined;
  }

  #agrees(): void {
    const { reading, writing, socket } = this.#connection;
    const at = this.#reading;
    const isOpen = at === "fresh" || at === "heads" || at === "last";
    equal(
      {
        isFresh: reading.isFresh,
        isOpen: reading.isOpen,
        isOver: reading.isOver,
        isSession: reading.isSession,
        isTimed: reading.isTimed,
        fault: reading.fault,
        takes: [reading.takes(this.#last), reading.takes({} as IncomingMessage)],
        isLast: reading.isLast(this.#last),
        isIdle: writing.isIdle,
        isCut: writing.isCut,
        isDestroyed: socket.destroyed,
        pending: writing.pendingAnswers,
        unsent: writing.unsent,
      },
      {
        isFresh: at === "fresh",
        isOpen,
        isOver: at === "over",
        isSession: at === "session",
        isTimed: at === "fresh" || at === "broken line",
        fault: this.#fault,
        takes: [isOpen, isOpen && at !== "last"],
        isLast: at === "last",
        isIdle: this.#isIdle,
        isCut: this.#writing === "cut",
        isDestroyed: this.#writing === "cut",
        pending: this.#making + this.#held - this.#begun,
        unsent: this.#sending + this.#held - this.#begun,
      },
    );
  }
}
