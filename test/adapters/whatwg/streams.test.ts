/** Streams that leave through `@whatwg-node/server`, and clients that leave them (facts 4.4; rows AN-21 to AN-25). */
import { describe, expect, it } from "vitest";
import { Answer, App, Dep, Event, Path, Returns, body, clientGone, get, post } from "usher-http";
import { messages } from "../../support/logs.ts";
import { gate } from "../../support/node-server.ts";
import { header } from "../../support/raw-client.ts";
import { clientOf, clientTo, http2ClientOf, servingApp } from "./adapted.ts";
import { eventually } from "../../support/eventually.ts";

const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");

/** A stream of these texts, with a record of its end; with the option it stays open after them. */
function streams(
  texts: readonly (string | Error)[],
  options: { readonly length?: number; readonly open?: boolean } = {},
) {
  const told = { made: 0, ended: false };
  const parts = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const text = texts[told.made];
          if (text instanceof Error) throw text;
          if (text !== undefined) controller.enqueue(Buffer.from(text));
          else if (options.open !== true) controller.close();
          told.made++;
        },
        cancel: () => void (told.ended = true),
      },
      { highWaterMark: 0 },
    );
  async function* own(): AsyncGenerator<Uint8Array> {
    try {
      yield* parts();
    } finally {
      told.ended = true;
    }
  }
  const { length } = options;
  const answer = (parts: AsyncIterable<Uint8Array>) => Answer.stream(parts, length === undefined ? {} : { length });
  const routes = [
    get(Path.of("own"), { returns: Returns.response }, () => answer(own())),
    get(Path.of("platform"), { returns: Returns.response }, () => answer(parts())),
    post(Path.of("platform"), { inputs: { body }, returns: Returns.response }, () => answer(parts())),
  ];
  return { told, routes };
}

