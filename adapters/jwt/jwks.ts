/**
 * The keys of an issuer. `createRemoteJWKSet` of jose 6.2 takes the limits of a fetch by `customFetch`. But it uses no old keys while the
 * issuer is away, asks it again with each request, and heeds no `Retry-After`: 11 of the 34 tests of this file fail with it.
 */
import type { CryptoKey } from "jose";
import { isObject, needs, needsOptions } from "../../src/arguments.ts";
import { counted } from "../../src/counted.ts";
import type { InputRequest } from "../../src/doors/inputs.ts";
import { current, log } from "../../src/doors/logging.ts";
import { retryAfterMs } from "../../src/doors/http.ts";
import { isWorkers } from "../../src/doors/base.ts";
import type { Jose } from "./jose.ts";
import { KeySet, KeySource, needsPublic } from "./keys.ts";
import type { JwtAlgorithm, JwtKeys, KeyHeader } from "./keys.ts";

/** How the keys of an issuer are fetched and kept. */
export interface JwksOptions {
  /** After how long the keys are fetched again, in milliseconds: ten minutes by default. */
  readonly maxAgeMs?: number;
  /** How long older keys are used while the issuer cannot be reached, in milliseconds: a day by default. */
  readonly staleMs?: number;
  /** The least time between two fetches for keys that are not known, in milliseconds: 30 seconds by default. */
  readonly refreshMs?: number;
  /** How long one fetch may take, in milliseconds: 5 seconds by default. */
  readonly timeoutMs?: number;
  /** The largest answer, in bytes: 256 KiB by default. */
  readonly maxBytes?: number;
  /** Allows `http:` for another host than the machine itself: anything between the two can choose the keys. */
  readonly allowHttp?: boolean;
}

/**
 * The keys of an issuer, at the `jwks_uri` of its metadata. They are fetched for the first token, kept, and fetched again after
 * `maxAgeMs`, and for a key that is not known at most once in `refreshMs`. While the issuer cannot be reached, the older keys are
 * used; without any keys, and for one that is not known, the answer is 503 `busy`. `Retry-After` is heeded, up to five minutes. One object is for all the inputs of an issuer:
 * make it once.
 *
 * A redirect is not followed, and an answer that is too long or too slow is no answer.
 *
 * @throws TypeError for a URL that is not `https:`.
 * @example
 * ```ts
 * const keys = Jwt.jwks("https://login.example/.well-known/jwks.json");
 * ```
 */
export function jwks(url: string | URL, options: JwksOptions = {}): JwtKeys {
  needs(typeof url === "string" || url instanceof URL, "Jwt.jwks: url", url, "a URL");
  needsOptions("Jwt.jwks", options, "maxAgeMs staleMs refreshMs timeoutMs maxBytes allowHttp");
  const {
    maxAgeMs = 600_000,
    staleMs = 86_400_000,
    refreshMs = 30_000,
    timeoutMs = 5_000,
    maxBytes = 262_144,
  } = options;
  const numbers = { maxAgeMs, staleMs, refreshMs, timeoutMs, maxBytes };
  for (const [name, value] of Object.entries(numbers)) {
    needs(Number.isFinite(value) && value > 0, `Jwt.jwks: ${name}`, value, "a number, more than 0");
  }
  // `AbortSignal.timeout` of Node throws for a fraction, and aborts at once after a longer time.
  const isTimer = Number.isInteger(timeoutMs) && timeoutMs < 2 ** 31;
  needs(isTimer, "Jwt.jwks: timeoutMs", timeoutMs, "whole milliseconds, less than 2³¹");
  return new RemoteKeys(urlOf(url, options.allowHttp === true), numbers);
}

function urlOf(given: string | URL, allowHttp: boolean): URL {
  if (!URL.canParse(given)) throw new TypeError("Jwt.jwks: url is no URL");
  const url = new URL(given);
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && (allowHttp || isLocal))) return url;
  throw new TypeError("Jwt.jwks: url must be https:, or http: with allowHttp");
}

