/** Statements and helpers of the tests of the pool. */

import { onTestFinished, vi } from "vitest";
import { Path, Refusal, Returns, get } from "usher-http";
import type { Route } from "usher-http";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";

export const next = Statement.find("select $1 + 1 as next", { params: [Type.int], row: { next: Type.int } });
export const pid = Statement.find("select pg_backend_pid() as pid", { row: { pid: Type.int } });
export const txid = Statement.find("select txid_current() as txid", { row: { txid: Type.int64 } });
export const sleep = Statement.exec("select pg_sleep(60)");
export const endSelf = Statement.exec("select pg_terminate_backend(pg_backend_pid())");
export const add = Statement.exec("insert into item values ($1, 1)", { params: [Type.text] });
export const countItems = Statement.find("select count(*) as items from item where name = $1", {
  params: [Type.text],
  row: { items: Type.int64 },
});
export const setting = Statement.find("select current_setting($1) as value", {
  params: [Type.text],
  row: { value: Type.text },
});

export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "nothing was thrown",
    (error: unknown) => (error instanceof DatabaseError ? error.failure : error),
  );
}

export function route(work: () => Promise<unknown>, codes: Refusal["code"][] = []): Route {
  return get(Path.of("work"), { summary: "Works", returns: Returns.text, refuses: codes }, async () => {
    const done = await work();
    return done instanceof Refusal ? done : "done";
  });
}

/** The pool's waits go by a clock that the test holds. */
export function holdTheClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Settings as they are in every one of a pool's sessions. */
export async function everywhere(some: Pool, name: string): Promise<Set<string>> {
  const all = Array.from({ length: some.stats().size }, () => some.use((db) => db.exec(setting, name)));
  return new Set((await Promise.all(all)).map(({ value }) => value));
}
