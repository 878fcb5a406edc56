import { LinkFailure } from "../../src/database/link.ts";
import type { LinkEvents } from "../../src/database/link.ts";
import type { Birth } from "./birth.ts";
import type { Conninfo } from "./conninfo.ts";
import { addressesOf } from "./dial.ts";
import type { Address } from "./dial.ts";
import { PostgresLink } from "./link.ts";
import { fits } from "./session-kind.ts";
import type { ServerKind } from "./session-kind.ts";

export interface OpenOptions {
  /** Start-up parameters of the framework's, which the connection string's and the application's stand before. */
  readonly parameters: { readonly [name: string]: string };
  readonly statementCache: number;
}

const connectTimeoutMs = 10_000;

/** What an address has for giving a connection, in milliseconds; 0 for any time. */
export function connectBoundOf(target: Conninfo): number {
  return target.connectTimeoutMs ?? connectTimeoutMs;
}

/** Opens a connection to the first address that gives one; rejects with a {@link LinkFailure} that says why none does. */
export async function openLink(target: Conninfo, options: OpenOptions, events: LinkEvents): Promise<PostgresLink> {
  const reasons: string[] = [];
  // Any other is better than none.
  const kinds = target.session === "prefer-standby" ? (["standby", "any"] as const) : [target.session];
  for (const kind of kinds) {
    for (const { host, port } of target.hosts) {
      for (const address of await addresses(host, port, reasons)) {
        const opened = await openAt(address, target, kind, options, events);
        if (opened instanceof PostgresLink) return opened;
        reasons.push(opened.why);
        if (opened.isFinal) throw new LinkFailure({ kind: "unreachable", why: opened.why });
      }
    }
  }
  throw new LinkFailure({ kind: "unreachable", why: [...new Set(reasons)].join("; ") });
}

async function addresses(host: string, port: number, reasons: string[]): Promise<readonly Address[]> {
  try {
    return await addressesOf(host, port);
  } catch (error) {
    reasons.push(error instanceof Error ? error.message : String(error));
    return [];
  }
}

interface NotOpened {
  readonly why: string;
  /** Whether another address would say the same. */
  readonly isFinal: boolean;
}

async function openAt(
  address: Address,
  target: Conninfo,
  kind: ServerKind,
  { parameters, statementCache }: OpenOptions,
  events: LinkEvents,
): Promise<PostgresLink | NotOpened> {
  const birth: Birth = { target, address, parameters, statementCache, events };
  const link = new PostgresLink(birth);
  const boundMs = connectBoundOf(target);
  const timer = boundMs > 0 && setTimeout(() => link.cut(`no connection within ${boundMs} ms`), boundMs);
  try {
    await link.open();
    if (await fits(link, kind)) return link;
    await link.shut();
    return { why: `the server is not ${kind}`, isFinal: false };
  } catch (thrown) {
    const { trouble } = thrown as LinkFailure;
    link.cut();
    if (trouble.kind === "refused") return { why: `${trouble.severity} ${trouble.code}`, isFinal: true };
    return { why: trouble.why, isFinal: trouble.kind === "gone" && isOfTheProgram(trouble.code) };
  } finally {
    if (timer !== false) clearTimeout(timer);
  }
}

/** Who asks, for what, or how is wrong: a role, a password, a database, a parameter. Another address says the same. */
function isOfTheProgram(code: string | undefined): boolean {
  return code !== undefined && (code.startsWith("28") || ["3D000", "42704", "22023"].includes(code));
}
