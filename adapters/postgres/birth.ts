import type { LinkEvents } from "../../src/database/link.ts";
import type { Conninfo } from "./conninfo.ts";
import type { Address } from "./dial.ts";

/** What a connection is born with. */
export interface Birth {
  readonly target: Conninfo;
  readonly address: Address;
  /** Start-up parameters (PostgreSQL §54.2.1). */
  readonly parameters: { readonly [name: string]: string };
  /** How many statements it keeps prepared; 0 for none. */
  readonly statementCache: number;
  readonly events: LinkEvents;
}
