import { itemsOf } from "./fields.ts";

/** The header fields of one connection (RFC 9110 §7.6.1), in lower case: what passes a message on leaves them out. */
const ofConnection: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Whether a field, its name in lower case, is of one connection, and not of the message.
 *
 * @param connection The lines of the message's `Connection`, which names further fields.
 */
export function connectionFields(connection: readonly string[]): (name: string) => boolean {
  if (connection.length === 0) return (name) => ofConnection.has(name);
  const named = new Set(itemsOf(connection).map((name) => name.toLowerCase()));
  return (name) => ofConnection.has(name) || named.has(name);
}
