import postgres from "postgres";
import type { Birth } from "./birth.ts";
import { executeOf } from "./query.ts";
import type { Execute } from "./query.ts";
import type { Wire } from "./wire.ts";

/** The driver, as what sends queries on the one socket that it is given. */
export function driverOf(
  { target, parameters, statementCache, events }: Birth,
  socketOf: () => Promise<Wire>,
): Execute {
  let isDialled = false;
  const options = {
    host: "localhost",
    port: 5432,
    user: target.user,
    // A function, as an empty password would be looked for in the environment.
    pass: () => target.password ?? "",
    database: target.database,
    ssl: false,
    max: 1,
    prepare: statementCache > 0,
    fetch_types: false,
    idle_timeout: null,
    max_lifetime: null,
    connect_timeout: 0,
    backoff: 0,
    keep_alive: null,
    debug: false,
    onnotice() {},
    onnotify: events.notified,
    connection: parameters,
    types: asText,
    socket() {
      if (isDialled) throw new Error("the connection is closed");
      isDialled = true;
      return socketOf();
    },
  };
  // Its types know neither a socket of one's own, nor the simple protocol, nor who is notified.
  return executeOf(postgres(options as unknown as postgres.Options<{}>));
}

const same = (value: unknown): unknown => value;
// What the driver would read and write in its own way: it drops microseconds, and takes the text 'true' for false.
const read = [
  16, 17, 20, 21, 23, 25, 26, 114, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 3802,
];
const asText = Object.fromEntries([
  ["raw", { to: 0, from: read, serialize: same, parse: undefined }],
  ...[16, 17, 25, 114, 1184, 3802].map((type) => [`raw${type}`, { to: type, from: [], serialize: same }] as const),
]);