/** The keys of the issuer cannot be had: a 503, since the token may be right. */
export class NoKeysError extends Error {
  override readonly name = "NoKeysError";
  /** The issuer's `Retry-After`, in milliseconds. */
  retryAfterMs = 0;
}

/** The keys of an issuer's set that are looked at. A token without a `kid` may be verified with each: 100 of ES256 take 28 ms (Node 20). */
const maxKeys = 100;
/** The longest `Retry-After` that is heeded: with another one by mistake, every token would be refused for a day. */
const maxRetryAfterMs = 300_000;

type JwksBounds = Required<Omit<JwksOptions, "allowHttp">>;

/** A request on Workers may not await another request's promise. */
const sharesPromises = (): boolean => !isWorkers();

class RemoteKeys extends KeySource {
  readonly kind = "jwks";
  readonly #url: URL;
  readonly #bounds: JwksBounds;
  #set: KeySet | undefined = undefined;
  /** When the keys arrived, and when they were last requested, in milliseconds of the requests' clock. */
  #fetchedAt = 0;
  #triedAt: number | undefined = undefined;
  /** When old keys were last planned to be fetched again, after an answer. */
  #plannedAt: number | undefined = undefined;
  /** How many fetches failed since the last that did not, and why the last one did. */
  #failures = 0;
  #failure = "";
  /** The `Retry-After` of the last failure. */
  #leastWaitMs = 0;
  #fetching: Promise<void> | undefined = undefined;

  constructor(url: URL, bounds: JwksBounds) {
    super();
    this.#url = url;
    this.#bounds = bounds;
  }

  check(algorithms: readonly JwtAlgorithm[], at: string): void {
    needsPublic(algorithms, at);
  }

