/** The keys of an issuer: how often they are fetched, and invalid responses. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { App, Path, Returns, get } from "usher-http";
import { Jwt } from "usher-http/jwt";
import type { JwksOptions } from "usher-http/jwt";
import { serverOfFile } from "../../support/http-server.ts";
import { messages } from "../../support/logs.ts";
import { asking, forged, claims, now, options, pairOf, seconds, signed } from "./tokens.ts";
import type { Pair } from "./tokens.ts";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const json =
  (body: unknown): Answer =>
  (response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));

/** The responses of the issuer, and the number of requests to it. */
let answer: Answer;
let asked = 0;
let first: Pair;
let second: Pair;
const issuer = await serverOfFile((request, response) => {
  asked++;
  answer(response, request);
});
const url = `${issuer.url}/jwks.json`;

beforeAll(async () => {
  [first, second] = await Promise.all([pairOf("ES256", "first"), pairOf("ES256", "second")]);
});
beforeEach(() => {
  asked = 0;
  answer = json({ keys: [first.jwk] });
});

const minute = 60_000;
const at = (ms: number): Date => new Date(now.getTime() + ms);

/** Sends a request as a client with a token of its own; returns the status. */
function client(more: JwksOptions = {}) {
  const user = Jwt.bearer({ ...options, keys: Jwt.jwks(url, more), algorithms: ["ES256", "RS256"] });
  const ask = asking(user);
  const tokenOf = (pair: Pair, kid?: string) =>
    signed(pair.privateKey, { alg: "ES256", ...(kid === undefined ? {} : { kid }) }, { exp: seconds + 1_000_000 });
  return async (pair: Pair, kid = pair.jwk.kid, ms = 0): Promise<number> =>
    (await ask(await tokenOf(pair, kid), at(ms)))[0];
}

