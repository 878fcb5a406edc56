/** `permessage-deflate` (RFC 7692), which `ws` speaks: what is agreed with a client, and the memory of a socket. */
import type { PerMessageDeflateOptions } from "ws";
import { FieldScanner, readWord, token } from "../../src/doors/http.ts";

/**
 * The window of both directions, as a power of two. One that compresses has 2^(bits + 2) + 2^(memLevel + 9) bytes, here 32 KiB and
 * not zlib's own 256 KiB, and one that inflates the window itself, 4 KiB.
 */
const windowBits = 12;
const memLevel = 5;
/** zlib has no raw stream of 8 bits, and uses 9 without a word: its client's window would be too short. */
const leastBits = 9;

/** For `ws`: whether a message is compressed is decided with each send. */
export const deflateOptions: PerMessageDeflateOptions = {
  threshold: 0,
  zlibDeflateOptions: { memLevel, chunkSize: 4096 },
  zlibInflateOptions: { chunkSize: 4096 },
};

/**
 * The extension that is agreed on, as `Sec-WebSocket-Extensions` has it: the first offer that can be accepted. Undefined where
 * there is none, or the header is malformed: then nothing is compressed.
 *
 * No side keeps its window from one message to the next. Then nothing of one message can be guessed by the length of another,
 * and a message may be sent as it is, between two that are compressed.
 */
export function agreedDeflate(lines: readonly string[]): string | undefined {
  const offers = offersOf(lines.join(","));
  for (const { name, parameters } of offers ?? []) {
    const agreed = name === "permessage-deflate" ? accepted(parameters) : undefined;
    if (agreed !== undefined) return agreed;
  }
  return undefined;
}

interface Offer {
  readonly name: string;
  readonly parameters: readonly (readonly [name: string, value: string | undefined])[];
}

/** RFC 7692 §7.1: undefined for an offer with a parameter that is unknown, repeated or invalid. */
function accepted(parameters: Offer["parameters"]): string | undefined {
  const given = new Map(parameters);
  if (given.size !== parameters.length) return undefined;
  let [server, client]: [number, number | undefined] = [windowBits, undefined];
  for (const [name, value] of given) {
    const bits = bitsOf(value);
    if (name === "server_max_window_bits") {
      if (bits === undefined || bits < leastBits) return undefined;
      server = Math.min(windowBits, bits);
    } else if (name === "client_max_window_bits") {
      // Without a value: the client can use any window that it is asked to.
      if (value !== undefined && bits === undefined) return undefined;
      client = Math.min(windowBits, bits ?? windowBits);
    } else if (!withoutValue.has(name) || value !== undefined) return undefined;
  }
  // A client with zlib that offers 8 bits uses 9.
  const ofClient = client === undefined || client < leastBits ? "" : `; client_max_window_bits=${client}`;
  const noTakeover = "server_no_context_takeover; client_no_context_takeover";
  return `permessage-deflate; ${noTakeover}; server_max_window_bits=${server}${ofClient}`;
}

const withoutValue: ReadonlySet<string> = new Set(["server_no_context_takeover", "client_no_context_takeover"]);

/** A whole number from 8 to 15, without leading zeros. */
function bitsOf(value: string | undefined): number | undefined {
  return value !== undefined && /^(?:[89]|1[0-5])$/.test(value) ? Number(value) : undefined;
}

/** RFC 6455 §9.1: extensions with their parameters; undefined where it is malformed. Empty elements are left out. */
function offersOf(line: string): readonly Offer[] | undefined {
  const field = new FieldScanner(line);
  const offers: Offer[] = [];
  do {
    field.skipBlanks();
    const name = field.match(token);
    if (name === undefined) continue;
    const parameters = parametersOf(field);
    if (parameters === undefined) return undefined;
    offers.push({ name, parameters });
  } while (field.take(","));
  return field.done ? offers : undefined;
}

function parametersOf(field: FieldScanner): Offer["parameters"] | undefined {
  const parameters: [string, string | undefined][] = [];
  field.skipBlanks();
  while (field.take(";")) {
    field.skipBlanks();
    const name = field.match(token);
    if (name === undefined) return undefined;
    field.skipBlanks();
    let value: string | undefined;
    if (field.take("=")) {
      field.skipBlanks();
      value = readWord(field);
      if (value === undefined) return undefined;
      field.skipBlanks();
    }
    parameters.push([name, value]);
  }
  return parameters;
}
