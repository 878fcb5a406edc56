/** Requests that another service signs (webhooks): Standard Webhooks, GitHub and Stripe. */
import { createHmac } from "node:crypto";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { App, Openapi, Path, Rate, Returns, Test, Webhook, post } from "usher-http";
import type { RateStore, WebhookOptions } from "usher-http";
import { messages } from "../support/logs.ts";
import { codePoint } from "../support/code-point.ts";
import { gate } from "../support/gate.ts";

const now = new Date("2026-11-23T12:00:00.000Z");
const seconds = now.getTime() / 1000;
const shape = v.object({ type: v.string() });
const whsec = `whsec_${Buffer.from("a key of 24 bytes, 192 b").toString("base64")}`;
const older = `whsec_${Buffer.from("another key of 24 bytes!").toString("base64")}`;
const text = "a secret of 24 characters";
const body = '{"type":"paid"}';
const refused = '{"error":"not_verified","message":"That request\'s signature is not valid."}';

const secretOf = { standard: whsec, github: text, stripe: text } as const;

interface Sent {
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
  readonly now?: Date;
}

/** A route that reads a webhook, as its sender sees it. */
function receiving(options: WebhookOptions) {
  const paid = Webhook.verify(shape, options);
  const route = post(Path.root, { inputs: { paid }, returns: Returns.text }, ({ paid }) => paid.type);
  const app = Test.app([route]);
  return async (sent: Sent) => {
    const { headers, body: bytes = body, now: at = now } = sent;
    const given = Object.entries({ "content-type": "application/json", ...headers });
    const answer = await Test.call(app, "POST", "/", { headers: given, body: bytes, now: at });
    return [answer.status, answer.body] as const;
  };
}

const later = (ms: number): Date => new Date(now.getTime() + ms);
const hmac = (key: string | Buffer, content: string) => createHmac("sha256", key).update(content).digest();

describe("a signed webhook", () => {
  it("is refused with headers of both names where neither set is whole", async () => {
    const signed = await Webhook.sign(body, { scheme: "standard", secrets: [whsec], id: "msg_1", now });
    const headers = {
      "webhook-id": "msg_1",
      "svix-timestamp": `${seconds}`,
      "svix-signature": `${signed["webhook-signature"]}`,
    };
    const ask = receiving({ scheme: "standard", secrets: [whsec] });
    expect(await ask({ headers })).toEqual([403, refused]);
    expect(messages("warn").at(-1)).toContain("a header of its signature is missing");
  });

  it.each([
    [
      "standard",
      `msg_1.${seconds}.${body}`,
      (mac: Buffer) => ({
        "webhook-id": "msg_1",
        "webhook-timestamp": `${seconds}`,
        "webhook-signature": `v1,${mac.toString("base64")}`,
      }),
    ],
    ["github", body, (mac: Buffer) => ({ "x-hub-signature-256": `sha256=${mac.toString("hex")}` })],
    [
      "stripe",
      `${seconds}.${body}`,
      (mac: Buffer) => ({ "stripe-signature": `t=${seconds},v1=${mac.toString("hex")}` }),
    ],
  ] as const)("is accepted when Node signs it as %s does", async (scheme, content, headersOf) => {
    const secret = secretOf[scheme];
    const key = scheme === "standard" ? Buffer.from(secret.slice(6), "base64") : secret;
    const headers = headersOf(hmac(key, content));
    expect(await receiving({ scheme, secrets: [secret] })({ headers })).toEqual([200, "paid"]);
    expect(await Webhook.sign(body, { scheme, secrets: [secret], id: "msg_1", now })).toMatchObject(headers);
  });

  it.each(["standard", "github", "stripe"] as const)("may have any body: %s", async (scheme) => {
    const signing = { scheme, secrets: [secretOf[scheme]] };
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: codePoint }), async (type) => {
        const body = JSON.stringify({ type });
        const headers = await Webhook.sign(body, { ...signing, now });
        expect(await receiving(signing)({ headers, body })).toEqual([200, type]);
        expect(await receiving(signing)({ headers, body: `${body} ` })).toEqual([403, refused]);
      }),
      { numRuns: 30 },
    );
  });

  it("is accepted with the old secret while the sender changes to the new one", async () => {
    const both = [whsec, older];
    for (const secrets of [[whsec], [older], [older, whsec]]) {
      const headers = await Webhook.sign(body, { scheme: "standard", secrets, now });
      expect(await receiving({ scheme: "standard", secrets: both })({ headers })).toEqual([200, "paid"]);
    }
    const signed = await Webhook.sign(body, { scheme: "stripe", secrets: [text, `${text}2`], now });
    expect(await receiving({ scheme: "stripe", secrets: [`${text}2`] })({ headers: signed })).toEqual([200, "paid"]);
  });

  it("with another content type is a 415, and with another shape a 400", async () => {
    const ask = receiving({ scheme: "github", secrets: [text] });
    const headers = await Webhook.sign("[]", { scheme: "github", secrets: [text] });
    expect((await ask({ headers: { ...headers, "content-type": "text/plain" }, body: "[]" }))[0]).toBe(415);
    expect((await ask({ headers, body: "[]" }))[0]).toBe(400);
  });
});

