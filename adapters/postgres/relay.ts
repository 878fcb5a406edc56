import { DatabaseError } from "../../src/database/failure.ts";
import { LinkFailure } from "../../src/database/link.ts";
import { relayOver } from "../../src/streams/relays/engine-relay.ts";
import type { OpenRelay } from "../../src/streams/relays/engine-relay.ts";
import { parse } from "./conninfo.ts";
import type { Conninfo } from "./conninfo.ts";
import { postgresEngine } from "./relay-engine.ts";

// More is cut off where it is listened to, and refused where it is notified (PostgreSQL §4.1.1).
const mostChannelBytes = 63;

/**
 * A relay over PostgreSQL's LISTEN and NOTIFY, on one connection of its own, which does not keep the process running. What
 * is longer than a notification may be is kept in the table `usher_relay` while it is fetched; the table is made where it is
 * not there. The connection is made again when it is lost; what was published meanwhile is missed, which every hub
 * concerned is told: it ends its subscriptions, so that nobody goes on with a gap.
 *
 * It needs a session of its own for as long as it lives: the server itself, or a pooler that pools by the session.
 *
 * ```ts
 * const hub = Broadcast.create<typeof Placed>({ relay: await relay("postgres://app@db/orders", { channel: "orders" }) });
 * ```
 *
 * @param options `channel` is the hub's own, at most 63 bytes: what else is notified there is passed over.
 * @throws DatabaseError where the database cannot be reached now, or gives the role no such table.
 */
export async function relay(target: string | Conninfo, { channel }: { readonly channel: string }): Promise<OpenRelay> {
  const bytes = Buffer.byteLength(channel);
  if (bytes === 0 || bytes > mostChannelBytes || channel.includes("\0"))
    throw new RangeError(`relay: a channel's name has 1 to ${mostChannelBytes} bytes, and no NUL`);
  const info = typeof target === "string" ? parse(target) : target;
  try {
    return await relayOver(postgresEngine(info, channel));
  } catch (thrown) {
    if (!(thrown instanceof LinkFailure)) throw thrown;
    const { trouble } = thrown;
    if (trouble.kind !== "refused") throw new DatabaseError({ kind: "unsent", detail: trouble.why });
    const detail = `the relay could not listen, or make its table usher_relay: ${trouble.severity} ${trouble.code}`;
    throw new DatabaseError({ kind: "db", code: trouble.code, detail });
  }
}
