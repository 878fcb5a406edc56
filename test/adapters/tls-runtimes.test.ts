/** HTTPS on Bun and on Deno, by their own listeners and by `usher-http/node`: what they keep of the option, and what they refuse. */
import { generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ServeOptions, TlsOptions } from "usher-http/node";
import { makeCertificate } from "../support/certificates.ts";
import { endsWithTest } from "../support/ends.ts";
import { http2Ask, http2Client } from "../support/http2-client.ts";
import { runtimes } from "../support/runtimes.ts";
import { secureAsk } from "../support/secure-client.ts";
import { SpawnedServer } from "../support/spawned/server.ts";
import { start as startBun } from "./bun/start.ts";
import { start as startDeno } from "./deno/start.ts";

const home = makeCertificate({ name: "localhost", hosts: ["localhost", "127.0.0.1"] });
const shop = makeCertificate({ name: "shop.example", hosts: ["shop.example"] });
const { cert, key } = home;
const tls: TlsOptions = { cert, key };
const names = { "shop.example": { cert: shop.cert, key: shop.key } };
const ca = [home.cert, shop.cert];
const emptyPem = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";
const pemOf = (privateKey: KeyObject): string => privateKey.export({ type: "pkcs8", format: "pem" }).toString();

const program = join(import.meta.dirname, "node/server.ts");
const nodeOn = (...command: [string, ...string[]]) => {
  return (options: ServeOptions) => SpawnedServer.start(command, program, options);
};
const denoFlags = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt", "--allow-all"];
const starts = {
  bun: startBun,
  deno: startDeno,
  "node on deno": nodeOn(runtimes.deno(), ...denoFlags),
  "node on bun": nodeOn(runtimes.bun()),
};

describe.each(["bun", "deno", "node on deno"] as const)("tls on %s", (name) => {
  const start = starts[name];

  it("answers, and knows that it is HTTPS", async () => {
    const server = await start({ tls });
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
    const answer = await secureAsk(server.port, "/in/cookie?value=x", { ca });
    expect(answer.headers["set-cookie"]).toEqual([expect.stringMatching(/; Secure\b/)]);
    expect(answer.shown).toBe("localhost");
    expect((await secureAsk(server.port, "/peer", { ca })).body).toBe("127.0.0.1 127.0.0.1");
  });

  it("takes a form of its own site, and none of another", async () => {
    const { port } = await start({ tls });
    const post = (origin: string) => secureAsk(port, "/unread", { ca, method: "POST", headers: { origin } });
    expect((await post(`https://127.0.0.1:${port}`)).status).toBe(200);
    expect((await post("https://other.example")).status).toBe(403);
  });
});

describe("tls on a runtime that keeps less of it", () => {
  it("shows the certificate of the name that a client asks for: Bun", async () => {
    const { port } = await startBun({ tls: { ...tls, names } });
    const shown = async (servername: string) => {
      return (await secureAsk(port, "/hello", { ca, servername, checkServerIdentity: () => undefined })).shown;
    };
    expect([await shown("shop.example"), await shown("other.example")]).toEqual(["shop.example", "localhost"]);
  });

  it.each<[keyof typeof starts, Partial<TlsOptions> | undefined, string]>([
    ["bun", { clientCertificates: { ca: home.cert } }, "serve: tls.clientCertificates is not kept on Bun"],
    ["deno", { clientCertificates: { ca: home.cert } }, "serve: tls.clientCertificates is not kept by Deno.serve"],
    ["deno", { names }, "serve: tls.names is not kept by Deno.serve"],
    ["deno", { passphrase: "x" }, "serve: tls.passphrase is not kept by Deno.serve"],
    ["node on bun", {}, "serve: tls is not kept by usher-http/node on Bun"],
  ])("%s says that it does not keep %o", async (name, more, sentence) => {
    await expect(starts[name]({ tls: { ...tls, ...more } })).rejects.toThrow(sentence);
  });

  const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  it.each(
    (["bun", "deno", "node on deno"] as const).flatMap(
      (name) =>
        [
          [name, "another certificate", { cert, key: shop.key }, "serve: tls.key does not belong to serve: tls.cert"],
          [
            name,
            "another kind",
            { cert, key: pemOf(rsa) },
            "tls.cert: the key is of the kind rsa, and the certificate of ec",
          ],
          [name, "no certificate", { cert: emptyPem, key }, "serve: tls.cert cannot be used: it is not a certificate"],
          [name, "the second certificate", { cert: shop.cert + cert, key }, "which is number 2 of it"],
        ] as const,
    ),
  )("%s does not start with a key of %s", async (name, _what, wrong, sentence) => {
    await expect(starts[name]({ tls: wrong })).rejects.toThrow(sentence);
  });

  it.each(["bun", "deno", "node on deno"] as const)(
    "says that its port is taken, and not of its key: %s",
    async (name) => {
      const taken = createServer().listen(0, "127.0.0.1");
      await once(taken, "listening");
      endsWithTest(() => void taken.close());
      const { port } = taken.address() as AddressInfo;
      const sentence = `serve: port ${port} of 127.0.0.1 is taken`;
      await expect(starts[name]({ tls, port })).rejects.toThrow(sentence);
    },
  );

  it.each<[keyof typeof starts, string]>([
    ["bun", "serve: http2 is not kept by usher-http/bun, which speaks HTTP/1.1 only: leave it out"],
    ["node on bun", "serve: http2 is kept by usher-http/node on Node alone: leave it out"],
    ["node on deno", "serve: http2 is kept by usher-http/node on Node alone: leave it out"],
  ])("%s says that it has no HTTP/2", async (name, sentence) => {
    await expect(starts[name]({ http2: true })).rejects.toThrow(sentence);
  });

  it("speaks HTTP/2 where the runtime does so by itself: Deno", async () => {
    const { url, port } = await startDeno({ tls });
    const session = await http2Client(url, { ca });
    const post = (origin: string) => http2Ask(session, { ":method": "POST", ":path": "/unread", origin });
    expect((await post(`https://127.0.0.1:${port}`)).body).toBe("not read");
    expect((await post("https://other.example")).status).toBe(403);
  });
});
