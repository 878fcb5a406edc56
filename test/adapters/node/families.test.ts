/** Machines that have only IPv4 or only IPv6, and those that fail for another reason. Node's own `listen` reports which. */
import { Server as Listening } from "node:net";
import type { ListenOptions } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Path, Returns, get } from "usher-http";
import { serve } from "usher-http/node";
import { messages } from "../../support/logs.ts";
import { active } from "../../support/memory.ts";
import { eventually } from "../../support/eventually.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");
afterEach(() => void vi.restoreAllMocks());

/** Makes the system refuse every IPv6 address with an error. */
function refuseIpv6(code: string): void {
  const { listen } = Listening.prototype;
  vi.spyOn(Listening.prototype, "listen").mockImplementation(function (this: Listening, ...given: unknown[]) {
    const { host } = given[0] as ListenOptions;
    if (host?.includes(":") !== true) return Reflect.apply(listen, this, given) as Listening;
    setImmediate(() => this.emit("error", Object.assign(new Error(`listen ${code}`), { code })));
    return this;
  });
}

const hosts = [
  ["localhost", "(127.0.0.1)"],
  ["::", "(every interface: 0.0.0.0, with no IPv6 here)"],
  ["0.0.0.0", "(every interface: 0.0.0.0, with no IPv6 here)"],
] as const;

describe.each(["EADDRNOTAVAIL", "EAFNOSUPPORT"])("on a machine whose IPv6 is %s", (code) => {
  it.each(hosts)("%s is served on the addresses that exist", async (host, said) => {
    refuseIpv6(code);
    // And again on the same port, which the first server released.
    let port = 0;
    for (let round = 0; round < 2; round++) {
      const server = await start([hello], { host, port });
      port = server.port;
      expect((await (await RawClient.to(port)).ask("GET /hello").answer()).body).toBe("hi");
      expect(messages("info").at(-2)).toBe(`listening on ${server.url} ${said}`);
      expect(await server.stop()).toBe(0);
    }
  });
});

describe.each(["EACCES", "EADDRINUSE", "EMFILE"])("on a machine that refuses IPv6 with %s", (code) => {
  it.each(hosts)("%s is not served, and nothing stays open", async (host) => {
    const open = active("TCPServerWrap");
    const signals = process.listenerCount("SIGTERM");
    refuseIpv6(code);
    await expect(serve([hello], { host, port: 0 })).rejects.toMatchObject({ code });
    await eventually(() => expect(active("TCPServerWrap")).toBeLessThanOrEqual(open));
    expect(process.listenerCount("SIGTERM")).toBe(signals);
    expect(messages("info")).toEqual([]);
  });
});
