/** Bodies that are generated while they are sent, through `app.fetch` (contract 4.3; AN-21 to AN-24; framing: test/adapters). */
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Returns, get } from "usher-http";
import "../support/logs.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** The chunks of an application, and a record of what happened to them. */
function parts(...texts: readonly (string | Error)[]) {
  const told = { made: 0, ended: false };
  async function* make(): AsyncGenerator<Uint8Array> {
    try {
      for (const text of texts) {
        told.made++;
        if (text instanceof Error) throw text;
        yield bytes(text);
      }
    } finally {
      told.ended = true;
    }
  }
  return { made: make(), told };
}

async function fetched(answer: Answer.Answer, method = "GET"): Promise<Response> {
  const { fetch } = App.make([get(Path.of("x"), { returns: Returns.response }, () => answer)]);
  return fetch(new Request("http://h/x", { method }));
}

describe("a stream", () => {
  it("AN-24 is sent chunk by chunk, as application/octet-stream by default", async () => {
    const { made, told } = parts("a", "", "é", "b");
    const response = await fetched(Answer.stream(made));
    expect([response.status, response.headers.get("content-type"), response.headers.get("content-length")]).toEqual([
      200,
      "application/octet-stream",
      null,
    ]);
    expect(await response.text()).toBe("aéb");
    expect(told).toEqual({ made: 4, ended: true });
  });

  it("has the status, type, headers and length of its options", async () => {
    const options = { status: 206, contentType: "a/b", headers: [["x-a", "1"]], length: 2 } as const;
    const response = await fetched(Answer.stream(parts("ab").made, options));
    expect([response.status, await response.text()]).toEqual([206, "ab"]);
    expect(["content-type", "x-a", "content-length"].map((name) => response.headers.get(name))).toEqual([
      "a/b",
      "1",
      "2",
    ]);
  });

  it("may be a platform stream", async () => {
    const stream = new Blob(["hello"]).stream() as ReadableStream<Uint8Array>;
    expect(await (await fetched(Answer.stream(stream))).text()).toBe("hello");
    const again = new Blob(["hello"]).stream() as ReadableStream<Uint8Array>;
    expect(await (await fetched(Answer.stream(again, { length: 5 }))).text()).toBe("hello");
  });

  it("AN-21 is cut off at its length, never a byte later", async () => {
    const { made, told } = parts("hel", "lo, you", "there");
    const response = await fetched(Answer.stream(made, { length: 5 }));
    expect(await response.text()).toBe("hello");
    expect(told.ended).toBe(true);
  });

  it("AN-22 with fewer bytes than its length is an incomplete answer", async () => {
    const response = await fetched(Answer.stream(parts("hi").made, { length: 5 }));
    await expect(response.text()).rejects.toThrow("the stream sent less than the length it was given");
  });

  it("that throws is an incomplete answer", async () => {
    const response = await fetched(Answer.stream(parts("hi", new Error("no")).made));
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("the stream failed");
  });

  it("is ended when its reader cancels", async () => {
    const { made, told } = parts("a", "b", "c");
    const response = await fetched(Answer.stream(made));
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(told.ended).toBe(true);
    expect(told.made).toBeLessThan(3);
  });

  it("generates no chunk before its reader asks for it", async () => {
    const { made, told } = parts("a", "b", "c");
    const response = await fetched(Answer.stream(made));
    expect(told.made).toBe(0);
    expect((await response.body?.getReader().read())?.done).toBe(false);
    expect(told.made).toBe(1);
  });

  it("is never started for a HEAD, which still has its length", async () => {
    const { made, told } = parts("a");
    const response = await fetched(Answer.stream(made, { length: 1 }), "HEAD");
    expect([response.body, response.headers.get("content-length"), told.made]).toEqual([null, "1", 0]);
  });
});