  async find(header: KeyHeader, now: Date, jose: Jose): Promise<readonly CryptoKey[]> {
    const nowMs = now.getTime();
    if (this.#set === undefined) await this.#first(nowMs);
    const keys = await this.#set?.find(header, jose);
    if (keys === undefined) throw new NoKeysError(this.#failure);
    if (keys.length > 0) return keys;
    if (await this.#refreshed(nowMs)) return (await this.#set?.find(header, jose)) ?? [];
    // The issuer may have that key by now.
    if (this.#failures > 0) throw new NoKeysError(this.#failure);
    return keys;
  }

  override keepFresh(request: InputRequest): void {
    const nowMs = request.now.getTime();
    this.#dropOld(nowMs);
    if (this.#set === undefined || !hasPassed(this.#fetchedAt, this.#bounds.maxAgeMs, nowMs)) return;
    if (!this.#hasRested(this.#triedAt, nowMs) || !this.#hasRested(this.#plannedAt, nowMs)) return;
    try {
      // After the answer: no request waits for keys that are about to be old, unless it needs one that is not known.
      request.later().add(() => this.#fetchOnce(nowMs), true);
      this.#plannedAt = nowMs;
    } catch {
      // Too much waits already, and a later request does it.
    }
  }

  /** Fetches the keys, unless another request has done so, or does. */
  async #fetchOnce(nowMs: number): Promise<void> {
    if (this.#fetching !== undefined && sharesPromises()) return;
    if (this.#mayTry(nowMs)) await this.#fetch(nowMs);
  }

  /** Keys that are too old to be used although the issuer is away. */
  #dropOld(nowMs: number): void {
    const { maxAgeMs, staleMs } = this.#bounds;
    if (this.#set === undefined || !hasPassed(this.#fetchedAt, maxAgeMs + staleMs, nowMs)) return;
    this.#set = undefined;
    this.version++;
  }

  async #first(nowMs: number): Promise<void> {
    if (this.#fetching !== undefined && sharesPromises()) return this.#fetching;
    // On Workers each of the first requests fetches for itself while another one's fetch is under way.
    if (this.#fetching !== undefined || this.#mayTry(nowMs)) await this.#fetch(nowMs);
  }

  /** Whether the keys were fetched for one that is not known. */
  async #refreshed(nowMs: number): Promise<boolean> {
    const before = this.version;
    if (this.#fetching !== undefined && sharesPromises()) await this.#fetching;
    else if (this.#mayTry(nowMs)) await this.#fetch(nowMs);
    return this.version !== before;
  }

  #mayTry(nowMs: number): boolean {
    return this.#hasRested(this.#triedAt, nowMs);
  }

  /** After a failure it is soon tried again, and then less and less often. */
  #hasRested(sinceMs: number | undefined, nowMs: number): boolean {
    if (sinceMs === undefined) return true;
    const { refreshMs } = this.#bounds;
    if (this.#failures === 0) return hasPassed(sinceMs, refreshMs, nowMs);
    const waitMs = Math.min(refreshMs, 500 * 2 ** this.#failures);
    return hasPassed(sinceMs, Math.max(waitMs, this.#leastWaitMs), nowMs);
  }

  #fetch(nowMs: number): Promise<void> {
    this.#triedAt = nowMs;
    const fetching = this.#load(nowMs).finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
    this.#fetching = fetching;
    return fetching;
  }

  /** Never rejects. */
  async #load(nowMs: number): Promise<void> {
    try {
      this.#set = new KeySet((await fetchKeys(this.#url, this.#bounds, nowMs)).slice(0, maxKeys));
      this.#fetchedAt = nowMs;
      this.#failures = 0;
      this.version++;
    } catch (error) {
      this.#failures++;
      this.#leastWaitMs = error instanceof NoKeysError ? error.retryAfterMs : 0;
      this.#failure = error instanceof NoKeysError ? error.message : "the issuer could not be reached";
      const message = `the keys of ${this.#url.host} could not be fetched: ${this.#failure}`;
      log({ level: "warn", source: "framework.jwt", message, fields: {}, context: current() });
    }
  }
}

/**
 * Also where the clock was set back by as much: it would be a long time until then. The time of a request that waited is a little
 * earlier than that of a later one.
 */
function hasPassed(sinceMs: number, timeMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - sinceMs) >= timeMs;
}

async function fetchKeys(url: URL, { timeoutMs, maxBytes }: JwksBounds, nowMs: number): Promise<readonly unknown[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    // An issuer that redirects could be made to name any other's keys.
    const accept = "application/jwk-set+json, application/json";
    const response = await fetch(url, { redirect: "manual", signal, headers: { accept } });
    if (response.status !== 200) {
      await response.body?.cancel();
      const refused = new NoKeysError(`the answer has the status ${response.status}`);
      refused.retryAfterMs = retryAfterMs(response.headers, nowMs, maxRetryAfterMs);
      throw refused;
    }
    const text = await responseText(response, maxBytes, signal);
    signal.throwIfAborted();
    return keysOf(text);
  } catch (error) {
    if (signal.aborted) throw new NoKeysError(`there was no whole answer in ${timeoutMs} ms`, { cause: error });
    throw error;
  }
}

/** The text of a body, or its begin where the signal aborted: Deno forgets the signal of a request that was collected as garbage. */
async function responseText(response: Response, maxBytes: number, signal: AbortSignal): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  signal.addEventListener("abort", () => {
    reader?.cancel().catch(() => {});
  });
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const chunk = await reader?.read();
    if (chunk?.value === undefined) return text + decoder.decode();
    size += chunk.value.byteLength;
    if (size > maxBytes) {
      await reader?.cancel();
      throw new NoKeysError(`the answer is longer than ${counted(maxBytes, "byte")}`);
    }
    text += decoder.decode(chunk.value, { stream: true });
  }
}

function keysOf(text: string): readonly unknown[] {
  try {
    const set: unknown = JSON.parse(text);
    if (isObject(set) && Array.isArray(set["keys"])) return set["keys"];
  } catch {
    // Not JSON: its error would quote it.
  }
  throw new NoKeysError("the answer is no JSON Web Key Set");
}
