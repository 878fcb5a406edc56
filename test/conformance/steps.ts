/** The actions of clients on the network, in a word each; `by` names the client if there are several. */
import { requestBytes } from "./run/request-bytes.ts";
import type { Ask, Expected, Lines, Step } from "./case.ts";

const one = "one";

/** Requests, each whole. */
export function asks(...requests: readonly (string | Ask)[]): Step {
  const whole = requests.map((ask) => requestBytes(typeof ask === "string" ? { ask } : ask));
  return { does: "send", bytes: whole.join(""), by: one };
}

/** Raw bytes, one character each. */
export const sends = (...bytes: readonly string[]): Step => ({ does: "send", bytes: bytes.join(""), by: one });

/** The lines of a head, and the empty line that ends it. */
export const head = (...lines: readonly string[]): Step => sends([...lines, "", ""].join("\r\n"));

export const answers = (expected: Expected): Step => ({ does: "answer", expected, toHead: false, by: one });
export const answersHead = (expected: Expected): Step => ({ does: "answer", expected, toHead: true, by: one });

/** `100 Continue`, and no other bytes. */
export const goOn: Step = {
  does: "answer",
  expected: { status: 100, headers: [], body: "", framing: "none", after: "kept" },
  toHead: false,
  by: one,
};

/** Frames as a client sends them, each with its first byte and its payload: masked with zeros, so that they are readable. */
export function frames(...list: readonly (readonly [first: number, payload: string])[]): Step {
  return sends(...list.map(([first, payload]) => String.fromCharCode(first) + masked(payload)));
}

function masked(payload: string): string {
  const { length } = payload;
  const mask = "\0\0\0\0";
  if (length < 126) return String.fromCharCode(0x80 | length) + mask + payload;
  const bytes = length < 65_536 ? 2 : 8;
  const digits = Array.from({ length: bytes }, (_, i) => String.fromCharCode((length / 256 ** (bytes - 1 - i)) & 255));
  return String.fromCharCode(0x80 | (bytes === 2 ? 126 : 127)) + digits.join("") + mask + payload;
}

export const upgraded = (protocol?: string, headers: Lines = []): Step => ({
  does: "upgraded",
  protocol,
  headers,
  by: one,
});
export const hears = (first: number, payload: string): Step => ({ does: "frame", first, payload, by: one });
export const hearsClose = (code?: number, reason?: string): Step => ({ does: "closing", code, reason, by: one });

export const seesOnly = (text: string): Step => ({ does: "see-only", text, by: one });
export const sees = (text: string): Step => ({ does: "see", text, by: one });
/** No further request is answered. */
export const closed: Step = { does: "closed", by: one };
/** The server ends the connection by itself, while its client sends nothing. */
export const ended: Step = { does: "ended", by: one };
/** The connection ends inside of an answer, so that the client sees it is incomplete. */
export const cut: Step = { does: "cut", by: one };
/** The response that is being read ends whole, and its body with this text. */
export const endsWhole = (text: string): Step => ({ does: "whole", text, by: one });
export const halfCloses: Step = { does: "half-close", by: one };
export const leaves: Step = { does: "leave", by: one };
export const discards: Step = { does: "discard", by: one };
export const stopsReading: Step = { does: "stop-reading", by: one };
export const opens = (gate: string): Step => ({ does: "open", gate });
export const noted = (key: string, text: string): Step => ({ does: "noted", key, text });
export const logged = (text: string): Step => ({ does: "logged", text });
export const signalled = (signal: "SIGTERM" | "SIGINT"): Step => ({ does: "signal", signal });
export const refusesConnections: Step = { does: "refused" };
export const exits = (code: number | "killed"): Step => ({ does: "exit", code });

/** The same, for another client on a connection of its own. */
export function by(client: string, ...steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => ("by" in step ? { ...step, by: client } : step));
}
