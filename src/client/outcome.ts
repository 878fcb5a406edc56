import type { Problem } from "../refusals/problem.ts";
import type { Succeeded } from "../answers/returned.ts";
import type { Refused } from "./calls.ts";
import { pairsOf } from "./request.ts";
import type { Fields } from "./request.ts";

export type Came = Succeeded<number, unknown> | Refused<string, readonly Problem[]>;
export type Ask = (request: Request) => Promise<Response>;

/** As a refusal is written, where it is one. */
interface RefusalBody {
  readonly error?: unknown;
  readonly message?: unknown;
  readonly problems?: readonly Problem[];
  readonly more?: number;
}

/** What comes of a request, which its form is not in yet. More than JSON few calls need: a bundler leaves it until one does. */
export async function outcomeOf(request: Request, ask: Ask = fetch, form?: Fields): Promise<Came> {
  // Until something answers: it has no status, and no headers.
  let response = Response.error();
  let came: object = { error: "unreachable", message: "The server could not be reached.", problems: [] };
  try {
    response = await ask(form ? (await import("./beyond-json.ts")).formed(request, pairsOf(form)) : request);
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok) {
      const { error, message, problems = [], more } = (await response.json()) as RefusalBody;
      if (typeof error === "string" && typeof message === "string") {
        came = { error, message, problems, ...(more === undefined ? {} : { more }) };
      }
    } else if (/[/+]json\b/i.test(type)) came = { value: await response.json() };
    else if (type === "") came = { value: (await response.text()) || undefined };
    else came = { value: await (await import("./beyond-json.ts")).valueOf(response, request, ask, outcomeOf) };
  } catch {
    // Nothing came, or not all of it, or what is no refusal: the page of a gateway.
  }
  const { status, headers } = response;
  return { ok: "value" in came, status, headers, ...came } as Came;
}
