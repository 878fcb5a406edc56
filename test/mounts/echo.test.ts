/** A mount that answers with its request's body: that is read while the response is sent. */
import { once } from "node:events";
import { request } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { beforeAll, describe, expect, it } from "vitest";
import { Path, Route } from "usher-http";
import { serverOfFile } from "../support/http-server.ts";
import { logged } from "../support/logs.ts";
import { stalled } from "../support/eventually.ts";
import { start } from "../support/node-server.ts";
import { started } from "./started.ts";

const part = Buffer.alloc(65_536, "0123456789abcdef");
/** Far more than the buffers of four sockets, which the system makes as large as 10 MiB each, and of two runtimes. */
const total = 192 * 1024 * 1024;

let url: string;
beforeAll(async () => {
  ({ url } = await serverOfFile((asked, response) => void asked.pipe(response)));
});

interface Posting {
  readonly asking: ClientRequest;
  readonly response: Promise<IncomingMessage>;
}

function post(port: number, path: string): Posting {
  const headers = { "x-upstream": url, "content-type": "application/octet-stream" };
  const asking = request({ port, host: "127.0.0.1", path, method: "POST", headers, agent: false });
  const response = once(asking, "response").then(([came]) => came as IncomingMessage);
  // A test that destroys it has seen what it looks for.
  asking.on("error", () => {});
  response.catch(() => {});
  return { asking, response };
}

