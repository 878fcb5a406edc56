/** `Answer.takeover` without a network (contract 4.3; facts 4.2; rows AN-27, AN-28). Each runtime has tests of the protocol. */
import { describe, expect, it } from "vitest";
import { Answer, App, Codec, Cookie, Path, Returns, Test, get } from "usher-http";
import { messages } from "../support/logs.ts";

const seen = Cookie.named("seen", Codec.int);
let handled = 0;
const handle = async (): Promise<void> => void handled++;
const taken = get(Path.of("taken"), { returns: Returns.response }, () =>
  Answer.takeover("echo/1", handle, { headers: [["x-mine", "a"]], cookies: [Cookie.make(seen, 1)] }),
);
const forbidden = get(Path.of("forbidden"), { returns: Returns.response }, () =>
  Answer.takeover("echo/1", handle, { headers: [["upgrade", "other"]] }),
);
const offer = { connection: "keep-alive, Upgrade", upgrade: "h2c, Echo/1" };

describe("a takeover", () => {
  const app = Test.app([taken, forbidden]);

  it("AN-27 is a 101 with the declared protocol in Upgrade, and with the answer's own headers", async () => {
    const { status, headers, body } = await Test.call(app, "GET", "/taken", { headers: offer });
    headers.delete("x-request-id");
    expect([status, body, [...headers]]).toEqual([
      101,
      "",
      [
        ["connection", "upgrade"],
        ["set-cookie", "seen=1; Path=/; HttpOnly; SameSite=Lax"],
        ["upgrade", "echo/1"],
        ["x-mine", "a"],
      ],
    ]);
  });

  it.each([
    ["not offered", {}, 'a takeover to "echo/1", which the client did not offer'],
    ["of another version", { ...offer, upgrade: "echo/2" }, 'a takeover to "echo/1", which the client did not offer'],
    ["that is not the connection's", { upgrade: "echo/1" }, 'a takeover to "echo/1", which the client did not offer'],
  ])("AN-28 %s is a 500", async (_id, headers, detail) => {
    const { status, headers: answered } = await Test.call(app, "GET", "/taken", { headers });
    expect([status, answered.get("upgrade")]).toEqual([500, null]);
    expect(messages("error").at(-1)).toBe(`GET /taken: internal: ${detail}`);
  });

  it("cannot set the headers that the framework writes", async () => {
    expect((await Test.call(app, "GET", "/forbidden", { headers: offer })).status).toBe(500);
  });

  it("is a 500 on a runtime that hands over no connection, and the log names one that does", async () => {
    const answer = await App.make([taken]).fetch(new Request("http://localhost/taken"));
    expect(answer.status).toBe(500);
    const detail = 'a takeover to "echo/1", for which app.fetch hands over no connection: usher-http/node does';
    expect(messages("error").at(-1)).toBe(`GET /taken: internal: ${detail}`);
  });

  it.each(["", "a b", "echo/", "/1", "a,b", "a/1/2", "é"])("refuses the protocol %j", (protocol) => {
    expect(() => Answer.takeover(protocol, handle)).toThrow(
      `Answer.takeover: ${JSON.stringify(protocol)} is no protocol's name`,
    );
  });

  it("does not run if the connection is not handed over", () => {
    expect(handled).toBe(0);
  });
});
