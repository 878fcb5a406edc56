/** A cluster that stops answering: nothing waits for it longer than a bound. Its one node is the test's own. */
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { rateStore } from "usher-http/redis";
import { adapterTimers } from "../../support/adapter-timers.ts";
import { eventually } from "../../support/eventually.ts";
import "../../support/logs.ts";

/** A node with all slots, which answers every command but those of `silent`. */
async function nodeThatIsSilentAt(...silent: readonly string[]) {
  const asked: string[] = [];
  const held: (() => void)[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    // The package writes a command in few parts, and its name is in the first.
    socket.on("data", (part) => {
      for (const [, name = ""] of part.toString().matchAll(/\*\d+\r\n\$\d+\r\n([A-Z]+)\r\n/g)) {
        asked.push(name);
        const answer = (): void => void socket.write(answers[name] ?? "+OK\r\n");
        if (silent.includes(name)) held.push(answer);
        else answer();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const id = "a".repeat(40);
  const answers: { readonly [command: string]: string } = {
    HELLO: "%2\r\n$4\r\nmode\r\n$7\r\ncluster\r\n$5\r\nproto\r\n:3\r\n",
    CLUSTER: `*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:${port}\r\n$40\r\n${id}\r\n`,
    PING: "+PONG\r\n",
    EVALSHA: ":0\r\n",
  };
  const stop = (): void => {
    server.close();
    for (const socket of open) socket.resetAndDestroy();
  };
  const answer = (): void => {
    for (const one of held.splice(0)) one();
  };
  onTestFinished(stop);
  return { url: `redis://127.0.0.1:${port}`, asked, open, answer, stop };
}

const rule = { intervalMs: 1000, burst: 1 };
const waitMs = 60_000;

it("that does not tell its slots in time is given up, and left where it tells them later", async () => {
  const timers = adapterTimers();
  const { url, asked, open, answer } = await nodeThatIsSilentAt("CLUSTER");
  const opening = rateStore(url, { waitMs });
  opening.catch(() => {});
  await eventually(() => expect(asked).toContain("CLUSTER"));
  expect(timers.end(10_000)).toBe(1);
  await expect(opening).rejects.toThrow("the cluster did not answer within 10000 ms");
  answer();
  await eventually(() => expect(open.size).toBe(0));
});

it("that answers no more is left by close() after waitMs", async () => {
  const timers = adapterTimers();
  const { url, asked, open } = await nodeThatIsSilentAt("EVALSHA");
  const store = await rateStore(url, { waitMs });
  const taken = store.take("a", rule, new Date());
  await eventually(() => expect(asked).toContain("EVALSHA"));
  const closing = store.close();
  // That of the call, and that of the close.
  expect(timers.end(waitMs)).toBe(2);
  await closing;
  expect(await taken).toBe(0);
  await eventually(() => expect(open.size).toBe(0));
});

it("whose call is late is left by close() at once", async () => {
  const timers = adapterTimers();
  const { url, asked, open } = await nodeThatIsSilentAt("EVALSHA");
  const store = await rateStore(url, { waitMs });
  const taken = store.take("a", rule, new Date());
  await eventually(() => expect(asked).toContain("EVALSHA"));
  expect(timers.end(waitMs)).toBe(1);
  expect(await taken).toBe(0);
  await store.close();
  await eventually(() => expect(open.size).toBe(0));
});

it("that is gone keeps close() from waiting, and no timer is left", async () => {
  const timers = adapterTimers();
  const { url, open, stop } = await nodeThatIsSilentAt();
  const store = await rateStore(url, { waitMs });
  expect(await store.take("a", rule, new Date())).toBe(0);
  stop();
  await eventually(() => expect(open.size).toBe(0));
  await store.close();
  expect([timers.end(10_000), timers.end(waitMs)]).toEqual([0, 0]);
});
