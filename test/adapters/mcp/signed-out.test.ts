/** A stream of a session whose user signs out: what was kept of it is not shown to the old cookie. */
import { describe, expect, it } from "vitest";
import { Event, Meta, Path, Returns, Sessions, get, post, setCookie } from "usher-http";
import type { Sessions as SessionsOf } from "usher-http";
import { serve } from "usher-http/node";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { endsWithTest } from "../../support/ends.ts";
import { gate } from "../../support/gate.ts";
import { sendTo } from "./session-client.ts";
import "../../support/logs.ts";

const Secret = Event.json("secret", v.string());
type Data = { readonly user: string };

/** A server whose tool sends two secrets of the user of the session: the second once its gate is open. */
async function started(read: (sessions: SessionsOf<Data>) => SessionsOf<Data>["optional"]) {
  const shape = v.object({ user: v.string() });
  const sessions: SessionsOf<Data> = Sessions.make({ store: Sessions.memory(), shape, idleMs: 1e6, absoluteMs: 1e7 });
  const second = gate();
  const signIn = post(Path.of("in"), { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
    await sessions.start(setCookie, { user: "ada" });
  });
  const out = { inputs: { session: sessions.optional, setCookie }, returns: Returns.empty() };
  const signOut = post(Path.of("out"), out, async ({ session, setCookie }) => {
    await session?.close(setCookie);
  });
  const meta = Meta.tool({ name: "secrets", events: "progress" });
  const inputs = { session: read(sessions) };
  const secrets = get(Path.of("secrets"), { meta, inputs, returns: Returns.events([Secret]) }, ({ session }) => {
    const { user } = session?.data ?? { user: "nobody" };
    return async (send) => {
      await send(Event.make(Secret, `first of ${user}`));
      await second.passed;
      await send(Event.make(Secret, `second of ${user}`));
    };
  });
  const mcp = Mcp.routes([secrets], { name: "shop", version: "1", sessions: { resumeMs: 60_000 } });
  const server = await serve([signIn, signOut, secrets, ...mcp], { port: 0, host: "127.0.0.1" });
  endsWithTest(() => server.stop());
  return { url: `http://127.0.0.1:${server.port}`, second };
}

describe("a stream of a session", () => {
  it.each<[string, (sessions: SessionsOf<Data>) => SessionsOf<Data>["optional"]]>([
    ["required", (sessions) => sessions.required],
    ["optional", (sessions) => sessions.optional],
  ])("is not resumed after the sign-out: the session is %s", async (_what, read) => {
    const { url, second } = await started(read);
    const signedIn = await fetch(`${url}/in`, { method: "POST" });
    const cookie = (signedIn.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
    const params = { protocolVersion: "2025-11-25" };
    const opened = await sendTo(`${url}/mcp`, { id: 0, method: "initialize", params }, { headers: { cookie } });
    const headers = { cookie, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await opened.text();
    const leaving = new AbortController();
    const call = { name: "secrets", arguments: {}, _meta: { progressToken: "t" } };
    const { body } = await sendTo(
      `${url}/mcp`,
      { id: 1, method: "tools/call", params: call },
      { headers, signal: leaving.signal },
    );
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("first of ada")) text += new TextDecoder().decode((await reader.read()).value);
    const out = await fetch(`${url}/out`, { method: "POST", headers: { cookie } });
    expect(out.status).toBe(204);
    leaving.abort();
    await reader.read().catch(() => undefined);
    second.open();
    const accept = "text/event-stream";
    for (const last of ["1.0", "1.1"]) {
      const resumed = await fetch(`${url}/mcp`, { headers: { ...headers, accept, "last-event-id": last } });
      expect([resumed.status >= 400, await resumed.text()]).toEqual([true, expect.not.stringContaining("of ada")]);
    }
  });

  it("ends at the sign-out, and shows no more", async () => {
    const { url, second } = await started((sessions) => sessions.optional);
    const signedIn = await fetch(`${url}/in`, { method: "POST" });
    const cookie = (signedIn.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
    const initialize = { id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const opened = await sendTo(`${url}/mcp`, initialize, { headers: { cookie } });
    const headers = { cookie, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await opened.text();
    const params = { name: "secrets", arguments: {}, _meta: { progressToken: "t" } };
    const { status, body } = await sendTo(`${url}/mcp`, { id: 1, method: "tools/call", params }, { headers });
    expect(status).toBe(200);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("first of ada")) text += new TextDecoder().decode((await reader.read()).value);
    expect((await fetch(`${url}/out`, { method: "POST", headers: { cookie } })).status).toBe(204);
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += new TextDecoder().decode(part.value);
    second.open();
    expect(text).not.toContain("second");
  });
});
