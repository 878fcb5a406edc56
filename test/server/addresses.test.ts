/** The addresses of a host: one listener for each, on one port, and none stays open when another one fails. */
import { describe, expect, it } from "vitest";
import { listenAt } from "../../src/server/options.ts";

const failure = (code: string): Error => Object.assign(new Error(code), { code });

/** A machine where `listen` fails for some hosts. */
function machine(failing: { readonly [host: string]: string }) {
  const open = new Set<string>();
  const listen = (host: string, port: number) => {
    const code = failing[host];
    if (code !== undefined) throw failure(code);
    open.add(host);
    return { port: port === 0 ? 4000 : port, close: () => void open.delete(host) };
  };
  return { open, listen };
}

describe("the addresses of a host", () => {
  it.each<[host: string, failing: { readonly [host: string]: string }, bound: string, open: readonly string[]]>([
    ["localhost", {}, "127.0.0.1 and [::1]", ["127.0.0.1", "::1"]],
    ["localhost", { "::1": "EADDRNOTAVAIL" }, "127.0.0.1", ["127.0.0.1"]],
    ["localhost", { "::1": "EAFNOSUPPORT" }, "127.0.0.1", ["127.0.0.1"]],
    ["0.0.0.0", {}, "every interface: [::], which takes IPv4 too", ["::"]],
    ["::", { "::": "EAFNOSUPPORT" }, "every interface: 0.0.0.0, with no IPv6 here", ["0.0.0.0"]],
    ["::1", {}, "[::1]", ["::1"]],
    ["10.0.0.1", {}, "10.0.0.1", ["10.0.0.1"]],
  ])("%s where %j fails", (host, failing, bound, expected) => {
    const { open, listen } = machine(failing);
    const { port, bound: said, listeners } = listenAt(host, 0, listen);
    expect([port, said, [...open], listeners.length]).toEqual([4000, bound, expected, expected.length]);
  });

  it("localhost has a port that is free at both addresses, when the system chooses it", () => {
    const open: string[] = [];
    let picked = 4000;
    const listen = (host: string, port: number) => {
      if (host === "::1" && port < 4003) throw failure("EADDRINUSE");
      const at = `${host} ${port === 0 ? ++picked : port}`;
      open.push(at);
      return { port: port === 0 ? picked : port, close: () => void open.splice(open.indexOf(at), 1) };
    };
    expect(listenAt("localhost", 0, listen).port).toBe(4003);
    expect(open).toEqual(["127.0.0.1 4003", "::1 4003"]);
  });

  it.each([
    ["localhost", { "::1": "EADDRINUSE" }, "EADDRINUSE"],
    ["localhost", { "127.0.0.1": "EACCES" }, "EACCES"],
    ["0.0.0.0", { "::": "EADDRINUSE" }, "EADDRINUSE"],
    ["::", { "::": "EAFNOSUPPORT", "0.0.0.0": "EADDRINUSE" }, "EADDRINUSE"],
  ])("%s where %j fails throws, and leaves nothing open", (host, failing, code) => {
    const { open, listen } = machine(failing);
    expect(() => listenAt(host, 0, listen)).toThrow(code);
    expect([...open]).toEqual([]);
  });
});
