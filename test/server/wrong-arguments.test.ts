/** Mistakes of JavaScript callers in `serve` are an error with a message, before the server listens. */
import { describe, expect, it } from "vitest";
import { App } from "usher-http";
import { listener, serve } from "usher-http/node";
import { limitsOf } from "../../src/server/options.ts";

const noText = [
  ["null", null],
  ["a number", 7],
  ["a list", []],
  ["another object", {}],
] as const;
const noObject = [
  ...noText.filter(([kind]) => kind !== "another object"),
  // An async function made them, and its call was not awaited.
  ["a promise", Promise.resolve({})],
] as const;
const noList = noText.filter(([kind]) => kind !== "a list");

describe("serve and listener", () => {
  it.each(noObject)("%s as the options", async (kind, value) => {
    const sentence = `options is ${kind}, and not an object`;
    await expect(serve([], value as never)).rejects.toThrow(`serve: ${sentence}`);
    expect(() => listener(App.make([]), value as never)).toThrow(`listener: ${sentence}`);
    expect(() => App.make([], value as never)).toThrow(`App.make: the options are ${kind}, and not an object`);
  });

  it.each(noList)("%s as the routes", async (kind, value) => {
    await expect(serve(value as never)).rejects.toThrow(`App.make: the routes are ${kind}, and not a list of routes`);
  });

  it.each(noText)("%s as the host or the socket", (kind, value) => {
    expect(() => limitsOf({ host: value as never })).toThrow(`serve: host is ${kind}, and not a text`);
    expect(() => limitsOf({ socket: value as never })).toThrow(`serve: socket is ${kind}, and not a text`);
  });

  // Node and Bun would listen on every interface: a `HOST=` of the environment must not.
  it("an empty host", async () => {
    const error = new RangeError('serve: host cannot be "": write "localhost", or "0.0.0.0" for every interface');
    await expect(serve([], { host: "", port: 0 })).rejects.toThrow(error);
  });
});
