/**
 * Clients that disconnect after a body that the handler does not read. Node reads nothing more of a socket while a body is unread,
 * so it sees neither a FIN nor a RST after the body.
 */
import { describe, expect, it, vi } from "vitest";
import { Answer, App, Dep, Path, Returns, Route, after, body, bodyStream, clientGone, get, post } from "usher-http";
import { listener } from "usher-http/node";
import type { ServeOptions } from "usher-http/node";
import { came, eventually } from "../../support/eventually.ts";
import { serverOfTest } from "../../support/http-server.ts";
import { messages } from "../../support/logs.ts";
import { gate, holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";

/** The bytes that are dropped of a body on a connection that is kept. */
const most = 65_536;
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
const byLength = (bytes: number) => `content-length: ${bytes}\r\n\r\n${"x".repeat(bytes)}`;
const inChunks = (bytes: number) =>
  `transfer-encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n0\r\n\r\n`;
const unfinished = (bytes: number) => `content-length: ${bytes + 7}\r\n\r\n${"x".repeat(bytes)}`;
const unasked = (bytes: number) => `expect: 100-continue\r\n${byLength(bytes)}`;
const framings: readonly (readonly [name: string, sent: (bytes: number) => string])[] = [
  ["by length", byLength],
  ["in chunks", inChunks],
  ["and not all of it", unfinished],
  ["though it was to wait for 100 Continue", unasked],
];
const sizes = [10, most, 4 * most, 64 * most];
const departures: readonly (readonly [name: string, leave: (client: RawClient) => void])[] = [
  ["resets the connection", (client) => client.leave()],
  ["closes it", (client) => client.close()],
  ["ends its side", (client) => void client.halfClose()],
];
const rows = framings.flatMap(([framing, sent]) =>
  departures.flatMap(([departure, leave]) => sizes.map((bytes) => [bytes, framing, departure, sent, leave] as const)),
);

// The sweep runs every 5 ms.
const quick = { bodyTimeoutMs: 100, sendTimeoutMs: 600_000 };
const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");

/** A route that does not read the body, and what it records. */
function waits() {
  const asked = gate();
  const gone = gate();
  const told = async (clientGone: AbortSignal): Promise<void> => {
    asked.open();
    await aborted(clientGone);
    gone.open();
  };
  return { asked: asked.passed, gone: gone.passed, told };
}

describe.each(rows)("a client that sends %i bytes %s, and %s", (bytes, _framing, _departure, sent, leave) => {
  const leaves = async (route: Route, asked: Promise<void>, gone: Promise<void>) => {
    const { port } = await start([route, ok], quick);
    const client = await RawClient.to(port);
    client.send(`POST /w HTTP/1.1\r\nhost: h\r\n${sent(bytes)}`);
    await asked;
    leave(client);
    came(await gone.then(() => true));
  };

  it("aborts clientGone of a handler that reads no body", async () => {
    const { asked, gone, told } = waits();
    const inputs = { clientGone };
    const route = post(Path.of("w"), { inputs, returns: Returns.text }, async ({ clientGone }) => {
      await told(clientGone);
      return "gone";
    });
    await leaves(route, asked, gone);
  });

  it("ends a quiet stream", async () => {
    const { asked, gone, told } = waits();
    async function* quiet(clientGone: AbortSignal) {
      yield Buffer.from("one");
      await told(clientGone);
    }
    const inputs = { clientGone };
    const route = post(Path.of("w"), { inputs, returns: Returns.response }, ({ clientGone }) =>
      Answer.stream(quiet(clientGone)),
    );
    await leaves(route, asked, gone);
  });
});

it.each(departures)(
  "a call that got clientGone and rejects with its reason, of a client that %s, is no error",
  async (_how, leave) => {
    const { asked, told } = waits();
    const inputs = { clientGone };
    const route = get(Path.of("w"), { inputs, returns: Returns.text }, async ({ clientGone }) => {
      await told(clientGone);
      throw clientGone.reason;
    });
    const { port } = await start([route, ok], quick);
    const client = await RawClient.to(port);
    client.send("GET /w HTTP/1.1\r\nhost: h\r\n\r\n");
    await asked;
    leave(client);
    await eventually(() => expect(messages("info")).toContain("GET /w 499"));
    expect(messages("error")).toEqual([]);
  },
);

describe("a server in which the app is mounted", () => {
  it.each(departures)("notices a client, too, that %s after an unread body", async (_how, leave) => {
    const { asked, gone, told } = waits();
    const inputs = { clientGone };
    const route = post(Path.of("w"), { inputs, returns: Returns.text }, async ({ clientGone }) => {
      await told(clientGone);
      return "gone";
    });
    const { port } = await serverOfTest(listener(App.make([route]), quick));
    const client = await RawClient.to(port);
    client.send(`POST /w HTTP/1.1\r\nhost: h\r\n${byLength(16 * most)}`);
    await asked;
    leave(client);
    came(await gone.then(() => true));
  });
});

describe("the signal of a mount's request that is first used after the response, by work of after", () => {
  type Row = readonly [
    what: string,
    fields: string,
    bytes: number,
    leave: (client: RawClient) => unknown,
    gone: boolean,
  ];
  it.each<Row>([
    ["was sent whole, and the server closes the connection", "connection: close\r\n", 5, () => {}, false],
    ["was sent whole, and the client closes the connection", "", 5, (client) => client.halfClose(), false],
    ["was cut, because the client resets the connection", "", 1 << 26, (client) => client.leave(), true],
    ["was cut, and was to be the last", "connection: close\r\n", 1 << 26, (client) => client.leave(), true],
  ])("which %s: %j", async (_what, fields, bytes, leave, gone) => {
    const closed = gate();
    const seen = gate<boolean>();
    const mount = Route.mount(
      Path.of("w"),
      (request, { after }) => {
        after(async () => {
          await closed.passed;
          seen.open(request.signal.aborted);
        });
        return new Response("x".repeat(bytes));
      },
      { inputs: { after } },
    );
    const { port, server } = await serverOfTest(listener(App.make([mount]), quick));
    server.on("connection", (socket) => socket.on("close", () => closed.open()));
    const client = await RawClient.to(port);
    client.send(`GET /w HTTP/1.1\r\nhost: h\r\n${fields}\r\n`);
    await client.bytes(5);
    leave(client);
    expect(await seen.passed).toBe(gone);
  });
});

describe("an unread body that is dropped while a handler waits", () => {
  /** A handler that reads no body, and answers when the test releases it. */
  function held() {
    const asked = gate();
    const letGo = gate();
    const inputs = { clientGone };
    const route = post(Path.of("w"), { inputs, returns: Returns.text }, async ({ clientGone }) => {
      asked.open();
      await letGo.passed;
      return clientGone.aborted ? "gone" : "there";
    });
    return { route, asked: asked.passed, letGo: letGo.open };
  }

  it.each(framings.filter(([framing]) => framing === "by length" || framing === "in chunks"))(
    "%s keeps its connection, and the next request is answered after it",
    async (_framing, sent) => {
      const { route, asked, letGo } = held();
      const { port } = await start([route, ok]);
      const client = await RawClient.to(port);
      client.send(`POST /w HTTP/1.1\r\nhost: h\r\n${sent(most)}`).ask("GET /ok");
      await asked;
      for (let i = 0; i < 5; i++) await turns(port);
      letGo();
      const answered = await client.answer();
      expect([answered.body, header(answered, "connection")]).toEqual(["there", undefined]);
      expect((await client.answer()).body).toBe("ok");
      expect((await client.ask("GET /ok").answer()).body).toBe("ok");
    },
  );

  it.each([
    ["by length", byLength],
    ["in chunks", inChunks],
  ])("%s, longer than 64 KiB and incomplete, closes its connection after the answer", async (_framing, sent) => {
    const { route, asked, letGo } = held();
    const { port } = await start([route, ok]);
    const client = await RawClient.to(port);
    const bytes = `POST /w HTTP/1.1\r\nhost: h\r\n${sent(2 * most)}`;
    // All bytes except the last 100: less than 64 KiB are left.
    client.send(bytes.slice(0, -100));
    await asked;
    for (let i = 0; i < 5; i++) await turns(port);
    letGo();
    const answered = await client.answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["there", "close"]);
    await client.closed();
  });

  it("is read slowly above 64 KiB: the rest stays with its client", async () => {
    holdClock();
    const { route, asked, letGo } = held();
    const { port } = await start([route, ok], { drainMs: 0 });
    const client = await RawClient.to(port);
    // More than a system buffers for a connection.
    client.send(`POST /w HTTP/1.1\r\nhost: h\r\n${byLength(1024 * most)}`);
    await asked;
    for (let i = 0; i < 20; i++) await turns(port);
    expect(client.socket.writableLength).toBeGreaterThan(0);
    letGo();
    expect((await client.answer()).body).toBe("there");
  });

  it("gets no 100 Continue", async () => {
    const { route, asked, letGo } = held();
    const { port } = await start([route, ok]);
    const client = await RawClient.to(port);
    client.send("POST /w HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n");
    await asked;
    await turns(port);
    letGo();
    const answered = await client.answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([200, "there", "close"]);
  });
});

