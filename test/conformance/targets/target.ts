import type { Configuration, Lines } from "../case.ts";

/** A runtime, and what of Usher runs on it. */
export interface Target {
  readonly name: string;
  /** Starts every configuration but those that have a process of their own, or the one that is wanted alone. */
  start(only?: Alone): Promise<Running>;
  /** What the network in front of it writes into every request. */
  readonly network?: Lines;
  /** Why it opens no WebSocket, and runs no case of `sockets.ts`; undefined where it does. */
  readonly socketless?: string;
  /** Why it hands over no connection, and runs no case of `takeovers.ts` but those that refuse; undefined where it does. */
  readonly takeoverless?: string;
  /** Why it has no stop, and runs no case of `stopping.ts`; undefined if it has one. */
  readonly unstoppable?: string;
  /** Why it lacks the framework's limits, and runs no case of the configuration `impatient`; undefined if it has them. */
  readonly unlimited?: string;
}

/** A server by itself, which a signal stops. */
export interface Alone {
  readonly on: Configuration;
  readonly drainMs: number;
}

/** The port of each configuration that was started. */
export type Ports = { readonly [C in Configuration]?: number };

/** A server that runs in a process of its own. */
export interface Running {
  readonly ports: Ports;
  readonly pid: number;
  /** Lines on its standard error that are errors, or that the runtime wrote and not the log. */
  complaints(): readonly string[];
  /** Waits for a line on its standard error that holds a text. */
  logged(text: string): Promise<void>;
  /** Its last complaint, and how it ended if it did: part of the text of a failure. */
  lastWords(): string;
  signal(signal: "SIGTERM" | "SIGINT"): void;
  /** Its exit code, or the signal that ended it. */
  ended(): Promise<number | string>;
  /** Ends it, whatever it is doing. */
  stop(): Promise<void>;
}
