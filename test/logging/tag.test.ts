/** Who sends a request, on its access line: by `Log.tag`, and never without it. */
import { describe, expect, it } from "vitest";
import { Dep, Header, Codec, Log, Path, Returns, Test, get } from "usher-http";
import { lines, messages } from "../support/logs.ts";

const who = Dep.map(Header.optional("x-user", Codec.string), (user) => {
  if (user !== undefined) Log.tag({ "user.id": user });
  return user;
});
const app = Test.app([
  get(Path.of("me"), { inputs: { who }, returns: Returns.text }, ({ who }) => who ?? "nobody"),
  get(Path.of("late"), { returns: Returns.text }, async () => {
    await Promise.resolve();
    await Log.tags({ inner: 1 }, async () => {
      Log.tag({ "user.id": 7, message: "own" });
      await Promise.resolve();
    });
    return "late";
  }),
]);
const accessOf = (at: number) =>
  lines()
    .filter((line) => line["http.route"] !== undefined)
    .at(at);

describe("Log.tag", () => {
  it("is on the access line of its own request alone", async () => {
    await Promise.all(["ada", "bob"].map((user) => Test.call(app, "GET", "/me", { headers: { "x-user": user } })));
    await Test.call(app, "GET", "/me");
    expect([0, 1, 2].map((at) => accessOf(at)?.["user.id"])).toEqual(["ada", "bob", undefined]);
  });

  it("adds after an await and within Log.tags, keeps the line's own members, and leaves the inner tags out", async () => {
    await Test.call(app, "GET", "/late");
    const line = accessOf(-1);
    expect(line).toMatchObject({
      "user.id": 7,
      message: "GET /late 200",
      "field.message": "own",
      "http.route": "/late",
    });
    expect(line).not.toHaveProperty("inner");
  });

  it("does nothing outside of a request, and refuses what is no record", () => {
    Log.tag({ "user.id": 1 });
    expect(messages("error")).toEqual([]);
    expect(() => Log.tag(null as never)).toThrow("Log.tag: fields");
  });
});
