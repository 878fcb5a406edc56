/** The `Webhook` namespace: requests that another service signs. */
import { isTexts, needs, needsOptions, needsSchema, needsText } from "../arguments.ts";
import { json } from "../inputs/body-inputs.ts";
import { constant } from "../inputs/dep.ts";
import type { Dep } from "../inputs/dep.ts";
import type { InputRequest, Need } from "../inputs/request.ts";
import { ofApp, storeInput } from "../inputs/store.ts";
import type { StoreFrom, StoreKind } from "../inputs/store.ts";
import { Refusal } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import type { AnyShape, JsonOf, ValueOf } from "../schema/valibot.ts";
import { memory, waitOf } from "./rate-store.ts";
import type { RateRule, RateStore } from "./rate-store.ts";
import { isSameSecret } from "./sealing.ts";
import { schemes } from "./webhook-schemes.ts";
import type { Claim, Scheme, WebhookScheme } from "./webhook-schemes.ts";

export type { WebhookScheme } from "./webhook-schemes.ts";

/** Who signs, and with what. */
export interface WebhookSigning {
  /** `standard` (Standard Webhooks, `v1`, also by the `svix-*` headers of Svix), `github` or `stripe`. */
  readonly scheme: WebhookScheme;
  /** The secrets, the newest first, as the sender shows them: a request that any of them signed is verified. */
  readonly secrets: readonly string[];
}

/** The options of `Webhook.verify`. */
export interface WebhookOptions<S extends string = never, X = {}> extends WebhookSigning {
  /**
   * How far the time of signing may be from the server's clock, in milliseconds: five minutes by default. GitHub signs no time,
   * so it has no such limit.
   */
  readonly toleranceMs?: number;
  /**
   * Where the requests that arrived are remembered, so that each is taken once: a store, a resource, or an input that gives one, as
   * {@link StoreFrom} says. By default a `Rate.memory()` of its own in each app, and for GitHub nothing, which sends a delivery again as
   * it was. Several processes need a store that they share: `rateStore` of `usher-http/redis`.
   */
  readonly seen?: StoreFrom<RateStore, S, X>;
}

/** A request was signed by another than its sender, too long ago, or was received before: 403. */
// Here and not among the framework's own, so that a bundle without webhooks is without it.
export const notVerified: Code<"not_verified"> = /* @__PURE__ */ Refusal.code("not_verified", {
  status: 403,
  doc: "Its signature is not one of the sender's, is too old, or was received before.",
});
const sentence = "That request's signature is not valid.";

const tooOld = "it was signed too long ago, or in the future";
/** A request whose body takes no longer, in milliseconds, is as old as when it arrived. */
const bodyMs = 1000;
/** How long a signature without a time is remembered, in milliseconds. */
const dayMs = 24 * 60 * 60 * 1000;
const utf8 = /* @__PURE__ */ new TextEncoder();

type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/**
 * Reads the JSON body of a request that another service signed. Where it is signed with none of the secrets, was signed too
 * long ago or was received before, the answer is 403 `not_verified`, and the log has the reason. Otherwise it is as `json`.
 *
 * A sender that got no answer signs a new attempt, with a new time, so that it is no second one of the same. The signature of GitHub covers
 * the body alone: no header that comes with it is verified.
 *
 * @throws TypeError for a secret that is too short or not of the scheme; the error does not quote it.
 * @example
 * ```ts
 * const paid = Webhook.verify(v.object({ type: v.string(), id: v.string() }), {
 *   scheme: "stripe",
 *   secrets: [env.STRIPE_SECRET],
 * });
 * const hook = post(Path.of("hooks", "stripe"), { inputs: { paid }, returns: Returns.empty() }, () => undefined);
 * ```
 */
