import type { Problem } from "../refusals/problem.ts";
import type { Succeeded } from "../answers/returned.ts";
import type { Refused } from "./calls.ts";

export type Came = Succeeded<number, unknown> | Refused<string, readonly Problem[]>;

/** As a refusal is written, where it is one. */
interface RefusalBody {
  readonly error?: unknown;
  readonly message?: unknown;
  readonly problems?: readonly Problem[];
}

/** What an answer stands for. `eventsOf` makes the value of one that is an event stream. */
export async function outcomeOf(
  ask: () => Promise<Response> | Response,
  eventsOf: (response: Response) => Promise<unknown>,
): Promise<Came> {
  let [status, headers] = [0, new Headers()];
  try {
    const response = await ask();
    const { ok } = response;
    ({ status, headers } = response);
    if (ok)
      return { ok, status, headers, value: await (isEventStream(response) ? eventsOf(response) : valueOf(response)) };
    const { error, message, problems = [] } = (await response.json()) as RefusalBody;
    if (typeof error === "string" && typeof message === "string")
      return { ok, status, headers, error, message, problems };
  } catch {
    // Nothing came, or not all of it, or what is no refusal: the page of a gateway.
  }
  return {
    ok: false,
    status,
    headers,
    error: "unreachable",
    message: "The server could not be reached.",
    problems: [],
  };
}

export function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(typeOf(response));
}

/** What a body is by its type; undefined where there is none. */
async function valueOf(response: Response): Promise<unknown> {
  const type = typeOf(response);
  if (/[/+]json\b/i.test(type)) return response.json();
  if (/^text\//i.test(type)) return response.text();
  return type === "" ? (await response.text()) || undefined : response;
}

/** The content type; empty where there is none. */
export function typeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}
