/** Random frames of HTTP/2 against `usher-http/node`, on each Node: no sequence may end the process or keep anything. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../support/certificates.ts";
import { runtimes } from "../support/runtimes.ts";
import { rounds, rows } from "../support/wide.ts";
import { Http2Server } from "./http2/round.ts";
import { script } from "./http2/script.ts";

/** As those of `survival.ts` are; with `USHER_FUZZ_MINUTES` a run ends after that time, whatever its rounds. */
const count = Number(process.env["USHER_FUZZ_ROUNDS"] ?? rounds(150));
const seed = Number(process.env["USHER_FUZZ_SEED"] ?? 1);
/** In bytes. The program itself uses about 15 MB. */
const mostHeap = 64_000_000;
const minutes = Number(process.env["USHER_FUZZ_MINUTES"] ?? 60);

type Tried = "node-oldest" | "node-22" | "node-24" | "node-newest";
const nodes = rows<Tried>(["node-22", "node-newest"], ["node-oldest", "node-24"]);
const certificate = makeCertificate({ name: "localhost", hosts: ["localhost"] });

describe.each(nodes)("%s under random frames of HTTP/2", { timeout: 300_000 + count * 10_000 }, (node) => {
  it(`lives through ${count} scripts, and holds nothing afterwards`, async () => {
    const played = { scripts: 0, connections: 0, requests: 0 };
    let server: Http2Server | undefined;
    try {
      await fc.assert(
        fc.asyncProperty(script, async (script) => {
          server ??= await Http2Server.start(runtimes[node](), certificate, played);
          try {
            await server.survives(script);
          } catch (error) {
            // The next script, which is a smaller one of this where fast-check shrinks, has a server of its own.
            const failed = server;
            server = undefined;
            await failed.end();
            throw new Error(`${(error as Error).message}\n${failed.lastWords}`, { cause: error });
          }
        }),
        { seed, numRuns: count, interruptAfterTimeLimit: minutes * 60_000 },
      );
      expect(played.scripts).toBeGreaterThan(0);
      // Thousands of connections that were kept would need more.
      expect(await server?.heap()).toBeLessThan(mostHeap);
    } finally {
      await server?.end();
      if (process.env["USHER_FUZZ_ROUNDS"] !== undefined) console.log(node, JSON.stringify(played));
    }
  });
});
