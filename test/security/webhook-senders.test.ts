/** A request of each sender of webhooks that a page names, with its secret, as its documentation or its own tests print them. */
import { createHmac } from "node:crypto";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Path, Returns, Test, Webhook, post } from "usher-http";
import type { WebhookSigning } from "usher-http";

interface Sender {
  readonly name: string;
  /** The page, or the repository and its files. */
  readonly source: string;
  readonly scheme: WebhookSigning["scheme"];
  readonly secret: string;
  readonly body: string;
  /** When it was signed, in seconds. */
  readonly at: number;
  readonly headers: { readonly [name: string]: string };
}

/** What `standardwebhooks` makes of a message: its packages have no fixed sample of these senders, so Node signs theirs. */
function signedBy(secret: string, id: string, at: number, body: string): string {
  const key = Buffer.from(secret.replace(/^(?:v1,)?whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`;
}

const svix = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const clerk = `whsec_${Buffer.from("test_signing_secret_32_chars_long").toString("base64")}`;
const clerkBody = '{"type":"user.created","data":{"id":"user_123"}}';
const resendId = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
const resendBody = `{"type":"email.sent","data":{"id":"${resendId}"}}`;
const supabase = "v1,whsec_aWxpa2VzdXBhYmFzZXZlcnltdWNoYW5kaWhvcGV5b3Vkb3Rvbw==";
const supabaseOlder = `v1,whsec_${Buffer.from("the secret before this one").toString("base64")}`;
const supabaseId = "8a1d5b1c-6d0e-4b3e-9a55-1f2f7f3c8d10";
const supabaseBody = '{"user":{"id":"6481a5c1-3d37-4a56-9f6a-bee08c554965"},"sms":{"otp":"561166"}}';

const senders: readonly Sender[] = [
  {
    name: "Standard Webhooks",
    source: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
    scheme: "standard",
    secret: svix,
    body: '{"test": 2432232314}',
    at: 1_614_265_330,
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
  },
  {
    name: "Svix",
    source: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
    scheme: "standard",
    secret: svix,
    body: '{"test": 2432232314}',
    at: 1_614_265_330,
    headers: {
      "svix-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "svix-timestamp": "1614265330",
      "svix-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
  },
  {
    name: "Clerk",
    source: "clerk/javascript, packages/backend/src/__tests__/webhooks.test.ts; the signature is Node's",
    scheme: "standard",
    secret: clerk,
    body: clerkBody,
    at: 1_700_000_000,
    headers: {
      "svix-id": "msg_123",
      "svix-timestamp": "1700000000",
      "svix-signature": signedBy(clerk, "msg_123", 1_700_000_000, clerkBody),
    },
  },
  {
    name: "Resend",
    source: "resend/resend-node, src/webhooks/webhooks-verify.spec.ts; the signature is Node's",
    scheme: "standard",
    secret: svix,
    body: resendBody,
    at: 1_700_000_000,
    headers: {
      "svix-id": resendId,
      "svix-timestamp": "1700000000",
      "svix-signature": signedBy(svix, resendId, 1_700_000_000, resendBody),
    },
  },
  {
    name: "OpenAI",
    source: "openai/openai-python, tests/lib/test_webhooks.py; openai/openai-go, webhooks/webhook_test.go",
    scheme: "standard",
    secret: "whsec_RdvaYFYUXuIFuEbvZHwMfYFhUf7aMYjYcmM24+Aj40c=",
    body:
      '{"id": "evt_685c059ae3a481909bdc86819b066fb6", "object": "event", "created_at": 1750861210, ' +
      '"type": "response.completed", "data": {"id": "resp_123"}}',
    at: 1_750_861_210,
    headers: {
      "webhook-id": "wh_685c059ae39c8190af8c71ed1022a24d",
      "webhook-timestamp": "1750861210",
      "webhook-signature": "v1,gUAg4R2hWouRZqRQG4uJypNS8YK885G838+EHb4nKBY=",
    },
  },
  {
    // While a secret is changed it signs by both, and joins the signatures by a comma and a space.
    name: "Supabase Auth, with two secrets",
    source:
      "supabase/auth, internal/conf/configuration_test.go (the secret) and internal/hooks/v0hooks/v0http/v0http.go (the headers); the signatures are Node's",
    scheme: "standard",
    secret: supabase,
    body: supabaseBody,
    at: 1_700_000_000,
    headers: {
      "webhook-id": supabaseId,
      "webhook-timestamp": "1700000000",
      "webhook-signature": [supabase, supabaseOlder]
        .map((secret) => signedBy(secret, supabaseId, 1_700_000_000, supabaseBody))
        .join(", "),
    },
  },
  {
    name: "GitHub",
    source:
      "https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation",
    scheme: "github",
    secret: "It's a Secret to Everybody",
    body: "Hello, World!",
    at: 1_700_000_000,
    headers: { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
  },
  {
    name: "Stripe",
    source:
      "stripe/stripe-dotnet, src/StripeTests/Services/Events/EventUtilityTest.cs and Resources/event_test_signature.json",
    scheme: "stripe",
    // There it is shorter than a secret may be. HMAC fills a key with zero bytes (RFC 2104 §2), so that this is the same key.
    secret: "webhook_secret\0\0",
    body: `${JSON.stringify(
      {
        id: "evt_123",
        object: "event",
        account: "acct_123",
        api_version: "2017-05-25",
        created: 1_533_204_620,
        data: {
          object: {
            id: "cus_123",
            object: "customer",
            created: 123_456_789,
            email: "test@stripe.com",
            livemode: false,
            metadata: {},
          },
        },
        livemode: false,
        pending_webhooks: 1,
        request: { id: "req_123", idempotency_key: "idempotency-key-123" },
        type: "customer.created",
      },
      null,
      2,
    )}\n`,
    at: 1_533_204_620,
    headers: {
      "stripe-signature":
        "t=1533204620,v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7," +
        "v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef",
    },
  },
];

describe.each(senders)("a webhook of $name", ({ scheme, secret, body, at, headers }) => {
  const sent = (secrets: readonly string[], more: { readonly [name: string]: string } = {}, text = body) => {
    const hook = Webhook.verify(v.unknown(), { scheme, secrets });
    const route = post(Path.root, { inputs: { hook }, returns: Returns.text }, ({ hook }) => JSON.stringify(hook));
    const given = Object.entries({ "content-type": "application/json", ...headers, ...more });
    return Test.call(Test.app([route]), "POST", "/", { headers: given, body: text, now: new Date(at * 1000) });
  };

  it("is accepted", async () => {
    const { status, body: read } = await sent([secret]);
    // GitHub's sample has a text for a body: it is verified, and then it is no JSON.
    if (!body.startsWith("{")) expect([status, read]).toEqual([400, expect.stringContaining('"at":"body"')]);
    else expect([status, JSON.parse(read)]).toEqual([200, JSON.parse(body)]);
  });

  it("is refused with another body, another secret and any other header of its signature", async () => {
    const other =
      scheme === "standard" ? `whsec_${Buffer.from("another key of 24 bytes!").toString("base64")}` : "x".repeat(24);
    expect((await sent([secret], {}, `${body} `)).status).toBe(403);
    expect((await sent([other])).status).toBe(403);
    for (const [name, value] of Object.entries(headers)) {
      expect(
        (await sent([secret], { [name]: value.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)) })).status,
      ).toBe(403);
    }
  });
});

it("a webhook of Supabase Auth with two secrets is accepted by a receiver that has one of them", async () => {
  const { body, headers, at } = senders.find(({ name }) => name.startsWith("Supabase"))!;
  for (const secret of [supabase, supabaseOlder]) {
    const hook = Webhook.verify(v.unknown(), { scheme: "standard", secrets: [secret] });
    const route = post(Path.root, { inputs: { hook }, returns: Returns.empty() }, () => undefined);
    const given = Object.entries({ "content-type": "application/json", ...headers });
    const now = new Date(at * 1000);
    expect((await Test.call(Test.app([route]), "POST", "/", { headers: given, body, now })).status).toBe(204);
  }
});
