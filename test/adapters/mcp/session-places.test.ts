/** Sessions behave the same in every store: in the memory of a process, and in Durable Objects of Workers. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { SessionClient, idsOf, numbersOf, sendTo } from "./session-client.ts";
import type { Headers } from "./session-client.ts";
import { places, startedFor } from "./session-place.ts";

// To start a Worker takes a second, and each test has sessions of its own.
const started = places.map(([name, start]) => [name, startedFor(start)] as const);

describe.each(started)("a session on %s", (_name, at) => {
  it("is opened by initialize, is required by later requests, and ends by DELETE", async () => {
    const session = await SessionClient.open(at("/mcp"));
    expect(session.id).toMatch(/^[\da-f-]{36,64}$/);
    const missing = await sendTo(at("/mcp"), { id: 1, method: "ping" });
    expect([missing.status, await missing.text()]).toEqual([400, expect.stringContaining("Mcp-Session-Id is missing")]);
    expect(await session.ping()).toBe(200);
    expect((await session.request("DELETE")).status).toBe(204);
    expect(await session.ping()).toBe(404);
    expect([(await session.request("DELETE")).status, (await session.resume("1.0")).status]).toEqual([404, 404]);
  });

  it.each<[string, (id: string) => string]>([
    ["no id", () => "another"],
    ["a list", (id) => `${id}, ${id}`],
    ["in capitals", (id) => id.toUpperCase()],
    ["another's form", () => "f".repeat(64)],
    ["cut", (id) => id.slice(1)],
    ["changed", (id) => id.slice(0, -1) + (id.endsWith("0") ? "1" : "0")],
  ])("does not exist if its id is %s", async (_what, idOf) => {
    const session = await SessionClient.open(at("/mcp"));
    const headers = { "mcp-session-id": idOf(session.id) };
    const refused = await sendTo(at("/mcp"), { id: 7, method: "ping" }, { headers });
    expect([refused.status, await refused.json()]).toEqual([
      404,
      { jsonrpc: "2.0", id: 7, error: { code: -32_000, message: "There is no such session: begin with initialize." } },
    ]);
    expect((await fetch(at("/mcp"), { method: "DELETE", headers })).status).toBe(404);
  });

  it("is not valid on another server of the app", async () => {
    const session = await SessionClient.open(at("/hasty"));
    const headers = { "mcp-session-id": session.id };
    expect((await sendTo(at("/mcp"), { id: 1, method: "ping" }, { headers })).status).toBe(404);
    expect(await session.ping()).toBe(200);
  });

  it.each<[own: Headers, other: Headers]>([
    [{}, { authorization: "Bearer b" }],
    [{ authorization: "Bearer a" }, {}],
    [{ authorization: "Bearer a" }, { authorization: "Bearer b" }],
    [{ "x-key": "a" }, { "x-key": "b" }],
  ])("of the credentials %j is not valid for those of %j", async (own, other) => {
    const session = await SessionClient.open(at("/mcp"), own);
    expect(await session.ping(other)).toBe(404);
    for (const method of ["GET", "DELETE"]) {
      expect((await session.request(method, { "last-event-id": "1.0" }, other)).status).toBe(404);
    }
    expect(await session.ping()).toBe(200);
    if (own["x-key"] !== undefined) expect(await session.call("mine")).toBe(own["x-key"]);
  });
});

describe.each(started)("the calls of a session on %s", (_name, at) => {
  it("can be cancelled by another request, and cannot share an id", async () => {
    const [session, other] = [await SessionClient.open(at("/mcp")), await SessionClient.open(at("/mcp"))];
    const called = session.begin("waits", "w");
    await session.follows(1);
    const twice = await session.begin("waits", "w");
    expect([twice.status, await twice.text()]).toEqual([
      400,
      expect.stringContaining("A request of this id is running."),
    ]);
    expect((await other.cancel("w")).status).toBe(202);
    expect((await session.cancel("other")).status).toBe(202);
    expect(await session.call("following")).toBe("1");
    expect((await session.cancel("w")).status).toBe(202);
    expect(await (await called).text()).toContain('"text":"cancelled"');
    await session.follows(0);
  });

  it("end with the session", async () => {
    const session = await SessionClient.open(at("/mcp"));
    const called = session.begin("waits", "w");
    await session.follows(1);
    expect((await session.request("DELETE")).status).toBe(204);
    expect(await (await called).text()).toContain('"text":"cancelled"');
  });

  it("that ends while another of its requests arrives is found or not, and nothing else", async () => {
    for (let i = 0; i < 20; i++) {
      const session = await SessionClient.open(at("/mcp"));
      const [ended, status] = await Promise.all([session.request("DELETE"), session.ping()]);
      expect([204, [200, 404].includes(status), await session.ping()]).toEqual([ended.status, true, 404]);
    }
  });
});

describe.each(started)("a stream of a session on %s", (_name, at) => {
  it("is resumed after the last received event, and the call runs on meanwhile", async () => {
    const session = await SessionClient.open(at("/mcp"));
    const first = await session.leaveAt('\\"n\\":1');
    const [begun = "", one = ""] = idsOf(first);
    const [stream] = begun.split(".");
    expect(idsOf(first)).toEqual([`${stream}.0`, `${stream}.1`]);
    expect([first, one]).toEqual([expect.stringContaining("retry: 1000"), `${stream}.1`]);
    await session.publish(2);
    const again = await session.resume(one);
    await session.publish(-1);
    const rest = await again.text();
    expect([idsOf(rest), numbersOf(rest)]).toEqual([[`${stream}.2`, `${stream}.3`], [2]]);
    expect(rest).toContain('"result":{"content":[{"type":"text","text":"{\\"events\\":2}"}]}');
    expect(numbersOf(await (await session.resume(begun)).text())).toEqual([1, 2]);
    for (const last of [`${stream}.3`, `${stream}.99`]) expect(await (await session.resume(last)).text()).toBe("");
  });

  it("keeps the newest messages that fit", async () => {
    const session = await SessionClient.open(at("/mcp"));
    const called = await session.begin("follow", "f");
    await session.follows(1);
    for (let n = 1; n <= 20; n++) await session.publish(n);
    await session.publish(-1);
    const whole = await called.text();
    expect(numbersOf(whole)).toHaveLength(20);
    const kept = await (await session.resume(idsOf(whole)[0] ?? "")).text();
    expect([numbersOf(kept).at(-1), idsOf(kept).length < 10]).toEqual([20, true]);
    expect(kept).toContain('"events\\":20');
  });

  it("has no event without a message for a client of 2025-06-18", async () => {
    const session = await SessionClient.open(at("/mcp"), {}, "2025-06-18");
    expect(idsOf(await session.leaveAt('\\"n\\":1'))).toEqual([expect.stringMatching(/^\d+\.1$/)]);
    expect((await session.request("DELETE")).status).toBe(204);
  });

  it("is read by the latest reader", async () => {
    const session = await SessionClient.open(at("/mcp"));
    const first = await session.begin("follow", "f");
    await session.follows(1);
    const reader = (first.body as ReadableStream<Uint8Array>).getReader();
    const [begun = ""] = idsOf(new TextDecoder().decode((await reader.read()).value));
    const second = await session.resume(begun);
    await session.publish(1);
    await session.publish(-1);
    expect(numbersOf(await second.text())).toEqual([1]);
    for (;;) if ((await reader.read()).done) break;
  });
});

describe.each(started)("a stream that is not read on %s", (_name, at) => {
  it("is not visible in another session", async () => {
    const [session, other] = [await SessionClient.open(at("/mcp")), await SessionClient.open(at("/mcp"))];
    const [begun = ""] = idsOf(await session.leaveAt('\\"n\\":1'));
    expect((await other.resume(begun)).status).toBe(400);
    expect((await session.request("DELETE")).status).toBe(204);
  });

  it.each([
    ["", 405],
    ["x", 400],
    ["7.0", 400],
    ["1.0\u00a0", 400],
    [`${"9".repeat(400)}.0`, 400],
  ])("does not exist at %j", async (last, status) => {
    const session = await SessionClient.open(at("/mcp"));
    expect((await session.request("GET", last === "" ? {} : { "last-event-id": last })).status).toBe(status);
  });

  it("is cancelled by its client, which has disconnected", async () => {
    const session = await SessionClient.open(at("/mcp"));
    await session.leaveAt('\\"n\\":1');
    expect((await session.cancel("left")).status).toBe(202);
    await session.follows(0);
  });

  it("is cancelled if its client does not reconnect", async () => {
    const session = await SessionClient.open(at("/hasty"));
    await session.leaveAt('\\"n\\":1');
    // A Worker notices by a message that its client has gone.
    await eventually(async () => {
      await session.publish(2);
      expect(await session.call("following")).toBe("0");
    });
  });
});

describe.each(started)("the official client on %s", (_name, at) => {
  it("follows in a session, cancels, and ends the session", async () => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    const transport = new StreamableHTTPClientTransport(new URL(at("/mcp")));
    await client.connect(transport);
    expect(transport.sessionId).toMatch(/^[\da-f-]{36,64}$/);
    const topic = "official";
    const publish = (n: number) => client.callTool({ name: "publish", arguments: { topic, n } });
    const following = async () => (await client.callTool({ name: "following", arguments: { topic } })).content;
    const cancelling = new AbortController();
    const seen: unknown[] = [];
    const options = {
      signal: cancelling.signal,
      onprogress: ({ message }: { message?: string | undefined }) => void seen.push(message),
    };
    const followed = client.callTool({ name: "follow", arguments: { topic } }, options);
    const cancelled = followed.catch((error: unknown) => String(error));
    await eventually(async () => expect(await following()).toMatchObject([{ text: "1" }]));
    await publish(5);
    await eventually(() => expect(seen).toEqual([expect.stringContaining('"n":5')]));
    cancelling.abort();
    expect(await cancelled).toContain("abort");
    await eventually(async () => expect(await following()).toMatchObject([{ text: "0" }]));
    const session = transport.sessionId ?? "";
    await transport.terminateSession();
    const headers = { "mcp-session-id": session };
    expect((await sendTo(at("/mcp"), { id: 1, method: "ping" }, { headers })).status).toBe(404);
    await client.close();
  });
});
