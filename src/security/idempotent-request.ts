import { isStream } from "../exchange/answer.ts";
import type { Answer } from "../exchange/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import { unrefTimer } from "../async.ts";
import { isObject } from "../arguments.ts";
import { encodeHex, losslessBytes } from "../http/bytes.ts";
import { decodedPath } from "../http/target.ts";
import type { GuardedEnd, HandlerGuard, InputRequest } from "../inputs/request.ts";
import { withoutDeadline } from "../logging/context.ts";
import { inBackground, isA } from "../logging/raised.ts";
import { Refusal } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import { answerFromText, keptText, readBody } from "./kept-answer.ts";
import { NotClaimed } from "./idempotency-store.ts";
import type { IdempotencyClaim, IdempotencyEntry, IdempotencyStore } from "./idempotency-store.ts";

/** Its first request is being answered: 409, with `Retry-After`. */
export const inUse: Code<"idempotency_key_in_use"> = /* @__PURE__ */ Refusal.code("idempotency_key_in_use", {
  status: 409,
  doc: "The first request with this idempotency key is being answered; send it again in a moment.",
});
/** The key was sent with another request: 422. */
export const reused: Code<"idempotency_key_reused"> = /* @__PURE__ */ Refusal.code("idempotency_key_reused", {
  status: 422,
  doc: "This idempotency key was sent with another method, path, query or body before.",
});
/** What the first request did is not known: 409. */
export const answerLost: Code<"idempotency_answer_lost"> = /* @__PURE__ */ Refusal.code("idempotency_answer_lost", {
  status: 409,
  doc: "A request with this idempotency key was received before, and its answer is not known: look whether it was done.",
});

const sentences = {
  inUse: "The first request with this key is being answered. Please try again in a moment.",
  reused: "This key was sent with another request. Please use a new one.",
  lost: "A request with this key was received before, and its answer is not known. Please look whether it was done.",
};
const soon = [["retry-after", "1"]] as const;

/** The settings of a route's idempotency keys. */
export interface KeySettings {
  readonly keepMs: number;
  readonly leaseMs: number;
  readonly maxAnswer: number;
  readonly whenLost: "refuse" | "run";
}

/** A key, and whose it is. */
interface KeyOwner {
  readonly caller: string;
  readonly key: string;
}

/** A request with an idempotency key: the guard before its handler. */
export class IdempotentRequest implements HandlerGuard {
  readonly isTransaction: boolean;
  isReplay = false;
  mustKeep = false;
  readonly #store: IdempotencyStore;
  readonly #request: InputRequest;
  readonly #settings: KeySettings;
  readonly #owner: KeyOwner;
  readonly #token: string = crypto.randomUUID();
  #digest = "";
  #fingerprint = "";
  #isClaimed = false;
  #extending: ReturnType<typeof setInterval> | undefined = undefined;

  constructor(store: IdempotencyStore, request: InputRequest, settings: KeySettings, owner: KeyOwner) {
    this.#store = store;
    this.isTransaction = store.isTransaction === true;
    this.#request = request;
    this.#settings = settings;
    this.#owner = owner;
  }

  async enter(): Promise<Answer | undefined> {
    const { method, rawPath, search, bytes, now } = this.#request;
    const { caller, key } = this.#owner;
    this.#digest = await digestOf(JSON.stringify([caller, key]), none);
    this.#fingerprint = await digestOf(`${method} ${decodedPath(rawPath)}?${search}\n`, bytes);
    const { keepMs, leaseMs, whenLost } = this.#settings;
    const claim = {
      fingerprint: this.#fingerprint,
      token: this.#token,
      // The key stays known while the handler runs, for however short a time its answer is kept.
      keepMs: Math.max(keepMs, leaseMs),
      leaseMs,
      takesOver: whenLost === "run",
      caller,
    };
    const entry = checkedEntry(await this.#claim(claim, now));
    if (entry !== undefined) return this.#instead(entry);
    this.#isClaimed = true;
    if (!this.isTransaction) this.#extend();
    return undefined;
  }

  async #claim(claim: IdempotencyClaim, now: Date): Promise<unknown> {
    try {
      return await this.#store.claim(this.#digest, claim, now);
    } catch (thrown) {
      // The store may have claimed it, and only its reply be lost.
      if (!this.isTransaction && !isA(NotClaimed, thrown)) {
        const freed = this.#free().catch(() => {});
        this.#request.exchange.keepAlive?.(freed);
      }
      throw thrown;
    }
  }

