/** The typed client of an app with its own format of refusals. */
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import { App, Client, Codec, Event, Path, Query, RefusalFormat, Returns, get, refuse } from "usher-http";
import "../support/logs.ts";
import { gone, realWorld } from "../support/refusal-formats.ts";

describe("the typed client", () => {
  const typed = [
    get(Path.of("gone"), { returns: Returns.text, refuses: [gone] }, () => refuse(gone, "Sold.")),
    get(Path.of("limit"), { inputs: { limit: Query.required("limit", Codec.int) }, returns: Returns.text }, () => ""),
  ];
  const fetchOf = (refusalFormat: RefusalFormat) => (request: Request) =>
    App.make(typed, { refusalFormat }).fetch(request);
  it("reads problem details", async () => {
    const api = Client.of<typeof typed>({ baseUrl: "http://x", fetch: fetchOf(RefusalFormat.problemDetails()) });
    expect(await api["GET /gone"]()).toMatchObject({
      ok: false,
      status: 410,
      error: "gone",
      message: "Sold.",
      problems: [],
    });
    const invalid = await api["GET /limit"]({ query: { limit: "x" as never } });
    expect(invalid).toMatchObject({ error: "invalid", problems: [{ at: "query.limit", code: "malformed" }] });
  });
  it("reads any format with readRefusal", async () => {
    const read = async (response: Response) => {
      const { errors } = (await response.json()) as { errors: { body: readonly string[] } };
      return { error: response.status === 410 ? "gone" : "invalid", message: errors.body.join("; ") };
    };
    const api = Client.of<typeof typed>({ baseUrl: "http://x", fetch: fetchOf(realWorld), readRefusal: read });
    expect(await api["GET /gone"]()).toMatchObject({ status: 410, error: "gone", message: "Sold.", problems: [] });
  });
  it.each([
    ["nothing", () => undefined],
    ["half", () => ({ error: "gone" }) as never],
    ["an exception", () => Promise.reject(new Error("no"))],
  ])("gets no answer when readRefusal returns %s", async (_what, readRefusal) => {
    const api = Client.of<typeof typed>({ baseUrl: "http://x", fetch: fetchOf(realWorld), readRefusal });
    expect(await api["GET /gone"]()).toMatchObject({ ok: false, status: 410, error: "unreachable" });
  });

  it("uses it to read why an event stream cannot resume", async () => {
    const tick = Event.json("tick", v.number());
    const ticks = [get(Path.of("ticks"), { returns: Returns.events([tick]), refuses: [gone] }, () => async () => {})];
    const answers = [
      new Response("retry: 0\nid: 1\nevent: tick\ndata: 1\n\n", { headers: { "content-type": "text/event-stream" } }),
      new Response("it went", { status: 410 }),
    ];
    const readRefusal = async (response: Response) => ({ error: "gone", message: await response.text() });
    const fetch = async () => answers.shift() as Response;
    const opened = await Client.of<typeof ticks>({ baseUrl: "http://x", fetch, readRefusal })["GET /ticks"]();
    if (!opened.ok) throw new Error(opened.error);
    await expect(async () => {
      for await (const event of opened.value) expect(event.name).toBe("tick");
    }).rejects.toMatchObject({ message: "the event stream cannot resume: gone", cause: { message: "it went" } });
  });
});
