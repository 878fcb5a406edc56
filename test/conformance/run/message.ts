import { RawClient } from "../../support/raw-client.ts";
import type { Lines, MessageCase } from "../case.ts";
import { text } from "../expected.ts";
import { withinDeadline } from "./deadline.ts";
import { ends } from "./ends.ts";
import { requestBytes } from "./request-bytes.ts";
import { differences } from "./seen.ts";
import type { Allowance } from "./seen.ts";

/** A server of a case. */
export interface Asked {
  readonly port: number;
  readonly allows: Allowance;
  /** The time limit of a wait for it. */
  readonly patienceMs: number;
}

/**
 * Sends a request on a connection of its own, and checks the answer and the state of the connection afterwards: a kept one
 * answers another request, which it could not do with a byte too many or too few after the first.
 *
 * @param network What the network in front of the server adds to every request.
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