describe.each(["/own", "/platform"])("a stream, %s", (path) => {
  it("is sent while it is generated, and its connection kept", async () => {
    const client = await clientOf([...streams(["a", "", "é"]).routes, ok]);
    const answered = await client.ask(`GET ${path}`).answer();
    expect([answered.body, header(answered, "transfer-encoding")]).toEqual(["aé", "chunked"]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("AN-21 with a length has Content-Length", async () => {
    const client = await clientOf([...streams(["hel", "lo"], { length: 5 }).routes, ok]);
    const answered = await client.ask(`GET ${path}`).answer();
    expect([answered.body, header(answered, "content-length")]).toEqual(["hello", "5"]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("AN-22 that is shorter than its length ends the connection", async () => {
    const client = await clientOf([...streams(["hi"], { length: 5 }).routes, ok]);
    const wire = await client.ask(`GET ${path}`).ask("GET /ok").rest();
    expect(wire).not.toMatch(/HTTP\/1.1[^]*HTTP\/1.1/);
  });

  it("that throws ends the connection without a last chunk, and its error message is not sent", async () => {
    const client = await clientOf([...streams(["part", new Error("s3cret")]).routes, ok]);
    const wire = await client.ask(`GET ${path}`).ask("GET /ok").rest();
    expect(wire).not.toMatch(/0\r\n\r\n$/);
    expect(messages("error")).toEqual([`stream on ${path} failed, so its connection is closed`]);
    expect(wire + messages("error").join()).not.toContain("s3cret");
  });

  it("is never started for a HEAD", async () => {
    const { routes, told } = streams(["hello"]);
    const client = await clientOf([...routes, ok]);
    await client.ask(`HEAD ${path}`).answer({ toHead: true });
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
    expect(told.made).toBe(0);
  });

  it("is not generated far ahead of a client that does not read, and ends when the client disconnects", async () => {
    const { routes, told } = streams(Array.from({ length: 1000 }, () => "x".repeat(65_536)));
    const client = await clientOf(routes);
    client.socket.pause();
    client.ask(`GET ${path}`);
    let last = -1;
    while (last !== told.made || last === 0) {
      last = told.made;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // 64 KiB each; the kernel's buffers take a few megabytes.
    expect(last).toBeLessThan(300);
    client.leave();
    await eventually(() => expect(told.ended).toBe(true));
  });
});

describe("a stream", () => {
  it("sends its head before its first chunk is generated", async () => {
    const first = gate();
    async function* parts() {
      await first.passed;
      yield Buffer.from("a");
    }
    const client = await clientOf([get(Path.of("s"), { returns: Returns.response }, () => Answer.stream(parts()))]);
    client.ask("GET /s");
    await client.sees("\r\n\r\n");
    first.open();
    expect((await client.answer()).body).toBe("a");
  });

  it("that is quiet ends when its client disconnects, also one that sent a body", async () => {
    for (const method of ["GET", "POST"]) {
      const { routes, told } = streams(["a"], { open: true });
      const client = await clientOf(routes);
      client.ask(`${method} /platform`, [], method === "POST" ? "sent" : "");
      await client.sees("a\r\n");
      client.leave();
      await eventually(() => expect(told.ended).toBe(true));
    }
  });
});

/** A route that answers as another does, once its client has gone, and how what it holds is released. */
function answersLate(made: ReturnType<typeof streams>["routes"][number] | undefined) {
  const [reached, ends] = [gate(), [] as string[]];
  const lock = Dep.scoped(
    {},
    () => "held",
    (_value, { how }) => void ends.push(how),
  );
  const late = get(
    Path.of("late"),
    { inputs: { lock, gone: clientGone }, returns: Returns.response },
    async (inputs) => {
      const left = new Promise((resolve) => inputs.gone.addEventListener("abort", resolve));
      reached.open();
      await left;
      return made?.handler({} as never) as Answer;
    },
  );
  return { late, reached, ends };
}

describe("a disconnect of the client", () => {
  const left = gate();
  const waits = gate();
  const told = { gone: 0 };
  const route = get(Path.of("waits"), { inputs: { gone: clientGone }, returns: Returns.text }, async ({ gone }) => {
    // What the adapter's own signal does not survive.
    AbortSignal.any([gone]);
    gone.addEventListener("abort", () => {
      told.gone++;
      left.open();
    });
    waits.open();
    await left.passed;
    return "nobody";
  });

  it("aborts clientGone of a handler that waits", async () => {
    const client = await clientOf([route]);
    client.ask("GET /waits");
    await waits.passed;
    client.leave();
    expect(await left.passed).toBeUndefined();
  });

  it.each(["/own", "/platform"])("before its answer ends the stream that would follow, %s", async (path) => {
    const { routes, told } = streams(["a"], { open: true });
    const { late, reached, ends } = answersLate(routes.find(({ pattern }) => pattern === path));
    const client = await clientOf([late]);
    client.ask("GET /late");
    await reached.passed;
    client.leave();
    await eventually(() => expect(ends).toEqual(["client gone"]));
    if (path === "/platform") await eventually(() => expect(told.ended).toBe(true));
  });

  it("does not abort clientGone after the answer", async () => {
    const signals: AbortSignal[] = [];
    const keeps = get(Path.of("keeps"), { inputs: { gone: clientGone }, returns: Returns.text }, ({ gone }) => {
      signals.push(gone);
      return "ok";
    });
    const client = await clientOf([keeps]);
    expect((await client.ask("GET /keeps", ["connection: close"]).answer()).body).toBe("ok");
    await client.closed();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

it("a disconnect over HTTP/2 aborts clientGone of a handler that waits, and ends the stream that would follow", async () => {
  const { routes, told } = streams(["a"], { open: true });
  const { late, reached, ends } = answersLate(routes[1]);
  const session = await http2ClientOf([late]);
  const stream = session.request({ ":path": "/late" }).on("error", () => {});
  await reached.passed;
  stream.close(8);
  await eventually(() => expect([ends, told.ended]).toEqual([["client gone"], true]));
});

it("EV-15 event streams end with an app that stops, and their producers are notified", async () => {
  const told = gate<string>();
  const feed = get(Path.of("feed"), { inputs: { clientGone }, returns: Returns.events([]) }, ({ clientGone }) => {
    return async (send) => {
      await send(Event.comment("one"));
      await new Promise((resolve) => clientGone.addEventListener("abort", resolve));
      const sent = await send(Event.comment("two"));
      told.open(sent.ok ? "sent" : sent.error);
    };
  });
  const app = App.make([feed, ok]);
  const client = await clientTo(await servingApp(app));
  client.ask("GET /feed");
  await client.sees(": one");
  app.drain();
  expect((await client.answer()).body).toBe(": one\n\n: stopping\n\n");
  expect(await told.passed).toBe("gone");
  expect(messages("info")).toContain("stream on /feed ended: server stopped");
  const late = await clientTo(await servingApp(app));
  expect(await late.ask("GET /feed").rest()).not.toContain(": one");
  expect((await (await clientTo(await servingApp(app))).ask("GET /ok").answer()).body).toBe("ok");
});
