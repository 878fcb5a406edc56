/** The input `peerCertificate`: a client's certificate in a handler, over both versions of HTTP. */
import { X509Certificate } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { App, Dep, Path, Proxies, Returns, Test, get, peerCertificate } from "usher-http";
import type { PeerCertificate } from "usher-http";
import { serve as serveOnBun } from "usher-http/bun";
import { serve as serveOnDeno } from "usher-http/deno";
import { listener } from "usher-http/node";
import { worker } from "usher-http/workers";
import { makeCertificate } from "../../support/certificates.ts";
import type { TestCertificate } from "../../support/certificates.ts";
import { endsWithTest } from "../../support/ends.ts";
import { http2Ask, http2Client } from "../../support/http2-client.ts";
import { start } from "../../support/node-server.ts";
import { secureAsk, secureSocket, untilEnd } from "../../support/secure-client.ts";

const authority = makeCertificate({ name: "Test authority", isAuthority: true });
const home = makeCertificate({ name: "localhost", hosts: ["localhost", "127.0.0.1"], issuer: authority });
const member = makeCertificate({ name: "a member", issuer: authority });
const stranger = makeCertificate({ name: "a stranger" });
const ca = authority.cert;
const tls = { cert: home.cert, key: home.key, clientCertificates: { ca, required: false } };

const said: (PeerCertificate | undefined)[] = [];
const who = get(Path.of("who"), { inputs: { peerCertificate }, returns: Returns.text }, ({ peerCertificate }) => {
  said.push(peerCertificate);
  return peerCertificate === undefined ? "none" : `${peerCertificate.commonName}, ${peerCertificate.authorized}`;
});
const shows = ({ cert, key }: TestCertificate) => ({ cert, key });

