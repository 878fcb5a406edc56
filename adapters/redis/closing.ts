import { needs } from "../../src/arguments.ts";

/** The members of a client that are used here: its own type differs for each version of its protocol. */
interface ClosableClient {
  close(): Promise<void>;
  once(event: "error", listener: () => void): unknown;
}

/** Throws where a value is no URL of a server; the error does not quote it, as it may have a password. */
export function needsUrl(maker: string, url: unknown): void {
  needs(typeof url === "string" && /^rediss?:/.test(url), `${maker}: its URL`, url, "a redis: or rediss: URL");
}

/** Throws for a URL that the package cannot read: its own error quotes it. */
export function needsReadable(url: string): void {
  if (!isReadable(url)) throw new TypeError(`the URL of Redis cannot be read: write ${exampleUrl}. ${encoding}`);
}

/** Throws where a value is no time to wait. A timer of a longer one would fire at once, so that each answer would be late. */
export function needsWait(maker: string, waitMs: unknown): void {
  const isTime = typeof waitMs === "number" && waitMs > 0 && waitMs < 2 ** 31;
  needs(isTime, `${maker}: waitMs`, waitMs, "milliseconds, more than 0 and less than 2³¹");
}

const exampleUrl = "redis://user:password@host:6379/0";
const encoding = "Percent-encode any other character: # is %23, @ is %40, / is %2F";

function isReadable(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    decodeURIComponent(username + password);
    return /^(?:\/\d*)?$/.test(pathname);
  } catch {
    return false;
  }
}

/** Closes a client. Resolves once its commands are answered, or once it is destroyed or loses its connection. */
export function closed(client: ClosableClient): Promise<void> {
  return new Promise((resolve, reject) => {
    // `client.close()` does not settle if the connection is reset meanwhile (redis 6.3.1).
    client.once("error", () => resolve());
    client.close().then(resolve, reject);
  });
}