describe("an unread body that is dropped while a handler waits, and then a stream", () => {
  it("is read while a stream answers, so that a disconnect of the client is noticed", async () => {
    holdClock();
    const [asked, letGo] = [gate(), gate()];
    let isGone = false;
    async function* quiet(clientGone: AbortSignal) {
      yield Buffer.from("one");
      await aborted(clientGone);
      isGone = true;
    }
    const inputs = { clientGone };
    const route = post(Path.of("w"), { inputs, returns: Returns.response }, async ({ clientGone }) => {
      asked.open();
      await letGo.passed;
      return Answer.stream(quiet(clientGone));
    });
    const { port } = await start([route, ok]);
    const client = await RawClient.to(port);
    client.send(`POST /w HTTP/1.1\r\nhost: h\r\n${byLength(16 * most)}`);
    await asked.passed;
    // Above 64 KiB it waits for the clock.
    for (let i = 0; i < 5; i++) await turns(port);
    letGo.open();
    await client.sees("one");
    client.close();
    await eventually(() => {
      vi.advanceTimersByTime(1000);
      expect(isGone).toBe(true);
    });
  });
});

describe("a client whose bytes wait behind a CONNECT or an Upgrade, which keeps its connection unread", () => {
  const wait = "GET /wait HTTP/1.1\r\nhost: h\r\n\r\n";
  const upgrade = "GET /wait HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: own\r\n\r\n";
  it.each([
    ["a CONNECT that is pipelined", `${wait}CONNECT h:1 HTTP/1.1\r\nhost: h:1\r\n\r\n`],
    ["an Upgrade that is pipelined", wait + upgrade],
    ["an Upgrade", upgrade],
  ])("has gone, and clientGone aborts: %s", async (_what, sent) => {
    const { asked, gone, told } = waits();
    const inputs = { clientGone };
    const route = get(Path.of("wait"), { inputs, returns: Returns.response }, async ({ clientGone }) => {
      await told(clientGone);
      return Answer.make("unsent");
    });
    const { port } = await start([route, ok], { sendTimeoutMs: 500 });
    const client = await RawClient.to(port);
    client.send(sent);
    await asked;
    await turns(port);
    client.send("x".repeat(32 * most));
    for (let i = 0; i < 20; i++) await turns(port);
    client.leave();
    came(await gone.then(() => true));
  });
});