/** Headers that are refused, made from valid ones. */
type Change = (headers: { readonly [name: string]: string }) => { readonly [name: string]: string };
const headerOf = { standard: "webhook-signature", github: "x-hub-signature-256", stripe: "stripe-signature" } as const;

const without = (all: { readonly [name: string]: string }, name: string) =>
  Object.fromEntries(Object.entries(all).filter(([one]) => one !== name));

const changes: readonly (readonly [name: string, scheme: keyof typeof headerOf, reason: string, Change])[] = [
  ...(["standard", "github", "stripe"] as const).flatMap((scheme) => {
    const name = headerOf[scheme];
    const signed = "none of the secrets signed it";
    const malformed = "a header of its signature is missing, or malformed";
    return [
      [`no signature, ${scheme}`, scheme, malformed, (all) => without(all, name)],
      [`an empty one, ${scheme}`, scheme, scheme === "stripe" ? malformed : signed, (all) => ({ ...all, [name]: "" })],
      [`a longer one, ${scheme}`, scheme, signed, (all) => ({ ...all, [name]: `${all[name]}0` })],
      [
        `another prefix, ${scheme}`,
        scheme,
        signed,
        (all) => ({ ...all, [name]: `${all[name]}`.replace(/v1,|sha256=|v1=/, "v0=") }),
      ],
      [
        `16 KiB of commas and blanks, ${scheme}`,
        scheme,
        scheme === "stripe" ? malformed : signed,
        (all) => ({ ...all, [name]: ", ".repeat(8000) }),
      ],
    ] as const satisfies readonly (readonly [string, typeof scheme, string, Change])[];
  }),
  [
    "an id with a dot",
    "standard",
    "a header of its signature is missing, or malformed",
    (all) => ({ ...all, "webhook-id": `a.${seconds}` }),
  ],
  [
    "a time in words",
    "standard",
    "a header of its signature is missing, or malformed",
    (all) => ({ ...all, "webhook-timestamp": "today" }),
  ],
  [
    "another time",
    "standard",
    "none of the secrets signed it",
    (all) => ({ ...all, "webhook-timestamp": `${seconds + 1}` }),
  ],
  [
    "the same time with a zero",
    "standard",
    "none of the secrets signed it",
    (all) => ({ ...all, "webhook-timestamp": `0${seconds}` }),
  ],
  [
    "two times",
    "stripe",
    "a header of its signature is missing, or malformed",
    (all) => ({ "stripe-signature": `t=1,${all["stripe-signature"]}` }),
  ],
  [
    "ours behind sixteen others",
    "stripe",
    "none of the secrets signed it",
    (all) => ({ "stripe-signature": `${all["stripe-signature"]}`.replace(",", `,${"v1=0,".repeat(16)}`) }),
  ],
];

