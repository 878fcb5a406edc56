import { clearTimeout, setTimeout } from "node:timers";
import type { Engine, EngineLine, LineListener } from "../../src/streams/relays/engine.ts";
import type { Conninfo } from "./conninfo.ts";
import { connectBoundOf, openLink } from "./open.ts";
import { RelayLine } from "./relay-line.ts";
import { makeTable } from "./relay-table.ts";

// A statement here is over in a moment, or the relay has no use for its connection.
const statementTimeoutMs = "10000";
// A handful of texts.
const statementCache = 8;

/** PostgreSQL as a relay's engine: each text is a notification on the channel. */
export function postgresEngine(target: Conninfo, channel: string): Engine {
  return {
    source: "framework.postgres",
    open: (listener) => openLine(target, channel, listener),
    after(ms, act) {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}

async function openLine(target: Conninfo, channel: string, listener: LineListener): Promise<EngineLine> {
  const own = { application_name: "usher relay", statement_timeout: statementTimeoutMs };
  const options = { parameters: { ...own, ...target.parameters }, statementCache };
  let line: RelayLine | undefined;
  const link = await openLink(target, options, {
    closed: () => line?.ended(),
    notified: (_, payload) => line?.notified(payload),
  });
  // Until it listens nobody hears that it says nothing.
  const boundMs = connectBoundOf(target);
  const timer = boundMs > 0 && setTimeout(() => link.cut(`nothing was listened to within ${boundMs} ms`), boundMs);
  try {
    const [row] = await link.run("select pg_backend_pid()", []);
    await makeTable(link);
    line = new RelayLine(link, channel, row?.[0] ?? "", listener);
    await link.run(`listen "${channel.replaceAll('"', '""')}"`, []);
  } catch (thrown) {
    line?.destroy();
    link.cut();
    throw thrown;
  } finally {
    if (timer !== false) clearTimeout(timer);
  }
  // A relay alone is nothing to wait for.
  link.unref();
  return line;
}