describe("peerCertificate", () => {
  it.each([
    ["of the authority", shows(member), "a member, true"],
    ["of another", shows(stranger), "a stranger, false"],
    ["that is none", {}, "none"],
  ])("%s, over HTTP/1.1 and HTTP/2", async (_what, client, body) => {
    const { url, port } = await start([who], { tls, http2: true });
    expect((await secureAsk(port, "/who", { ca, ...client })).body).toBe(body);
    const session = await http2Client(url, { ca, ...client });
    for (let i = 0; i < 2; i++) expect((await http2Ask(session, { ":path": "/who" })).body).toBe(body);
    // It is read once for a connection.
    expect(said.at(-1)).toBe(said.at(-2));
  });

  it("has the fields of the certificate", async () => {
    const { port } = await start([who], { tls: { ...tls, clientCertificates: { ca } } });
    await secureAsk(port, "/who", { ca, ...shows(member) });
    const x509 = new X509Certificate(member.cert);
    expect(said.at(-1)).toEqual({
      authorized: true,
      commonName: "a member",
      subject: "CN=a member",
      issuer: "CN=Test authority",
      serialNumber: x509.serialNumber,
      fingerprint256: x509.fingerprint256,
      validFrom: new Date(x509.validFrom),
      validTo: new Date(x509.validTo),
      der: new Uint8Array(x509.raw),
    });
  });

  it.each(["x,CN=admin", "x\nCN=admin", "x + CN=admin", "x+CN=admin", 'ü "<;>\\', "#admin", " a ", "\\2CCN=admin"])(
    "is not deceived by the name %j",
    async (name) => {
      const { port } = await start([who], { tls });
      const odd = makeCertificate({ name, issuer: authority });
      await secureAsk(port, "/who", { ca, ...shows(odd) });
      expect(said.at(-1)).toMatchObject({ authorized: true, commonName: name });
    },
  );

  it.each([["clientCertificates", { cert: home.cert, key: home.key }] as const, ["tls", undefined] as const])(
    "is undefined on a server without %s",
    async (_without, tls) => {
      const server = await start([who], tls === undefined ? {} : { tls });
      const body =
        tls === undefined
          ? await (await fetch(`${server.url}/who`)).text()
          : (await secureAsk(server.port, "/who", { ca, ...shows(member) })).body;
      expect(body).toBe("none");
    },
  );

  it("is read from the server in which the app is mounted", async () => {
    const options = { cert: home.cert, key: home.key, ca, requestCert: true };
    const server = createServer(options, listener(App.make([who]))).listen(0, "127.0.0.1");
    endsWithTest(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    expect((await secureAsk(port, "/who", { ca, ...shows(member) })).body).toBe("a member, true");
  });

  it("is not read from headers", async () => {
    const { port } = await start([who], { tls, trustedProxies: Proxies.make(["127.0.0.1"]) });
    const headers = { "x-client-cert": member.cert.replaceAll("\n", " "), "ssl-client-verify": "SUCCESS" };
    expect((await secureAsk(port, "/who", { ca, headers })).body).toBe("none");
  });

  it("can be set in a test", async () => {
    const app = Test.app([who]);
    await Test.call(app, "GET", "/who");
    expect(said.at(-1)).toBeUndefined();
    const given = { commonName: "orders", authorized: true } as PeerCertificate;
    await Test.call(app, "GET", "/who", { peerCertificate: given });
    expect(said.at(-1)).toBe(given);
  });
});

describe("peerCertificate on other runtimes", () => {
  it.each([
    ["Bun.serve", serveOnBun, "GET /who: the input peerCertificate is not given by Bun.serve: serve with"],
    ["Deno.serve", serveOnDeno, "GET /who: the input peerCertificate is not given by Deno.serve: serve with"],
  ])("is refused when the server starts: %s", async (_name, serve, sentence) => {
    await expect(serve([who])).rejects.toThrow(sentence);
    const within = Dep.map(peerCertificate, (certificate) => certificate?.authorized);
    const route = get(Path.of("who"), { inputs: { within }, returns: Returns.text }, () => "");
    await expect(serve([route])).rejects.toThrow(sentence);
  });

  const presented = {
    certPresented: "1",
    certVerified: "SUCCESS",
    certRevoked: "0",
    certSubjectDNRFC2253: "CN=a\\C3\\BC\\, b,O=Shop",
    certIssuerDNRFC2253: "CN=Test authority",
    certSerial: "0f1e",
    certFingerprintSHA256: "b40a",
    certNotBefore: "Dec 22 19:39:00 2018 GMT",
    certNotAfter: "Dec 22 19:39:00 2028 GMT",
  };
  it("is undefined in a Worker that is not behind Cloudflare", async () => {
    const request = Object.assign(new Request("https://h/who"), { cf: { tlsClientAuth: presented } });
    await worker([who]).fetch(request, {}, { waitUntil: () => {} });
    expect(said.at(-1)).toBeUndefined();
  });

  it.each<[what: string, cf: object | undefined, expected: object | undefined]>([
    ["without one", undefined, undefined],
    ["with none shown", { tlsClientAuth: { certPresented: "0", certVerified: "NONE" } }, undefined],
    ["that is verified", { tlsClientAuth: presented }, { authorized: true }],
    ["that is not", { tlsClientAuth: { ...presented, certVerified: "FAILED:expired" } }, { authorized: false }],
    ["that is revoked", { tlsClientAuth: { ...presented, certRevoked: "1" } }, { authorized: false }],
  ])("is Cloudflare's certificate in a Worker: %s", async (_what, cf, expected) => {
    const request = Object.assign(new Request("https://h/who"), { cf });
    await worker([who], { behindCloudflare: true }).fetch(request, {}, { waitUntil: () => {} });
    if (expected === undefined) return expect(said.at(-1)).toBeUndefined();
    expect(said.at(-1)).toEqual({
      commonName: "a\u00fc, b",
      subject: presented.certSubjectDNRFC2253,
      issuer: "CN=Test authority",
      serialNumber: "0F1E",
      fingerprint256: "B4:0A",
      validFrom: new Date(Date.UTC(2018, 11, 22, 19, 39)),
      validTo: new Date(Date.UTC(2028, 11, 22, 19, 39)),
      der: undefined,
      ...expected,
    });
  });
});

describe("a TLS connection", () => {
  it("is closed when its client wants to renegotiate: it could show another certificate", async () => {
    const { port } = await start([who], { tls });
    const socket = await secureSocket(port, { ca, maxVersion: "TLSv1.2", ...shows(member) });
    const ended = untilEnd(socket);
    socket.renegotiate({}, () => {});
    expect(await ended).toMatch(/^(?:HTTP\/1\.1 400 |$)/);
  });
});