describe("a webhook without a valid signature is refused, with the reason only in the log", () => {
  it.each(changes)("%s", async (_, scheme, reason, change) => {
    const signing = { scheme, secrets: [secretOf[scheme]] };
    const headers = change(await Webhook.sign(body, { ...signing, now }));
    expect(await receiving(signing)({ headers })).toEqual([403, refused]);
    expect(messages("warn")).toEqual([`POST /: not_verified: ${reason}`]);
  });

  it.each(["standard", "stripe"] as const)("with a time too far from the clock: %s", async (scheme) => {
    const signing = { scheme, secrets: [secretOf[scheme]] };
    const headers = await Webhook.sign(body, { ...signing, now });
    const statuses = [];
    for (const ms of [-300_001, -300_000, 300_000, 300_001]) {
      statuses.push((await receiving(signing)({ headers, now: later(ms) }))[0]);
    }
    expect(statuses).toEqual([403, 200, 200, 403]);
    const slow = receiving({ ...signing, toleranceMs: 1000 });
    expect((await slow({ headers, now: later(1001) }))[0]).toBe(403);
  });
});

describe("a webhook that is received again", () => {
  it.each(["standard", "stripe"] as const)("is refused, and a new attempt of its sender is not: %s", async (scheme) => {
    const signing = { scheme, secrets: [secretOf[scheme]] };
    const ask = receiving(signing);
    const headers = await Webhook.sign(body, { ...signing, id: "msg_1", now });
    const answers = await Promise.all([ask({ headers }), ask({ headers })]);
    expect(answers.map(([status]) => status)).toEqual(expect.arrayContaining([200, 403]));
    const again = await Webhook.sign(body, { ...signing, id: "msg_1", now: later(1000) });
    expect((await ask({ headers: again, now: later(1000) }))[0]).toBe(200);
    expect((await ask({ headers, now: later(300_000) }))[0]).toBe(403);
    expect(messages("warn")[0]).toBe("POST /: not_verified: it was received before");
  });

  it("is recognized with any of its signatures left out", async () => {
    const secrets = [whsec, older];
    const ask = receiving({ scheme: "standard", secrets });
    const headers = await Webhook.sign(body, { scheme: "standard", secrets, now });
    const [first = "", second = ""] = `${headers["webhook-signature"]}`.split(" ");
    expect((await ask({ headers: { ...headers, "webhook-signature": first } }))[0]).toBe(200);
    expect((await ask({ headers: { ...headers, "webhook-signature": second } }))[0]).toBe(403);
  });

  it("is recognized by a process that does not have the newer secret yet, or no longer the older one", async () => {
    const seen = Rate.memory();
    const having = (...secrets: string[]) => receiving({ scheme: "standard", secrets, seen });
    const [before, between, after] = [having(older), having(whsec, older), having(whsec)];
    for (const [secret, one, other] of [
      [older, before, between],
      [older, between, before],
      [whsec, between, after],
      [whsec, after, between],
    ] as const) {
      const headers = await Webhook.sign(body, { scheme: "standard", secrets: [secret], now });
      expect([(await one({ headers }))[0], (await other({ headers }))[0]]).toEqual([200, 403]);
    }
  });

  it("is accepted from GitHub, unless a store is given", async () => {
    const signing = { scheme: "github", secrets: [text] } as const;
    const headers = await Webhook.sign(body, signing);
    const [ask, once] = [receiving(signing), receiving({ ...signing, seen: Rate.memory() })];
    expect([(await ask({ headers }))[0], (await ask({ headers }))[0]]).toEqual([200, 200]);
    expect([(await once({ headers }))[0], (await once({ headers }))[0]]).toEqual([200, 403]);
  });

  it("is a 500 when the store returns nothing, or throws", async () => {
    const broken = (take: () => unknown) => ({ take }) as unknown as RateStore;
    for (const take of [
      () => undefined,
      () => Number.NaN,
      () => Promise.reject(new Error("s3cret")),
      async () => "0",
    ]) {
      const signing = { scheme: "github", secrets: [text] } as const;
      const ask = receiving({ ...signing, seen: broken(take) });
      expect((await ask({ headers: await Webhook.sign(body, signing) }))[0]).toBe(500);
    }
  });
});

