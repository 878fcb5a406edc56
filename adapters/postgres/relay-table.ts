/**
 * What is too long for a notification stands here while it is fetched. Nothing in it is worth a crash: unlogged, it is empty
 * after one, and what a reference no longer leads to is missed as what was never sent.
 */
import { LinkFailure } from "../../src/database/link.ts";
import type { Link } from "../../src/database/link.ts";

const exists = "select to_regclass('usher_relay') is not null";
const make =
  "create unlogged table if not exists usher_relay (id bigint generated always as identity primary key, " +
  "message text not null, kept_at timestamptz not null default now())";

// Long past what a process that listens takes to fetch it; and no more at once than a statement does in passing.
const old = "select id from usher_relay where kept_at < now() - interval '10 minutes' order by id limit 100";
const drop = `delete from usher_relay where id in (${old} for update skip locked)`;

/** Keeps the second, notifies the first, a channel, of where it is, and clears what is old away: at once or not at all. */
export const keep: string =
  `with kept as (insert into usher_relay (message) values ($2) returning id), gone as (${drop}) ` +
  "select pg_notify($1, '=' || id || ' ' || pg_backend_pid()) from kept";

export const fetch = "select message from usher_relay where id = $1::bigint";

/** Makes the table where there is none: whoever migrates may have, for a role that may not. */
export async function makeTable(link: Link): Promise<void> {
  if (await isThere(link)) {
    await link.run(drop, []);
    return;
  }
  try {
    await link.run(make, []);
  } catch (thrown) {
    // Another process made it at the same moment, which even "if not exists" is refused for.
    const wasRefused = thrown instanceof LinkFailure && thrown.trouble.kind === "refused";
    if (!wasRefused || !(await isThere(link))) throw thrown;
  }
}

async function isThere(link: Link): Promise<boolean> {
  const [row] = await link.run(exists, []);
  return row?.[0] === "t";
}