describe.each(Object.keys(started))("on %s", (runtime) => {
  const port = (): Promise<number> => (started[runtime] as () => Promise<number>)();

  // Deno 2.9.5 stalls such a body after two parts where JavaScript makes the response, without Usher, too.
  it.skipIf(runtime === "deno").each(["/echo", "/through"])(
    "sends each part of %s back before the next",
    async (path) => {
      const { asking, response } = post(await port(), path);
      asking.write("one");
      const came = await response;
      expect(came.statusCode).toBe(200);
      const parts = came[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
      for (const text of ["one", "two", "three"]) {
        if (text !== "one") asking.write(text);
        expect(String((await parts.next()).value)).toBe(text);
      }
      asking.end();
      expect((await parts.next()).done).toBe(true);
    },
  );

  it.skipIf(runtime === "deno").each(["/echo", "/through"])(
    "sends 192 MiB of %s back, no faster than it is read",
    async (path) => {
      const { asking, response } = post(await port(), path);
      let sent = 0;
      const more = (): void => {
        while (sent < total) {
          sent += part.length;
          if (!asking.write(part)) return void asking.once("drain", more);
        }
        asking.end();
      };
      more();
      const came = await response;
      expect(came.statusCode).toBe(200);
      await stalled(() => sent);
      expect(sent).toBeLessThan(total / 2);
      let received = 0;
      for await (const data of came) received += (data as Buffer).length;
      expect(received).toBe(total);
    },
  );

  it("has the whole body for a handler that reads it late, or fails: a body that was dropped is not empty", async () => {
    const at = await port();
    for (const length of [20, 5000, 100_000, 1_000_000]) {
      const { asking, response } = post(at, "/late");
      asking.end(Buffer.alloc(length, "a"));
      let text = "";
      for await (const data of await response) text += String(data);
      expect([`begun ${length}`, "begun failed"]).toContain(text);
    }
  });

  it("serves others after a client that stopped in the middle", async () => {
    const at = await port();
    for (const path of ["/echo", "/through"]) {
      const { asking, response } = post(at, path);
      asking.write(part);
      await once(await response, "data");
      asking.destroy();
    }
    const { asking, response } = post(at, "/echo");
    asking.end("after");
    let text = "";
    for await (const data of await response) text += String(data);
    expect(text).toBe("after");
  });
});

describe("over HTTP/2", () => {
  it("sends each part back before the next one comes, and 192 MiB", async () => {
    const { port } = await start([Route.mount(Path.root, ({ body }) => new Response(body), { maxBody: 1 << 30 })], {
      http2: true,
    });
    const session = connect(`http://127.0.0.1:${port}`);
    const short = session.request({ ":method": "POST", ":path": "/" });
    for (const text of ["one", "two"]) {
      short.write(text);
      expect(String((await once(short, "data"))[0])).toBe(text);
    }
    short.end();
    await once(short, "end");
    const long = session.request({ ":method": "POST", ":path": "/" });
    long.pause();
    let sent = 0;
    const more = (): void => {
      while (sent < total) {
        sent += part.length;
        if (!long.write(part)) return void long.once("drain", more);
      }
      long.end();
    };
    more();
    await stalled(() => sent);
    expect(sent).toBeLessThan(total / 2);
    let received = 0;
    for await (const data of long) received += (data as Buffer).length;
    expect(received).toBe(total);
    session.close();
  });
});

describe("the body after the handler has returned", () => {
  it("ends with its limit: the response is cut, and the line says why", async () => {
    const { port } = await start([
      Route.mount(Path.of("echo"), ({ body }) => new Response(body), { maxBody: 100_000 }),
    ]);
    const { asking, response } = post(port, "/echo");
    asking.write(part);
    const came = await response;
    await once(came, "data");
    asking.write(part);
    await expect(once(came, "end")).rejects.toThrow("aborted");
    await expect.poll(() => logged().join("")).toContain("the body is longer than the limit");
    expect(logged().join("")).not.toContain('"level":"error"');
  });

  it("is cancelled when the response has ended, and the server answers the next", async () => {
    let read: Promise<string> | undefined;
    const first = async (request: Request): Promise<Response> => {
      const reader = (request.body as ReadableStream<Uint8Array>).getReader();
      const { value } = await reader.read();
      let sends = 0;
      const parts = new ReadableStream<Uint8Array>({
        async pull(controller) {
          // Later than the handler has returned.
          await new Promise((resolve) => setTimeout(resolve, 20));
          if (sends++ > 0) return controller.close();
          controller.enqueue(value as Uint8Array<ArrayBuffer>);
          read = reader.read().then(
            ({ done }) => `read ${done}`,
            (thrown: unknown) => (thrown as Error).message,
          );
        },
      });
      return new Response(parts);
    };
    const { port } = await start([Route.mount(Path.root, first)]);
    const { asking, response } = post(port, "/");
    asking.write("one");
    let text = "";
    for await (const data of await response) text += String(data);
    expect(text).toBe("one");
    expect(await read).toContain("could not be read");
    asking.end();
    expect((await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "x" })).status).toBe(200);
  });

  it("ends when the client leaves, which is no fault", async () => {
    let told = "";
    const handler = ({ body }: Request): Response => {
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
        try {
          controller.enqueue((await reader.read()).value as Uint8Array<ArrayBuffer>);
        } catch (thrown) {
          told = (thrown as Error).message;
          throw thrown;
        }
      };
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
    };
    const { port } = await start([Route.mount(Path.root, handler)]);
    const { asking, response } = post(port, "/");
    asking.write("one");
    await once(await response, "data");
    asking.destroy();
    await expect.poll(() => told).toContain("could not be read");
    await expect.poll(() => logged().join("")).toContain("the body ended early");
    expect(logged().join("")).not.toContain('"level":"error"');
  });

  it("is read by one: a handler that reads it twice is a 500, whose line says so", async () => {
    const twice = (request: Request): Response => {
      request.body?.getReader();
      return new Response(request.body);
    };
    const late = (request: Request): Response => {
      const response = new Response(request.body);
      void request.text().catch(() => {});
      return response;
    };
    const { port } = await start([Route.mount(Path.of("twice"), twice), Route.mount(Path.of("late"), late)]);
    const send = (path: string) => fetch(`http://127.0.0.1:${port}/${path}`, { method: "POST", body: "text" });
    expect((await send("twice")).status).toBe(500);
    expect(logged().join("")).toContain("TypeError");
    expect((await send("late")).status).toBe(500);
    expect(logged().join("")).toContain("a Response whose body is");
  });
});

describe("a package's own Response", () => {
  it.each(["too large", "client gone"])("is cancelled where the request's body failed: %s", async (why) => {
    let isCancelled = false;
    const other = async (request: Request): Promise<Response> => {
      await request.text().catch(() => "");
      const stream = new ReadableStream({ cancel: () => void (isCancelled = true) });
      // As a package has it that brings its own class.
      return { status: 200, headers: new Headers(), body: stream } as Response;
    };
    const { port } = await start([Route.mount(Path.root, other, { maxBody: 100_000 })]);
    const { asking, response } = post(port, "/");
    asking.write(part);
    if (why === "too large") {
      asking.end(part);
      expect((await response).statusCode).toBe(413);
    } else {
      await new Promise((resolve) => setTimeout(resolve, 100));
      asking.destroy();
    }
    await expect.poll(() => isCancelled).toBe(true);
  });
});
