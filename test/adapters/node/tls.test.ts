/** HTTPS on Node: requests, certificates, and each wait for a client before there is a request. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { Codec, Cookie, Path, Returns, get, request, setCookie } from "usher-http";
import type { TlsOptions } from "usher-http/node";
import { makeCertificate } from "../../support/certificates.ts";
import type { TestCertificate } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { gate } from "../../support/gate.ts";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { secureAsk, secureSocket, untilEnd } from "../../support/secure-client.ts";

const authority = makeCertificate({ name: "Test authority", isAuthority: true });
const of = (name: string, hosts = [name]) => makeCertificate({ name, hosts, issuer: authority });
const home = of("localhost", ["localhost", "127.0.0.1"]);
const shop = of("shop.example");
const every = of("every.example", ["*.every.example"]);
const ca = authority.cert;
const tls: TlsOptions = { cert: home.cert, key: home.key };

const seen = Cookie.named("seen", Codec.int);
const hello = get(
  Path.of("hello"),
  { inputs: { request, setCookie }, returns: Returns.text },
  ({ request, setCookie }) => {
    setCookie(Cookie.make(seen, 1));
    return `secure ${request.secure}, host ${request.host?.replace(/\d+$/, "port")}`;
  },
);

/** A route that answers when `held` is open. */
function lateRoute() {
  const [reached, held] = [gate(), gate()];
  const late = get(Path.of("late"), { returns: Returns.text }, async () => {
    reached.open();
    await held.passed;
    return "late";
  });
  return { late, reached, held };
}

