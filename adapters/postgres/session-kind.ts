import type { Link } from "../../src/database/link.ts";
import type { SessionKind } from "./conninfo.ts";

/** What one server is, or is not. */
export type ServerKind = Exclude<SessionKind, "prefer-standby">;

/** Whether a server is of the kind that `target_session_attrs` asks for. */
export async function fits(link: Link, kind: ServerKind): Promise<boolean> {
  if (kind === "any") return true;
  const answer = await link.script("select current_setting('transaction_read_only'), pg_is_in_recovery()");
  const [isReadOnly, isStandby] = answer[0] ?? [];
  switch (kind) {
    case "read-write":
      return isReadOnly === "off";
    case "read-only":
      return isReadOnly === "on";
    case "primary":
      return isStandby === "f";
    default:
      return isStandby === "t";
  }
}