export function verify<V extends AnyShape, S extends string = never, X = {}>(
  shape: V,
  options: WebhookOptions<S, X>,
): Dep<ValueOf<V>, "not_verified" | S, { json: JsonOf<V> } & X> {
  needsSchema("Webhook.verify: shape", shape);
  const verifier = new Verifier(options);
  const { node } = json(shape);
  return {
    node: {
      ...node,
      from: [...node.from, verifier.seen],
      codes: [...(node.codes ?? []), notVerified],
      needs: neededHeaders(verifier.scheme),
      before: (context) => {
        const checkType = node.before?.(context);
        return (request) => checkType?.(request) ?? verifier.early(request);
      },
      compile(context, from) {
        const read = node.compile?.(context, from);
        const slot = from.at(-1) as number;
        return async (request, values, reading) =>
          (await verifier.refusal(request, values[slot] as RateStore | undefined)) ?? read?.(request, values, reading);
      },
    },
  };
}

/**
 * The headers of a request that is signed as `Webhook.verify` reads it, with each of the secrets: for tests, and to send webhooks.
 *
 * @param options `id` names the message, for Standard Webhooks and GitHub: a random one by default. `now` is when it is signed.
 * @example
 * ```ts
 * const body = JSON.stringify({ type: "order.placed" });
 * const headers = await Webhook.sign(body, { scheme: "standard", secrets: [secret] });
 * await fetch(url, { method: "POST", body, headers: { ...headers, "content-type": "application/json" } });
 * ```
 */
export async function sign(
  body: string | Uint8Array,
  options: WebhookSigning & { readonly id?: string; readonly now?: Date },
): Promise<{ readonly [name: string]: string }> {
  needs(typeof body === "string" || body instanceof Uint8Array, "Webhook.sign: body", body, "a text or bytes");
  // A test signs with the options of its `Webhook.verify`.
  const { scheme, keys } = signingOf("Webhook.sign", options, "scheme secrets id now toleranceMs seen");
  const { id = `msg_${crypto.randomUUID()}`, now = new Date() } = options;
  needsText("Webhook.sign: id", id);
  const seconds = Math.floor(now.getTime() / 1000);
  const content = signedBytes(scheme.prefixOf(id, seconds), typeof body === "string" ? utf8.encode(body) : body);
  const signatures = [];
  for (const key of keys) signatures.push(scheme.write(await hmac(await imported(key), content)));
  return scheme.headersOf(id, seconds, signatures);
}

const stores: StoreKind = { at: "Webhook.verify: seen", what: "a store with take", methods: ["take"] };

/** Of several lists of headers a request has one, so that none of them is required of each request. */
function neededHeaders({ headers }: Scheme): readonly Need[] {
  return headers.flat().map((name) => ({ in: "header", name, required: headers.length === 1 }));
}

class Verifier {
  readonly scheme: Scheme;
  readonly #secrets: readonly Uint8Array<ArrayBuffer>[];
  // Keys and not promises: on Workers a request may not await another request's promise.
  #keys: readonly HmacKey[] | undefined = undefined;
  readonly #toleranceMs: number;
  /** Gives what remembers requests; undefined where nothing does. */
  readonly seen: Dep<RateStore | undefined>;
  readonly #once: RateRule;
  /** When the heads of requests were checked, by the monotonic clock. */
  readonly #checkedAt = new WeakMap<InputRequest, number>();

  constructor(options: WebhookOptions<string, unknown>) {
    const { scheme, keys } = signingOf("Webhook.verify", options, "scheme secrets toleranceMs seen");
    const { toleranceMs = 5 * 60_000, seen = scheme.isTimed ? ofApp<RateStore>(memory) : undefined } = options;
    needs(Number.isFinite(toleranceMs) && toleranceMs > 0, "Webhook.verify: toleranceMs", toleranceMs, "milliseconds");
    this.scheme = scheme;
    this.#secrets = keys;
    this.#toleranceMs = toleranceMs;
    this.seen = seen === undefined ? constant(undefined) : storeInput(seen, stores);
    // The sender's clock may be ahead of this one by the tolerance, and behind it by as much.
    this.#once = { intervalMs: scheme.isTimed ? 2 * toleranceMs + bodyMs : dayMs, burst: 1 };
  }

