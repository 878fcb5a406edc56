/** What is stored and read again by schemas of other libraries: the data of sessions, and columns of JSON. */
import { describe, expect, it } from "vitest";
import { Path, Returns, Sessions, Test, get, post, setCookie } from "usher-http";
import { Type } from "usher-http/postgres";
import * as z from "zod";
import { TypeMismatch } from "../../src/database/type-text.ts";
import { logged } from "../support/logs.ts";

const Data = z.object({ clerk: z.string().trim().min(2), since: z.string().default("2026") });

describe("a column of JSON by Zod", () => {
  const column = Type.json(Data);

  it("is written and read with the schema", () => {
    expect(column.print({ clerk: " Kim ", since: "2025" })).toBe('{"clerk":"Kim","since":"2025"}');
    expect(column.parse('{"clerk":"Kim"}')).toEqual({ clerk: "Kim", since: "2026" });
  });

  it("refuses what its schema refuses, in both directions", () => {
    expect(() => column.print({ clerk: "K", since: "s3cret" })).toThrow(TypeMismatch);
    expect(() => column.parse('{"clerk":7}')).toThrow(TypeMismatch);
    expect(() => column.parse("{")).toThrow(TypeMismatch);
  });
});

describe("sessions by Zod", () => {
  const store = Sessions.memory();
  const sessions = Sessions.make({ store, shape: Data, idleMs: 60_000, absoluteMs: 60_000 });
  const signIn = post(Path.of("in"), { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
    await sessions.start(setCookie, { clerk: "Kim", since: "2025" });
  });
  const who = get(Path.of("who"), { inputs: { session: sessions.optional }, returns: Returns.text }, ({ session }) => {
    return JSON.stringify(session?.data);
  });

  it("keep their data", async () => {
    const browser = Test.browser(Test.app([signIn, who]));
    expect((await browser.call("POST", "/in")).status).toBe(204);
    expect((await browser.call("GET", "/who")).json()).toEqual({ clerk: "Kim", since: "2025" });
  });

  it("do not start with data that the schema refuses", async () => {
    const wrong = post(Path.of("in"), { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
      await sessions.start(setCookie, { clerk: "K", since: "s3cret" });
    });
    expect((await Test.call(Test.app([wrong]), "POST", "/in")).status).toBe(500);
    expect(logged().join("\n")).not.toContain("s3cret");
  });
});