describe("a body that is read late", () => {
  type Late = (waited: Promise<void>) => { readonly route: Route; readonly options?: ServeOptions };
  const upload = bodyStream({ max: 1 << 30 });
  const sized = (inputs: { readonly body: Dep<Uint8Array> }): Route =>
    post(Path.of("w"), { inputs, returns: Returns.text }, ({ body }) => String(body.byteLength));
  const rows: readonly (readonly [how: string, late: Late])[] = [
    [
      "behind an input that waits",
      (waited) => ({
        route: sized({ body: Dep.join({ late: Dep.ofRequest(() => waited), body }, ({ body }) => body) }),
      }),
    ],
    [
      "by an input that is found only then",
      (waited) => ({
        route: sized({
          body: Dep.bind(
            Dep.ofRequest(() => waited),
            () => body,
          ),
        }),
      }),
    ],
    [
      "as a stream",
      (waited) => ({
        route: post(Path.of("w"), { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
          await waited;
          let bytes = 0;
          for await (const part of upload) bytes += part.byteLength;
          return String(bytes);
        }),
      }),
    ],
    [
      "behind middleware that waits",
      (waited) => ({
        route: sized({ body }),
        options: {
          middleware: [
            async ({ path }, next) => {
              if (path === "/w") await waited;
              return next();
            },
          ],
        },
      }),
    ],
  ];

  it.each(rows)("%s arrives whole", async (_how, late) => {
    const waited = gate();
    const { route, options } = late(waited.passed);
    const { port } = await start([route, ok], options);
    const sent = [byLength, inChunks].map((body) => body(8 * most));
    const clients = await Promise.all(sent.map(() => RawClient.to(port)));
    for (const [i, client] of clients.entries()) client.send(`POST /w HTTP/1.1\r\nhost: h\r\n${sent[i]}`);
    for (let i = 0; i < 5; i++) await turns(port);
    waited.open();
    for (const client of clients) expect((await client.answer()).body).toBe(String(8 * most));
  });
});
