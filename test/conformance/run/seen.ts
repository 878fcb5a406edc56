import type { Expected } from "../case.ts";

/** An answer as it arrived. */
export interface Seen {
  readonly status: number;
  /** Undefined without a network. */
  readonly phrase?: string;
  readonly head: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** The allowed differences of a target, in addition to the case. */
export interface Allowance {
  /** Whether the runtime itself writes such a header. */
  writes(name: string): boolean;
  /** Whether no application can write one there. */
  lacks(name: string): boolean;
}

export const noAllowance: Allowance = { writes: () => false, lacks: () => false };

/** The differences between an answer and its case, as text. The list is empty if they are equal. */
export function differences(
  seen: Seen,
  expected: Expected,
  {
    toHead,
    oldVersion,
    allows,
  }: { readonly toHead: boolean; readonly oldVersion: boolean; readonly allows: Allowance },
): readonly string[] {
  const { status, framing, after } = expected;
  const wrong: string[] = [];
  if (seen.status !== status) wrong.push(`status ${seen.status}, not ${status}`);
  const body = toHead ? "" : expected.body;
  if (expected.bare === true) {
    if (values(seen, "x-request-id").length > 0) wrong.push("answered by the application");
    return wrong;
  }
  if (seen.body !== body) wrong.push(`body ${shortened(seen.body)}, not ${shortened(body)}`);
  if (status < 200 && status !== 101) {
    if (seen.head.length > 0) wrong.push(`a head of ${JSON.stringify(seen.head)}`);
    return wrong;
  }

  const own = [...expected.headers];
  if (after === "closed") own.push(["connection", "close"]);
  else if (oldVersion) own.push(["connection", "keep-alive"]);
  if (framing === "length") own.push(["content-length", String(Buffer.byteLength(expected.body))]);
  if (framing === "chunked") own.push(["transfer-encoding", "chunked"]);

  for (const name of new Set([...own, ...seen.head].map(([name]) => name.toLowerCase()))) {
    if (name === "x-request-id" || name === "date") continue;
    if (name === "connection" && after === "either") continue;
    // RFC 9112 §6.1: the answer to a HEAD may leave it out.
    if (name === "transfer-encoding" && toHead) continue;
    const due = own.flatMap(([given, value]) => (given === name ? [value] : []));
    const came = values(seen, name);
    if (JSON.stringify(came) === JSON.stringify(due)) continue;
    if ((due.length === 0 && allows.writes(name)) || (came.length === 0 && allows.lacks(name))) continue;
    wrong.push(`${name} ${JSON.stringify(came)}, not ${JSON.stringify(due)}`);
  }
  wrong.push(...onTheWire(seen, expected));
  wrong.push(...ambient(seen, expected, allows));
  return wrong;
}

function onTheWire({ phrase, head }: Seen, expected: Expected): readonly string[] {
  if (phrase === undefined) return [];
  const wrong: string[] = [];
  const names = head.map(([name]) => name);
  if (expected.phrase !== undefined && phrase !== expected.phrase)
    wrong.push(`phrase ${JSON.stringify(phrase)}, not ${JSON.stringify(expected.phrase)}`);
  if (expected.names !== undefined && JSON.stringify(names) !== JSON.stringify(expected.names))
    wrong.push(`names ${names.join(", ")}, not ${expected.names.join(", ")}`);
  return wrong;
}

// Every answer has an id, and a date if the server did not fail.
function ambient(seen: Seen, { status, headers }: Expected, allows: Allowance): readonly string[] {
  const wrong: string[] = [];
  const ids = values(seen, "x-request-id");
  const id = headers.find(([name]) => name === "x-request-id")?.[1];
  if (ids.length !== 1 || (id === undefined ? !/^[0-9a-z]{12}$/.test(ids[0] ?? "") : ids[0] !== id))
    wrong.push(`x-request-id ${JSON.stringify(ids)}`);
  const dates = values(seen, "date");
  const date = headers.find(([name]) => name === "date")?.[1];
  const due = status >= 200 && status < 500 ? 1 : 0;
  if (dates.length !== due && !(due === 0 && allows.writes("date"))) wrong.push(`date ${JSON.stringify(dates)}`);
  else if (date !== undefined && dates[0] !== date) wrong.push(`date ${JSON.stringify(dates)}, not ${date}`);
  else if (dates.some((date) => Number.isNaN(Date.parse(date)) || !date.endsWith(" GMT")))
    wrong.push(`date ${JSON.stringify(dates)}`);
  return wrong;
}

function values({ head }: Seen, name: string): readonly string[] {
  return head.flatMap(([given, value]) => (given.toLowerCase() === name ? [value] : []));
}

function shortened(text: string): string {
  return text.length <= 300 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, 300))}… of ${text.length}`;
}