describe("the keys of an issuer", () => {
  it("are fetched once for many requests, at once or after each other", async () => {
    const ask = client();
    expect(await Promise.all(Array.from({ length: 20 }, () => ask(first)))).toEqual(Array(20).fill(200));
    expect(await ask(first)).toBe(200);
    expect(asked).toBe(1);
  });

  it("are fetched again for an unknown kid, at most once in refreshMs", async () => {
    const ask = client();
    expect(await ask(first)).toBe(200);
    expect(await ask(second)).toBe(401);
    expect(asked).toBe(1);
    answer = json({ keys: [first.jwk, second.jwk] });
    expect(await Promise.all(Array.from({ length: 20 }, () => ask(second, "second", 30_000)))).toEqual(
      Array(20).fill(200),
    );
    expect(asked).toBe(2);
  });

  it("are not fetched for each token of a flood of kids", async () => {
    const ask = client();
    const flood = (ms: number) => Promise.all(Array.from({ length: 200 }, (_, i) => ask(first, `kid ${ms} ${i}`, ms)));
    for (const ms of [0, 1000, 29_999]) expect(new Set(await flood(ms))).toEqual(new Set([401]));
    expect(asked).toBe(1);
    await flood(30_000);
    expect(asked).toBe(2);
  });

  it("are refreshed when they are old, while no request waits", async () => {
    // `Test.call` waits for the tasks after the answer.
    vi.useFakeTimers({ toFake: ["Date"], now });
    const user = Jwt.bearer({ ...options, keys: Jwt.jwks(url, { maxAgeMs: minute }), algorithms: ["ES256"] });
    const app = App.make([get(Path.root, { inputs: { user }, returns: Returns.text }, () => "in")]);
    const ask = async ({ privateKey, jwk }: Pair) => {
      const token = await signed(privateKey, { alg: "ES256", kid: jwk.kid ?? "" }, { exp: seconds + 1000 });
      const headers = { authorization: `Bearer ${token}` };
      return (await app.fetch(new Request("http://localhost/", { headers }))).status;
    };
    try {
      expect(await ask(first)).toBe(200);
      let release = (): void => {};
      const fetching = new Promise<void>((resolve) => {
        answer = (response, request) => {
          release = () => json({ keys: [second.jwk] })(response, request);
          resolve();
        };
      });
      vi.setSystemTime(at(minute));
      // The response arrives while the issuer sends no keys.
      expect(await ask(first)).toBe(200);
      await fetching;
      expect(await ask(first)).toBe(200);
      release();
      // The key is no longer among them: its tokens are no longer valid, though they were cached.
      await expect.poll(() => ask(first)).toBe(401);
      expect(await ask(second)).toBe(200);
      expect(asked).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the keys of an issuer, for concurrent requests", () => {
  it("are fetched at once for an unknown key, although they are old and about to be refreshed anyway", async () => {
    const ask = client();
    expect(await ask(first)).toBe(200);
    answer = json({ keys: [second.jwk] });
    expect(await ask(second, "second", 10 * minute)).toBe(200);
    expect(asked).toBe(2);
  });

  it("are kept for a request that arrived a moment before them, and had to wait", async () => {
    const ask = client();
    expect(await ask(first, "first", 1000)).toBe(200);
    answer = (response) => void response.writeHead(500).end();
    expect(await ask(first, "first", 999)).toBe(200);
    expect(asked).toBe(1);
  });

  it("are the newer ones, also when a request still verifies with the older ones", async () => {
    const ask = client();
    const verify = crypto.subtle.verify.bind(crypto.subtle);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const spy = vi.spyOn(crypto.subtle, "verify").mockImplementationOnce(async (...given) => {
      await held;
      return verify(...given);
    });
    try {
      const slow = ask(first);
      await expect.poll(() => spy.mock.calls.length).toBe(1);
      answer = json({ keys: [second.jwk] });
      for (let i = 0; i < 2; i++) expect(await ask(second, "second", 30_000)).toBe(200);
      release();
      expect(await slow).toBe(200);
      // The issuer has withdrawn that key.
      expect(await ask(first, "first", 30_001)).toBe(401);
    } finally {
      spy.mockRestore();
    }
  });
});

describe("the keys of an issuer that is unreachable", () => {
  it("are not enough to refuse a token with a newer key: it may be valid", async () => {
    const ask = client();
    expect(await ask(first)).toBe(200);
    answer = (response) => void response.writeHead(500).end();
    expect(await ask(second, "second", 30_000)).toBe(503);
    // The issuer is not contacted each time.
    expect(await ask(second, "second", 30_999)).toBe(503);
    expect(await ask(first, "first", 30_999)).toBe(200);
    answer = json({ keys: [first.jwk] });
    expect(await ask(second, "second", 31_000)).toBe(401);
    expect(asked).toBe(3);
  });

  it("are used for a limited time", async () => {
    const ask = client({ maxAgeMs: minute, staleMs: 10 * minute });
    expect(await ask(first)).toBe(200);
    answer = (response) => void response.writeHead(500).end();
    for (const ms of [2 * minute, 4 * minute, 11 * minute - 1]) expect(await ask(first, "first", ms)).toBe(200);
    await expect.poll(() => asked).toBe(4);
    expect(await ask(first, "first", 11 * minute + 30_000)).toBe(503);
    answer = json({ keys: [first.jwk] });
    expect(await ask(first, "first", 13 * minute)).toBe(200);
    expect(
      messages("warn").filter((line) => String(line).includes("could not be fetched: the answer has the status 500")),
    ).toHaveLength(4);
  });

  it("are fetched again soon after a failure, and then less often", async () => {
    const ask = client({ refreshMs: 5000 });
    answer = (response) => void response.writeHead(500).end();
    const times: number[] = [];
    for (let ms = 0; ms <= 20_000; ms += 500) {
      const before = asked;
      expect(await ask(first, "first", ms)).toBe(503);
      if (asked > before) times.push(ms);
    }
    expect(times).toEqual([0, 1000, 3000, 7000, 12_000, 17_000]);
    answer = json({ keys: [first.jwk] });
    expect(await ask(first, "first", 22_000)).toBe(200);
  });

  it.each([
    ["in seconds", "60", 60_000],
    ["as a date", at(60_000).toUTCString(), 60_000],
    ["that is too long", "31536000", 300_000],
    ["that has passed", at(-60_000).toUTCString(), 1000],
    ["that is wrong", "-1", 1000],
  ])("are not fetched before the time of a Retry-After %s", async (_what, after, ms) => {
    const ask = client();
    answer = (response) => void response.writeHead(429, { "retry-after": after }).end();
    expect(await ask(first)).toBe(503);
    const least = ms - (after.endsWith("GMT") ? 1000 : 1);
    for (const soon of [1, 500, least]) expect(await ask(first, "first", soon)).toBe(503);
    expect(asked).toBe(1);
    answer = json({ keys: [first.jwk] });
    expect([await ask(first, "first", ms), asked]).toEqual([200, 2]);
  });

  it("are fetched as rarely as before, after a success", async () => {
    const ask = client({ refreshMs: 5000 });
    answer = (response) => void response.writeHead(500).end();
    expect(await ask(first)).toBe(503);
    answer = json({ keys: [first.jwk] });
    expect(await ask(first, "first", 1000)).toBe(200);
    for (const ms of [2000, 3000, 5999]) expect(await ask(second, "second", ms)).toBe(401);
    expect(asked).toBe(2);
    expect(await ask(second, "second", 6000)).toBe(401);
    expect(asked).toBe(3);
  });

  it("are fetched though the clock was set back", async () => {
    const ask = client();
    expect(await ask(first, "first", 60 * minute)).toBe(200);
    answer = json({ keys: [second.jwk] });
    expect(await ask(second)).toBe(200);
  });

  it("may be two with one kid, or without a kid", async () => {
    answer = json({ keys: [{ ...second.jwk, kid: "first" }, first.jwk] });
    const ask = client();
    for (const pair of [first, second]) expect(await ask(pair, "first")).toBe(200);
    // A token without a kid is verified with each.
    const user = asking(Jwt.bearer({ ...options, keys: Jwt.jwks(url), algorithms: ["ES256"] }));
    for (const { privateKey } of [first, second]) {
      expect((await user(await signed(privateKey, { alg: "ES256" })))[0]).toBe(200);
    }
  });
});

describe("the keys of an issuer that have no kid", () => {
  it("may be as many as a set has, and the place of the right one does not matter", async () => {
    const pairs = await Promise.all(Array.from({ length: 12 }, () => pairOf("ES256", "")));
    const nameless = pairs.map(({ jwk: { kid: _kid, ...jwk } }) => jwk);
    answer = json({ keys: nameless });
    const user = asking(Jwt.bearer({ ...options, keys: Jwt.jwks(url), algorithms: ["ES256"] }));
    for (const { privateKey } of [...pairs, ...pairs.toReversed()]) {
      expect((await user(await signed(privateKey, { alg: "ES256" })))[0]).toBe(200);
    }
    expect((await user(await signed(first.privateKey, { alg: "ES256" })))[0]).toBe(401);
    // At most 100 of a set are looked at, and so at most 100 are tried.
    const verify = vi.spyOn(crypto.subtle, "verify");
    const many = await Promise.all(Array.from({ length: 150 }, () => pairOf("ES256", "")));
    answer = json({ keys: many.map(({ jwk: { kid: _kid, ...jwk } }) => jwk) });
    const other = asking(Jwt.bearer({ ...options, keys: Jwt.jwks(url), algorithms: ["ES256"] }));
    expect((await other(await signed(first.privateKey, { alg: "ES256" })))[0]).toBe(401);
    expect(verify).toHaveBeenCalledTimes(100);
    verify.mockClear();
    const token = await signed((many[99] as Pair).privateKey, { alg: "ES256" });
    expect((await other(token))[0]).toBe(200);
    expect(verify).toHaveBeenCalledTimes(100);
    expect((await other(token))[0]).toBe(200);
    expect(verify).toHaveBeenCalledTimes(101);
    verify.mockRestore();
  });
});

describe("an issuer's answer", () => {
  const long = "x".repeat(64 * 1024);
  /** Sends 100 MB while they are read; `ended` has the number of sent bytes. */
  const endless = (length: (bytes: number) => void): Answer => {
    return (response) => {
      let bytes = 0;
      const write = (): void => {
        while (!response.destroyed && bytes < 100_000_000) {
          bytes += long.length;
          if (!response.write(long)) return void response.once("drain", write);
        }
        response.end();
      };
      response.once("close", () => length(bytes));
      write();
    };
  };

  it.each<readonly [what: string, answer: Answer, reason: string]>([
    [
      "a redirect",
      (response) => void response.writeHead(302, { location: "/jwks.json" }).end(),
      "the answer has the status 302",
    ],
    ["a 404", (response) => void response.writeHead(404).end("{}"), "the answer has the status 404"],
    ["a 204", (response) => void response.writeHead(204).end(), "the answer has the status 204"],
    ["no JSON", (response) => void response.end("<html>s3cr3t"), "the answer is no JSON Web Key Set"],
    ["nothing", (response) => void response.end(), "the answer is no JSON Web Key Set"],
    ["null", json(null), "the answer is no JSON Web Key Set"],
    ["no set", json({ keys: { kid: 1 } }), "the answer is no JSON Web Key Set"],
    ["a connection that breaks", (response) => void response.destroy(), "the issuer could not be reached"],
    [
      "a body that breaks",
      (response) => response.write("{", () => response.destroy()),
      "the issuer could not be reached",
    ],
    ["no answer", () => {}, "there was no whole answer in 80 ms"],
    ["a body without an end", (response) => void response.write("{"), "there was no whole answer in 80 ms"],
  ])("is not accepted if it is %s", async (_what, given, reason) => {
    answer = given;
    const timeoutMs = reason.includes("80 ms") ? 80 : 5000;
    expect(await client({ timeoutMs })(first)).toBe(503);
    const line = `the keys of ${new URL(url).host} could not be fetched: ${reason}`;
    expect(messages("warn")).toEqual([line, `GET /: busy: no keys for tokens: ${reason}`]);
  });

  it.each([
    ["is longer than maxBytes", 200, "the answer is longer than 262144 bytes"],
    ["has another status", 500, "the answer has the status 500"],
  ])("is not accepted if it %s, and no more of it is read", async (_what, status, reason) => {
    const written = new Promise<number>((resolve) => {
      answer = (response, request) => endless(resolve)(response.writeHead(status), request);
    });
    // The end of that time would close the connection too.
    expect(await client({ timeoutMs: 600_000 })(first)).toBe(503);
    expect(messages("warn")[0]).toContain(reason);
    expect(await written).toBeLessThan(50_000_000);
  });
});

describe("a key set", () => {
  it("may contain keys that cannot be used", async () => {
    const weak = { kty: "RSA", e: "AQAB", n: "a".repeat(171), kid: "weak", alg: "RS256" };
    const others = [
      null,
      7,
      [],
      {},
      { kty: "oct", k: "AAAA", kid: "first" },
      { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "off its curve" },
      { kty: "new", kid: "first" },
      { ...first.jwk, use: "enc" },
      { ...first.jwk, key_ops: ["sign"] },
      { ...first.jwk, d: "AA", kid: "private" },
      weak,
    ];
    answer = json({ keys: [...others, first.jwk] });
    const ask = client();
    expect(await ask(first)).toBe(200);
    for (const kid of ["off its curve", "private"]) expect(await ask(first, kid)).toBe(401);
    const { privateKey } = await pairOf("RS256");
    const user = asking(Jwt.bearer({ ...options, keys: Jwt.jwks(url), algorithms: ["RS256"] }));
    expect((await user(await signed(privateKey, { alg: "RS256", kid: "weak" })))[0]).toBe(401);
  });

  it("does not use a public key as an HMAC secret", async () => {
    const user = asking(Jwt.bearer({ ...options, keys: Jwt.jwks(url), algorithms: ["ES256"] }));
    for (const key of [first.pem, JSON.stringify(first.jwk)]) {
      expect((await user(forged({ alg: "HS256", kid: "first" }, claims, key)))[0]).toBe(401);
    }
    expect(asked).toBe(0);
  });
});