  /** What the head alone shows, before the body is read. */
  early(request: InputRequest): Refusal | undefined {
    const claim = this.#claimOf(request);
    if (claim === undefined) return unverified("a header of its signature is missing, or malformed");
    this.#checkedAt.set(request, performance.now());
    return this.#isOld(claim, request.now) ? unverified(tooOld) : undefined;
  }

  #isOld({ signedAtMs }: Claim, now: Date): boolean {
    return signedAtMs !== undefined && Math.abs(now.getTime() - signedAtMs) > this.#toleranceMs;
  }

  /** The instant at which a body is there. A store may have forgotten the first request by then. */
  #after(request: InputRequest): Date {
    const at = performance.now();
    const waitedMs = at - (this.#checkedAt.get(request) ?? at);
    return waitedMs > bodyMs ? new Date(request.now.getTime() + waitedMs) : request.now;
  }

  async refusal(request: InputRequest, seen: RateStore | undefined): Promise<Refusal | undefined> {
    const claim = this.#claimOf(request);
    if (claim === undefined) return this.early(request);
    const now = this.#after(request);
    if (this.#isOld(claim, now)) return unverified(tooOld);
    const content = signedBytes(claim.prefix, request.bytes);
    const expected: string[] = [];
    for (const key of await this.#imported()) expected.push(this.scheme.write(await hmac(key, content)));
    const isSigned = claim.signatures.some((given) => expected.some((signature) => isSameSecret(given, signature)));
    if (!isSigned) return unverified("none of the secrets signed it");
    return (await this.#isNew(seen, expected, now)) ? undefined : unverified("it was received before");
  }

  /** By each secret, whichever of them signed it: while a secret is changed, processes with the same store have different ones. */
  async #isNew(seen: RateStore | undefined, signatures: readonly string[], now: Date): Promise<boolean> {
    if (seen === undefined) return true;
    for (const signature of signatures) {
      const taken = await seen.take(`webhook ${signature}`, this.#once, now);
      if (waitOf("Webhook.verify", taken) > 0) return false;
    }
    return true;
  }

  #claimOf(request: InputRequest): Claim | undefined {
    return this.scheme.claimOf((name) => {
      const lines = request.lines(name);
      return lines.length === 1 ? lines[0] : undefined;
    });
  }

  async #imported(): Promise<readonly HmacKey[]> {
    if (this.#keys === undefined) {
      const keys = [];
      for (const secret of this.#secrets) keys.push(await imported(secret));
      this.#keys = keys;
    }
    return this.#keys;
  }
}

function signingOf(
  caller: string,
  options: WebhookSigning,
  names: string,
): { readonly scheme: Scheme; readonly keys: readonly Uint8Array<ArrayBuffer>[] } {
  needsOptions(caller, options, names);
  const { scheme: named, secrets } = options;
  const scheme = schemes.get(named);
  if (scheme === undefined) throw new TypeError(`${caller}: scheme must be "standard", "github" or "stripe"`);
  needs(isTexts(secrets) && secrets.length > 0, `${caller}: secrets`, secrets, "a list of texts, one at least");
  const keys = secrets.map((secret, i) => {
    const key = scheme.keyOf(secret);
    if (key === undefined) throw new TypeError(`${caller}: secrets[${i}] must be ${scheme.secretIs}`);
    return key;
  });
  return { scheme, keys };
}

function signedBytes(prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = utf8.encode(prefix);
  const content = new Uint8Array(start.byteLength + body.byteLength);
  content.set(start);
  content.set(body, start.byteLength);
  return content;
}

const hmacSha256 = { name: "HMAC", hash: "SHA-256" } as const;

function imported(secret: Uint8Array<ArrayBuffer>): Promise<HmacKey> {
  return crypto.subtle.importKey("raw", secret, hmacSha256, false, ["sign"]);
}

async function hmac(key: HmacKey, content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, content));
}

function unverified(detail: string): Refusal<"not_verified"> {
  return new Refusal(notVerified, sentence, { detail });
}
