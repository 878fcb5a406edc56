import type { RawClient } from "../../support/raw-client.ts";

/** Looks whether a connection is at its end: nothing follows, though another request is there to be answered. */
export async function ends(client: RawClient): Promise<readonly string[]> {
  client.ask("GET /ok");
  return client.answer().then(
    ({ status, body }) => [`the connection goes on, with ${status} ${body}`],
    (error: Error) => (error.message.endsWith('it held ""') ? [] : [error.message]),
  );
}
