import { waitMs } from "../../support/patience.ts";
/** Ten thousand connections without a request (issue 4): they cost little, block no other client, and leave nothing behind. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { Path, Returns, get } from "usher-http";
import { logWith } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { connectAll, count, manyDescriptors } from "../../support/connections.ts";
import { eventually } from "../../support/eventually.ts";
import { memory, sockets } from "../../support/memory.ts";

const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");

describe.skipIf(manyDescriptors.isSkipped)(`${count} idle connections${manyDescriptors.why}`, () => {
  it.each([
    ["their clients close them", (child: ChildProcess) => void child.send("close")],
    ["the server stops", undefined],
  ])("cost no answer, and are gone when %s", async (_how, leave) => {
    logWith({ level: undefined });
    const server = await start([ok], { maxConnections: count + 10, drainMs: 600_000 });
    const ask = async () => {
      const client = await RawClient.to(server.port);
      const { body } = await client.ask("GET /ok").answer();
      client.leave();
      return body;
    };
    expect(await ask()).toBe("ok");
    await eventually(() => expect(sockets()).toBe(0));
    const before = await memory();

    const child = await connectAll(server.port, "/ok");
    expect(sockets()).toBeGreaterThanOrEqual(count);
    const each = ((await memory()) - before) / count;
    expect(each).toBeLessThan(16_384);
    for (let i = 0; i < 10; i++) expect(await ask()).toBe("ok");

    const closed = once(child, "message");
    if (leave === undefined) expect(await server.stop()).toBe(0);
    else leave(child);
    expect(await closed).toEqual(["closed", undefined]);
    await vi.waitFor(() => expect(sockets()).toBe(0), { timeout: waitMs() });
    // Node keeps a thousand parsers for the next connections.
    expect((await memory()) - before).toBeLessThan(count * 300);
    if (leave !== undefined) expect(await ask()).toBe("ok");
  });
});
