import { RawClient } from "../../support/raw-client.ts";
import type { Lines, MessageCase } from "../case.ts";
import { text } from "../expected.ts";
import { withinDeadline } from "./deadline.ts";
import { ends } from "./ends.ts";
import { requestBytes } from "./request-bytes.ts";
import { differences } from "./seen.ts";
import type { Allowance } from "./seen.ts";

/** A server as a case knows it. */
export interface Asked {
  readonly port: number;
  readonly allows: Allowance;
  /** How long it is waited for. */
  readonly patienceMs: number;
}

/**
 * Asks a server over a connection of its own, and looks at the answer and at what becomes of the connection: a kept one
 * answers another request, which it could not with a byte too many or too few behind the first.
 *
 * @param network What the network in front of the server writes into every request.
 */
export async function askServer(
  { port, allows, patienceMs }: Asked,
  one: MessageCase,
  network: Lines,
): Promise<readonly string[]> {
  const client = await RawClient.to(port);
  return withinDeadline(
    patienceMs,
    () => [client],
    async () => {
      const toHead = one.ask.startsWith("HEAD ");
      const oldVersion = one.ask.endsWith(" HTTP/1.0");
      const { answer } = one;
      client.send(requestBytes({ ...one, headers: [...(one.headers ?? []), ...network] }));
      const seen = await client.answer({ toHead });
      const wrong = differences(seen, answer, { toHead, oldVersion, allows });
      if (wrong.length > 0 || answer.after === "either") return wrong;
      return answer.after === "kept" ? keeps(client, allows) : ends(client);
    },
  );
}

async function keeps(client: RawClient, allows: Allowance): Promise<readonly string[]> {
  client.ask("GET /ok");
  const next = await client.answer();
  const wrong = differences(next, text("ok"), { toHead: false, oldVersion: false, allows });
  return wrong.map((what) => `the next answer: ${what}`);
}