  async read(answer: Answer): Promise<Answer> {
    return this.#isClaimed && !isPassing(answer.status) ? readBody(answer, this.#settings.maxAnswer) : answer;
  }

  async leave(answer: Answer, end: GuardedEnd): Promise<Answer> {
    if (!this.#isClaimed) return answer;
    clearInterval(this.#extending);
    // It may be done: the next request with the key learns that it is not known.
    if (end === "outcome unknown") return answer;
    if (end === "failed" || isPassing(answer.status)) {
      await this.#free();
    } else await this.#keep(answer);
    return answer;
  }

  endedLate(answer: Answer | undefined, isUndone = false): Promise<void> | undefined {
    if (!this.#isClaimed) return undefined;
    clearInterval(this.#extending);
    // A transaction is rolled back by now. What raised may have done a part of its work, so its key is not freed.
    if (this.isTransaction || answer === undefined) return undefined;
    if (isPassing(answer.status)) return this.#free();
    // With another transaction than the store's only a part of its work is rolled back: its key is not freed either.
    return !isUndone || answer.refused !== undefined ? this.#keepLate(answer) : undefined;
  }

  // A deadline does not end what is written of a claim: the handler runs on after it, and the key would count as lost.
  // `async`: a store of the application's may throw at once.
  async #free(): Promise<void> {
    await withoutDeadline(() => this.#store.free(this.#digest, this.#token));
  }

  async #keepLate(answer: Answer): Promise<void> {
    const read = await this.read(answer);
    await this.#keep(read);
    // The rest of a stream that is too long to be kept is not read.
    if (isStream(read.body)) read.body.abandon?.();
  }

  async #keep(answer: Answer): Promise<void> {
    this.mustKeep = this.isTransaction;
    const kept = {
      fingerprint: this.#fingerprint,
      token: this.#token,
      answer: keptText(answer, this.#settings.maxAnswer),
      keepMs: this.#settings.keepMs,
      refused: answer.refused,
    };
    const isKept = await withoutDeadline(() => this.#store.keep(this.#digest, kept, this.#request.now));
    if (!isKept) throw new Error("another request has claimed the idempotency key meanwhile");
  }

  #instead({ fingerprint, answer, leaseMs }: IdempotencyEntry): Answer {
    if (fingerprint !== undefined && fingerprint !== this.#fingerprint) {
      return refusalAnswer(new Refusal(reused, sentences.reused, {}));
    }
    const kept = answer === undefined ? undefined : answerFromText(answer);
    if (kept !== undefined) {
      this.isReplay = true;
      return kept;
    }
    if (answer === undefined && leaseMs > 0) {
      return refusalAnswer(new Refusal(inUse, sentences.inUse, { headers: soon }));
    }
    return refusalAnswer(new Refusal(answerLost, sentences.lost, {}));
  }

  /** Lets the claim hold for as long as the handler runs. */
  #extend(): void {
    const { leaseMs } = this.#settings;
    const extending = async (): Promise<void> => this.#store.extend(this.#digest, this.#token, leaseMs);
    const extend = (): void => inBackground(extending());
    this.#extending = withoutDeadline(() => setInterval(extend, Math.ceil(leaseMs / 3)));
    unrefTimer(this.#extending);
  }
}

const none = new Uint8Array();

/** A failure of the server, and 429: a later request may be answered otherwise. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 429;
}

/** From JavaScript a store may give anything, and a request whose key is not claimed must not run. */
function checkedEntry(entry: unknown): IdempotencyEntry | undefined {
  if (entry === undefined) return undefined;
  if (isObject(entry) && "leaseMs" in entry) return entry as unknown as IdempotencyEntry;
  throw new TypeError("Idempotency.by: claim of the store must return undefined or an entry");
}

/** The SHA-256 of a text and bytes, in hexadecimal digits. */
async function digestOf(text: string, bytes: Uint8Array): Promise<string> {
  const start = losslessBytes(text);
  const all = new Uint8Array(start.byteLength + bytes.byteLength);
  all.set(start);
  all.set(bytes, start.byteLength);
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", all)));
}
