import { needs } from "../../src/given.ts";

/** The members of a client that are used here: its own type differs for each version of its protocol. */
interface ClosableClient {
  close(): Promise<void>;
  once(event: "error", listener: () => void): unknown;
}

/** Throws where a value is no URL of a server; the error does not quote it, as it may have a password. */
export function needsUrl(maker: string, url: unknown): void {
  needs(typeof url === "string" && /^rediss?:/.test(url), `${maker}: its URL`, url, "a redis: or rediss: URL");
}

/** Closes a client. Resolves once its commands are answered, or once it is destroyed or loses its connection. */
export function closed(client: ClosableClient): Promise<void> {
  return new Promise((resolve, reject) => {
    // `client.close()` does not settle if the connection is reset meanwhile (redis 6.3.1).
    client.once("error", () => resolve());
    client.close().then(resolve, reject);
  });
}
