import { Dep } from "usher-http";
import type { Hub } from "usher-http";

export interface Message {
  readonly id: number;
  readonly text: string;
  readonly sent_at: Date;
}

/** Keeps messages. */
export interface Wall {
  /** Resolves with undefined if the newest message has the same text. */
  add(text: string): Promise<Message | undefined>;
  /** The newest messages, newest first. */
  newest(count: number): Promise<readonly Message[]>;
  /** Publishes on the topic `wall` that there is a new message. Read it from the wall. */
  readonly news: Hub<never>;
}

/** A dependency: a route names it among its inputs, and the program supplies it where it starts. */
export const wall = Dep.ofResource<Wall>("wall");
