import type { RawClient } from "../../support/raw-client.ts";

/** Checks that a connection has ended: no bytes follow, though another request was sent. */
export async function ends(client: RawClient): Promise<readonly string[]> {
  client.ask("GET /ok");
  return client.answer().then(
    ({ status, body }) => [`the connection goes on, with ${status} ${body}`],
    (error: Error) => (error.message.endsWith('it held ""') ? [] : [error.message]),
  );
}
