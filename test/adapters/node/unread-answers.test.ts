/** Clients that pipeline requests and read no answer. One packet of 62 kB for answers of 1 MiB ended a process with a heap of 1 GiB. */
import { describe, expect, it } from "vitest";
import { messages } from "../../support/logs.ts";
import { clientOf, gate, start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import { rows } from "../../support/wide.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { Answer, Path, Returns, get } from "usher-http";

const program = new URL("unread-answers-program.ts", import.meta.url).pathname;
/** As many clients as a usual run can pay for; `USHER_MUTE_CLIENTS=10000` for a run of the real number. */
const clients = Number(process.env["USHER_MUTE_CLIENTS"] ?? 20);

const packetOf = (path: string, requests: number): string =>
  `GET /${path} HTTP/1.1\r\nhost: h\r\n\r\n`.repeat(requests);

/** A client that sends, and reads nothing. */
async function mute(port: number, text: string): Promise<RawClient> {
  const client = await RawClient.to(port);
  client.socket.pause();
  client.socket.write(text);
  return client;
}

describe.each(rows<"node-newest" | "node-oldest" | "node-24">(["node-newest", "node-oldest"], ["node-24"]))(
  "a server with a heap of 128 MB: on %s",
  (node) => {
    it.each([
      ["long", 1900],
      ["medium", 1800],
      ["short", 1900],
      ["later", 1800],
      ["stream", 1800],
      ["long", 100],
    ] as const)(
      "lives, and answers others, while clients read nothing of GET /%s in packets of %i",
      async (path, requests) => {
        const heap = ["--max-old-space-size=128"];
        const options = { sendBudget: 32 * 1024 * 1024, sendShare: 32 * 1024 * 1024 };
        const server = await SpawnedServer.start([runtimes[node](), ...heap], program, options);
        const packet = packetOf(path, requests);
        for (let i = 0; i < clients; i++) await mute(server.port, packet);
        // It makes no more once each client has what its system buffers.
        let made = "";
        await eventually(async () => {
          const before = made;
          made = await server.asks("GET /made");
          expect(made).toBe(before);
        });
        // What a system buffers on loopback is 4 MB at most; short answers are all made.
        if (path === "long" || path === "later") expect(Number(made)).toBeLessThan(clients * 12);
        expect((await server.asks("GET /short")).length).toBeGreaterThan(100);
      },
    );
  },
);

describe("pipelined requests", () => {
  it("are handled one after the other, whatever they wait for", async () => {
    const order: string[] = [];
    const slow = get(Path.of("slow"), { returns: Returns.text }, async () => {
      order.push("slow begins");
      await new Promise(setImmediate);
      order.push("slow ends");
      return "slow";
    });
    const quick = get(Path.of("quick"), { returns: Returns.text }, () => (order.push("quick"), "quick"));
    const client = await clientOf([slow, quick]);
    client.send(`${packetOf("slow", 1)}${packetOf("quick", 1)}${packetOf("slow", 1)}`);
    const bodies = [];
    for (let i = 0; i < 3; i++) bodies.push((await client.answer()).body);
    expect(bodies).toEqual(["slow", "quick", "slow"]);
    expect(order).toEqual(["slow begins", "slow ends", "quick", "slow begins", "slow ends"]);
  });

  it("do not see what an earlier one has stored in an AsyncLocalStorage", async () => {
    const user = new AsyncLocalStorage<string>();
    const first = get(Path.of("first"), { returns: Returns.text }, async () => {
      user.enterWith("kim");
      await new Promise(setImmediate);
      return "first";
    });
    const second = get(Path.of("second"), { returns: Returns.text }, () => user.getStore() ?? "nobody");
    const client = await clientOf([first, second]);
    client.send(packetOf("first", 1) + packetOf("second", 1));
    expect([(await client.answer()).body, (await client.answer()).body]).toEqual(["first", "nobody"]);
  });

  it("of a client that reads late are all answered, in their order", async () => {
    let made = 0;
    const long = get(Path.of("long"), { returns: Returns.text }, () => `${made++} ${"x".repeat(100_000)}`);
    const client = await clientOf([long]);
    client.socket.pause();
    client.socket.write(packetOf("long", 300));
    await eventually(() => expect(made).toBeGreaterThan(5));
    expect(made).toBeLessThan(300);
    client.socket.resume();
    for (let i = 0; i < 300; i++) expect((await client.answer()).body.split(" ", 1)).toEqual([String(i)]);
  });

  it("are answered after a stream, however long their client takes for it", async () => {
    const end = gate();
    async function* parts() {
      yield Buffer.from("one");
      await end.passed;
      yield Buffer.from("two");
    }
    const stream = get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts(), { length: 6 }));
    const short = get(Path.of("short"), { returns: Returns.text }, () => "short");
    const client = await clientOf([stream, short], { sendTimeoutMs: 100 });
    client.send(packetOf("stream", 1) + packetOf("short", 150));
    await new Promise((resolve) => setTimeout(resolve, 400));
    end.open();
    expect((await client.answer()).body).toBe("onetwo");
    for (let i = 0; i < 150; i++) expect((await client.answer()).body).toBe("short");
    expect(messages("info").filter((message) => String(message).startsWith("closed"))).toEqual([]);
  });
});

describe("the budget of bytes that wait", () => {
  it("disconnects clients that read nothing, and none that reads, and logs their number", async () => {
    const long = get(Path.of("long"), { returns: Returns.response }, () => Answer.make(Buffer.alloc(8 * 1024 * 1024)));
    const { port } = await start([long], { sendBudget: 32 * 1024 * 1024, sendShare: 32 * 1024 * 1024 });
    const all = await Promise.all(Array.from({ length: 10 }, () => mute(port, packetOf("long", 1))));
    const reader = await RawClient.to(port);
    reader.send(packetOf("long", 1));
    expect((await reader.answer()).body.length).toBe(8 * 1024 * 1024);
    await eventually(() => expect(messages("warn").join()).toMatch(/clients disconnected past sendBudget/));
    // A paused socket does not show its end.
    const whole = await Promise.all(
      all.map((client) => {
        client.socket.resume();
        return client.answer().then(
          () => true,
          () => false,
        );
      }),
    );
    const cut = whole.filter((isWhole) => !isWhole);
    expect(cut.length).toBeGreaterThan(4);
    expect(cut.length).toBeLessThan(10);
  });
});
