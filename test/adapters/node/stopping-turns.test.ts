/** The requests that a server reads before, during and after its stop (contract 4.6; row SV-21). */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Path, Returns, get, post } from "usher-http";
import type { Server } from "usher-http/node";
import { beginning } from "../../support/http2-client.ts";
import { gate, start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

/** A route that answers when the test releases it. */
function held(name = "held") {
  const asked = gate();
  const letGo = gate();
  const route = get(Path.of(name), { returns: Returns.text }, async () => (asked.open(), await letGo.passed, name));
  return { route, asked: asked.passed, letGo: letGo.open };
}

/** Longer than any test runs: a stop that ends earlier did not wait for it. */
const drainMs = 600_000;

describe("a server that stops", () => {
  it("SV-21 answers every request that was pipelined before, with Connection: close on the last", async () => {
    const [first, second] = [held(), held("second")];
    const server = await start([first.route, second.route], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /held").ask("GET /second");
    await first.asked;
    const stopped = server.stop();
    first.letGo();
    await second.asked;
    second.letGo();
    const answers = [await client.answer(), await client.answer()];
    expect(answers.map(({ body }) => body)).toEqual(["held", "second"]);
    expect(answers.map((answer) => header(answer, "connection"))).toEqual([undefined, "close"]);
    expect(await stopped).toBe(0);
  });

  it("answers requests that it reads in the turn of the stop, also the request whose handler stops it", async () => {
    let stopped: Promise<number> | undefined;
    const stops = get(Path.of("stops"), { returns: Returns.text }, () => {
      stopped = server.stop();
      return "stopping";
    });
    const server: Server = await start([hello, stops], { drainMs });
    const clients = [await RawClient.to(server.port), await RawClient.to(server.port)];
    for (const client of clients) expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    // Both are read in one turn.
    for (const [i, path] of ["stops", "hello"].entries()) clients[i]?.ask(`GET /${path}`);
    for (const [i, body] of ["stopping", "hi"].entries()) {
      const answered = await clients[i]?.answer();
      expect([answered?.body, answered && header(answered, "connection")]).toEqual([body, "close"]);
    }
    expect(await stopped).toBe(0);
  });

  it("ends a connection that begins HTTP/2 in the turn of the stop", async () => {
    const server = await start([hello], { drainMs, http2: true });
    const client = connect(server.port, "127.0.0.1").resume();
    onTestFinished(() => void client.destroy());
    await once(client, "connect");
    const closed = once(client, "close");
    const stopped = new Promise<number>((resolve) => {
      // The client's bytes are read in the same turn.
      setTimeout(() => {
        client.write(beginning());
        resolve(server.stop());
      }, 0);
    });
    await closed;
    expect(await stopped).toBe(0);
  });

  it("runs no request that it reads later, after one in flight", async () => {
    const { route, asked, letGo } = held();
    const worked = vi.fn(() => "worked");
    const work = post(Path.of("work"), { returns: Returns.text }, worked);
    const server = await start([route, work], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /held");
    await asked;
    const stopped = server.stop();
    client.ask("POST /work");
    await new Promise((resolve) => setTimeout(resolve, 20));
    letGo();
    const answered = await client.answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["held", "close"]);
    expect(await client.rest()).toBe("");
    expect(worked).not.toHaveBeenCalled();
    expect(await stopped).toBe(0);
  });
});