describe("tls: HTTPS", () => {
  it("answers, has `secure` true, and sets Secure cookies", async () => {
    const server = await start([hello], { tls });
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
    const answer = await secureAsk(server.port, "/hello", { ca });
    expect(answer.body).toBe("secure true, host 127.0.0.1:port");
    expect(answer.headers["set-cookie"]).toEqual([expect.stringMatching(/; Secure\b/)]);
    expect(answer.shown).toBe("localhost");
  });

  it("keeps a connection for the next request, and closes it when the server stops", async () => {
    const server = await start([hello], { tls });
    const socket = await secureSocket(server.port, { ca });
    for (let i = 0; i < 2; i++) {
      socket.write("GET /hello HTTP/1.1\r\nhost: h\r\n\r\n");
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200 OK/);
    }
    const ended = untilEnd(socket);
    expect(await server.stop()).toBe(0);
    expect(await ended).toBe("");
  });

  it("answers a request in flight when the server stops", async () => {
    const { late, reached, held } = lateRoute();
    const server = await start([late], { tls, drainMs: 60_000 });
    const answer = secureAsk(server.port, "/late", { ca });
    await reached.passed;
    const stopped = server.stop();
    // The code that ends the handshakes has run by then.
    await eventually(async () =>
      expect(await secureAsk(server.port, "/late", { ca }).catch(() => "refused")).toBe("refused"),
    );
    held.open();
    expect((await answer).body).toBe("late");
    expect(await stopped).toBe(0);
  });

  it("sends the response to a client that has half-closed", async () => {
    const { late, reached, held } = lateRoute();
    const { port } = await start([late], { tls });
    const socket = await secureSocket(port, { ca, allowHalfOpen: true } as object);
    const text = untilEnd(socket);
    socket.end("GET /late HTTP/1.1\r\nhost: h\r\n\r\n");
    await reached.passed;
    await new Promise((resolve) => setTimeout(resolve, 20));
    held.open();
    expect(await text).toMatch(/^HTTP\/1\.1 200 OK[^]*late$/);
  });

  it("refuses an invalid head, as it does without TLS", async () => {
    const { port } = await start([hello], { tls });
    const socket = await secureSocket(port, { ca });
    socket.write("nonsense\r\n\r\n");
    expect(await untilEnd(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request/);
  });

  it("ignores an upgrade that no route accepts", async () => {
    const { port } = await start([hello, get(Path.of("raw"), { returns: Returns.response }, () => never())], { tls });
    const socket = await secureSocket(port, { ca });
    socket.write("GET /hello HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});

function never(): never {
  throw new Error("this route is not asked");
}

describe("tls: certificates", () => {
  const names = { "shop.example": shop, "*.every.example": every };

  it.each([
    ["shop.example", "shop.example"],
    ["SHOP.example", "shop.example"],
    ["a.every.example", "every.example"],
    ["a.b.every.example", "localhost"],
    ["every.example", "localhost"],
    ["other.example", "localhost"],
  ])("of a client that asks for %s: %s", async (servername, shown) => {
    const { port } = await start([hello], { tls: { ...tls, names: onlyPem(names) } });
    const answer = await secureAsk(port, "/hello", { ca, servername, checkServerIdentity: () => undefined });
    expect(answer.shown).toBe(shown);
  });

  it("can be replaced for new connections, and an invalid replacement leaves the old ones in use", async () => {
    const server = await start([hello], { tls: { ...tls, names: onlyPem({ "shop.example": shop }) } });
    const asked = async (servername?: string) => {
      const options = { ca, checkServerIdentity: () => undefined, ...(servername === undefined ? {} : { servername }) };
      return (await secureAsk(server.port, "/hello", options)).shown;
    };
    const kept = await secureSocket(server.port, { ca });
    server.replaceCertificates(onlyPem({ every }).every);
    expect([await asked(), await asked("shop.example")]).toEqual(["every.example", "every.example"]);
    kept.write("GET /hello HTTP/1.1\r\nhost: h\r\n\r\n");
    expect(String((await once(kept, "data"))[0])).toMatch(/^HTTP\/1\.1 200 OK/);

    expect(() => server.replaceCertificates({ cert: home.cert, key: shop.key })).toThrow(
      "replaceCertificates.key does not belong to replaceCertificates.cert",
    );
    const wrongName = { ...tls, names: { "shop.example": { cert: home.cert, key: shop.key } } };
    expect(() => server.replaceCertificates(wrongName)).toThrow(
      'replaceCertificates.names["shop.example"].key does not belong to replaceCertificates.names["shop.example"].cert',
    );
    expect(await asked()).toBe("every.example");
  });

  it("cannot be replaced on a server without TLS", async () => {
    const server = await start([hello]);
    expect(() => server.replaceCertificates(tls)).toThrow("replaceCertificates: the server has no option tls");
  });
});

function onlyPem<Name extends string>(certificates: { readonly [N in Name]: TlsOptions }): { [N in Name]: TlsOptions } {
  const entries = Object.entries<TlsOptions>(certificates).map(([name, { cert, key }]) => [name, { cert, key }]);
  return Object.fromEntries(entries) as { [N in Name]: TlsOptions };
}

describe("tls: client certificates", () => {
  const member = makeCertificate({ name: "a member", issuer: authority });
  const stranger = makeCertificate({ name: "a stranger" });
  const expired = makeCertificate({ name: "a former member", issuer: authority, days: -0.5 });
  const names = onlyPem({ "shop.example": shop });
  const asks = { ...tls, names, clientCertificates: { ca } };
  const shows = (client: TestCertificate) => ({ cert: client.cert, key: client.key });

  it.each([undefined, "shop.example"])("of the authority are accepted, with the server name %s", async (servername) => {
    const { port } = await start([hello], { tls: asks });
    const more = servername === undefined ? {} : { servername };
    expect((await secureAsk(port, "/hello", { ca, ...shows(member), ...more })).status).toBe(200);
  });

  it.each([
    ["without one", {}],
    ["without one, by name", { servername: "shop.example" }],
    ["with one of its own", shows(stranger)],
    ["with one that has ended", shows(expired)],
  ])("keep a client out %s", async (_how, client) => {
    const { port } = await start([hello], { tls: asks });
    await expect(secureAsk(port, "/hello", { ca, ...client })).rejects.toThrow(/ECONNRESET|alert|socket hang up/);
  });

  it("are optional if the option says so", async () => {
    const { port } = await start([hello], { tls: { ...tls, clientCertificates: { ca, required: false } } });
    expect((await secureAsk(port, "/hello", { ca })).status).toBe(200);
    expect((await secureAsk(port, "/hello", { ca, ...shows(stranger) })).status).toBe(200);
  });
});

describe("tls: invalid options", () => {
  it.each([
    [null, "serve: tls is null, and not an object"],
    [{}, "serve: tls.cert is undefined, and not the text or the bytes of a PEM file"],
    [
      { cert: "/etc/tls/cert.pem" },
      'serve: tls.cert has no PEM block "CERTIFICATE": give the content of the file, and',
    ],
    [{ cert: home.cert }, "serve: tls.key is undefined, and not"],
    [{ cert: home.cert, key: home.cert }, 'serve: tls.key has no PEM block "PRIVATE KEY"'],
    [{ cert: home.cert, key: shop.key }, "serve: tls.key does not belong to serve: tls.cert"],
    [{ ...tls, certs: [] }, "serve: tls: certs is none of its options: write cert"],
    [{ ...tls, passphrase: 7 }, "serve: tls.passphrase is a number, and not a text"],
    [{ ...tls, names: [] }, "serve: tls.names is a list, and not an object"],
    [{ ...tls, names: { "Shop.example": tls } }, 'serve: tls.names["Shop.example"] is a string, and not of a server'],
    [{ ...tls, names: { "shop.example": {} } }, 'serve: tls.names["shop.example"].cert is undefined'],
    [
      { ...tls, names: { "a.example": { cert: home.cert, key: shop.key } } },
      'serve: tls.names["a.example"].key does not belong',
    ],
    [{ ...tls, clientCertificates: true }, "serve: tls.clientCertificates is a boolean, and not an object"],
    [{ ...tls, clientCertificates: {} }, "serve: tls.clientCertificates.ca is undefined"],
    [
      { ...tls, clientCertificates: { ca, require: true } },
      "serve: tls.clientCertificates: require is none of its options: write required",
    ],
    [{ ...tls, clientCertificates: { ca, required: "no" } }, "serve: tls.clientCertificates.required is a string"],
  ])("%#: %s", async (wrong, sentence) => {
    await expect(start([hello], { tls: wrong as never })).rejects.toThrow(sentence);
  });

  it.each([
    [undefined, "replaceCertificates is undefined, and not an object"],
    [{}, "replaceCertificates.cert is undefined, and not the text or the bytes of a PEM file"],
    [{ cert: home.cert, key: 7 }, "replaceCertificates.key is a number, and not the text"],
    [{ cert: home.cert, key: home.cert }, 'replaceCertificates.key has no PEM block "PRIVATE KEY"'],
    [{ ...tls, passphrase: 7 }, "replaceCertificates.passphrase is a number, and not a text"],
    [{ ...tls, names: "shop.example" }, "replaceCertificates.names is a string, and not an object"],
    [{ ...tls, names: { "shop.example": 7 } }, 'replaceCertificates.names["shop.example"] is a number'],
    [{ ...tls, certs: [] }, "replaceCertificates: certs is none of its options: write cert"],
    [
      { ...tls, clientCertificates: { ca } },
      "replaceCertificates: clientCertificates is none of its options: cert, key, passphrase, names",
    ],
  ])("in a replacement, %#: %s", async (wrong, sentence) => {
    const server = await start([hello], { tls });
    expect(() => server.replaceCertificates(wrong as never)).toThrow(sentence);
    expect((await secureAsk(server.port, "/hello", { ca })).status).toBe(200);
  });

  it("are reported without the key", async () => {
    const broken = { cert: home.cert, key: home.key.replace(/[A-Z]{2}/, "!!") };
    const error = await start([hello], { tls: broken }).catch((thrown: unknown) => String(thrown));
    for (const line of home.key.split("\n").slice(1, -2)) expect(error).not.toContain(line.slice(4, 20));
  });
});

describe("tls: before there is a request", () => {
  it("limits a handshake by the time of a head, and logs how many failed", async () => {
    const { port } = await start([hello], { tls, headTimeoutMs: 50 });
    const silent = connect(port, "127.0.0.1").on("error", () => {});
    await once(silent, "close");
    expect(messages("info")).toContain("TLS handshakes that failed: 1");
    // A busy machine may take longer for a handshake, too.
    await eventually(async () => expect((await secureAsk(port, "/hello", { ca })).status).toBe(200));
  });

  it("the server survives a client without TLS", async () => {
    const { port } = await start([hello], { tls });
    const plain = connect(port, "127.0.0.1").on("error", () => {});
    plain.end("GET /hello HTTP/1.1\r\nhost: h\r\n\r\n");
    await once(plain.resume(), "close");
    expect((await secureAsk(port, "/hello", { ca })).status).toBe(200);
  });

  it("connections count whose handshake is not complete", async () => {
    const { port } = await start([hello], { tls, maxConnections: 1, headTimeoutMs: 600_000 });
    const silent = connect(port, "127.0.0.1").on("error", () => {});
    await once(silent, "connect");
    await expect(secureAsk(port, "/hello", { ca })).rejects.toThrow(/ECONNRESET|socket|disconnected/);
    // Noticed at once, and not by the time limit of a handshake.
    silent.destroy();
    await eventually(async () => expect((await secureAsk(port, "/hello", { ca })).status).toBe(200));
  });

  it("a handshake does not delay a stop", async () => {
    const server = await start([hello], { tls, drainMs: 60_000 });
    const silent = connect(server.port, "127.0.0.1").on("error", () => {});
    await once(silent, "connect");
    const ended = once(silent.resume(), "close");
    expect(await server.stop()).toBe(0);
    await ended;
  });

  it("failed handshakes are not logged after the stop", async () => {
    const server = await start([hello], { tls });
    const set = vi.spyOn(globalThis, "setTimeout");
    const cleared = vi.spyOn(globalThis, "clearTimeout");
    const plain = connect(server.port, "127.0.0.1").on("error", () => {});
    plain.end("GET /hello HTTP/1.1\r\n\r\n");
    await once(plain.resume(), "close");
    await eventually(() => expect(messages("info")).toContain("TLS handshakes that failed: 1"));
    const timers = set.mock.calls.flatMap(([, ms], i) => (ms === 60_000 ? [set.mock.results[i]?.value] : []));
    await server.stop();
    expect(cleared.mock.calls.flat()).toEqual(expect.arrayContaining(timers));
    expect(timers.length).toBeGreaterThan(0);
    vi.restoreAllMocks();
  });

  it("a connection without a request is closed after idleTimeoutMs", async () => {
    const { port } = await start([hello], { tls, idleTimeoutMs: 50 });
    expect(await untilEnd(await secureSocket(port, { ca }))).toBe("");
  });
});