describe("a webhook that is received again with a slow body", () => {
  it("is refused when the store has forgotten the first one", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"], now });
    onTestFinished(() => void vi.useRealTimers());
    const memory = Rate.memory();
    // A store that processes share has a clock of its own.
    const seen: RateStore = { take: (key, rule) => memory.take(key, rule, new Date()) };
    const signing = { scheme: "standard", secrets: [whsec], toleranceMs: 10_000 } as const;
    const paid = Webhook.verify(shape, { ...signing, seen });
    const app = App.make([post(Path.root, { inputs: { paid }, returns: Returns.empty() }, () => undefined)]);
    const headers = { "content-type": "application/json", ...(await Webhook.sign(body, { ...signing, now })) };
    const send = async (body: string | ReadableStream<Uint8Array>) => {
      const init: RequestInit = { method: "POST", headers, body, duplex: "half" };
      return (await app.fetch(new Request("http://localhost/", init))).status;
    };
    expect(await send(body)).toBe(204);
    const asked = gate();
    let end = (): void => {};
    const slow = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          asked.open();
          return new Promise((resolve) => {
            end = () => {
              controller.enqueue(Buffer.from(body));
              controller.close();
              resolve();
            };
          });
        },
      },
      { highWaterMark: 0 },
    );
    const status = send(slow);
    await asked.passed;
    vi.advanceTimersByTime(25_000);
    end();
    expect(await status).toBe(403);
    expect(messages("warn")).toEqual(["POST /: not_verified: it was signed too long ago, or in the future"]);
  });
});

describe("the options of a webhook", () => {
  it.each([
    [
      { scheme: "standard", secrets: ["whsec_c2hvcnQ="] },
      "secrets[0] must be whsec_ and the base64 of at least 16 bytes",
    ],
    [{ scheme: "standard", secrets: [text] }, "secrets[0] must be whsec_ and the base64 of at least 16 bytes"],
    [
      { scheme: "standard", secrets: ["whsec_!!!!!!!!!!!!!!!!!!!!!!!!"] },
      "secrets[0] must be whsec_ and the base64 of at least 16 bytes",
    ],
    [{ scheme: "stripe", secrets: [text, "short"] }, "secrets[1] must be at least 16 bytes"],
    [{ scheme: "github", secrets: [] }, "secrets is a list, and not a list of texts, one at least"],
    [{ scheme: "slack", secrets: [text] }, 'scheme must be "standard", "github" or "stripe"'],
    [{ scheme: "stripe", secrets: [text], toleranceMs: Number.NaN }, "toleranceMs is a number, and not milliseconds"],
    [
      { scheme: "stripe", secrets: [text], seen: {} },
      "seen is another object, and not a store with take, a resource, or another input that gives one",
    ],
  ])("%j is refused", (options, sentence) => {
    expect(() => Webhook.verify(shape, options as WebhookOptions)).toThrow(
      new TypeError(`Webhook.verify: ${sentence}`),
    );
  });

  it("is in the API document: its headers, its body, its refusal", () => {
    const hook = Webhook.verify(shape, { scheme: "standard", secrets: [whsec] });
    const route = post(Path.root, { inputs: { hook }, returns: Returns.empty() }, () => undefined);
    const document = Openapi.document([route], { title: "t", version: "1" });
    const { post: operation } = document.paths["/"] as { post: Record<string, object> };
    expect(operation["parameters"]).toMatchObject([
      { in: "header", name: "webhook-id" },
      { in: "header", name: "webhook-timestamp" },
      { in: "header", name: "webhook-signature" },
      { in: "header", name: "svix-id" },
      { in: "header", name: "svix-timestamp" },
      { in: "header", name: "svix-signature" },
    ]);
    expect(operation["requestBody"]).toMatchObject({ content: { "application/json": {} } });
    expect(JSON.stringify(operation["responses"])).toContain("not_verified");
  });
});
