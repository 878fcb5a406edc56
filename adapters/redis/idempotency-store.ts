import { needsOptions, needsText } from "../../src/arguments.ts";
import { RefusingError, busy, refuse } from "../../src/refusals.ts";
import type { Refusal } from "../../src/refusals.ts";
import { LostClaims, NotClaimed } from "../../src/doors/security.ts";
import type {
  IdempotencyAnswer,
  IdempotencyClaim,
  IdempotencyEntry,
  IdempotencyStore,
} from "../../src/doors/security.ts";
import { connectionTo, needsServer, script } from "./client.ts";
import type { RedisClient, Script, ScriptConnection } from "./client.ts";
import { needsWait } from "./closing.ts";

/** The options of a store of idempotency keys. */
export interface IdempotencyStoreOptions {
  /** The prefix of its keys: `usher-idempotency:` unless set. */
  readonly prefix?: string;
  /** How long a request waits for the server: 1,000 ms unless set. Then it is refused with 503 `busy`, as are others until the answer comes. */
  readonly waitMs?: number;
}

/** A store of idempotency keys on a connection of its own. */
export interface OpenIdempotencyStore extends IdempotencyStore {
  /** Ends its connection to Redis. */
  close(): Promise<void>;
}

// The server's clock, in milliseconds: the clocks of the processes may differ.
const clock = "local time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\n";
const isOwn = "redis.call('HGET', KEYS[1], 'token') == ARGV[1] and redis.call('HEXISTS', KEYS[1], 'answer') == 0";

const claim = script(`${clock}
local fingerprint, token, lease, keep, takes_over = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local known = redis.call('HMGET', KEYS[1], 'fingerprint', 'token', 'until', 'answer')
if known[1] then
  local left = tonumber(known[3]) - now
  local is_free = not known[4] and (known[2] == token or (takes_over == '1' and left <= 0))
  if not is_free then
    if known[4] then return {known[1], tostring(left), known[4]} end
    return {known[1], tostring(left)}
  end
end
redis.call('HSET', KEYS[1], 'fingerprint', fingerprint, 'token', token, 'until', string.format('%.0f', now + lease))
redis.call('PEXPIRE', KEYS[1], keep)
return {}
`);
const keep = script(`if ${isOwn} then
  redis.call('HSET', KEYS[1], 'answer', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return {'1'}
end
return {}
`);
const extend = script(`${clock}
if ${isOwn} then
  redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + ARGV[2]))
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
end
return {}
`);
const free = script(`if ${isOwn} then redis.call('DEL', KEYS[1]) end
return {}
`);

const doesNotAnswer = refuse(busy, undefined, { detail: "the store of idempotency keys does not answer" });
const away = "the server is away, or slow";

/** The server is away, or slow: what needs its key does not run. */
class StoreAway extends RefusingError {
  override readonly name: string = "StoreAway";
  readonly refusal: Refusal = doesNotAnswer;
}

/** As {@link StoreAway}, and the claim was not sent. */
class ClaimUnsent extends NotClaimed {
  override readonly name: string = "StoreAway";
  readonly refusal: Refusal = doesNotAnswer;
}

/** The server answered with an error, as OOM or LOADING: the script did nothing, and so claimed nothing. */
class StoreRefuses extends NotClaimed {
  override readonly name: string = "StoreRefuses";
  readonly refusal: Refusal;

  constructor(code: string) {
    super(`the server answers ${code}`);
    this.refusal = refuse(busy, undefined, { detail: `the store of idempotency keys answers ${code}` });
  }
}

/**
 * A store for `Idempotency.by` in Redis 6 or newer, or Valkey, shared by all processes. While the server is unreachable or slow, a
 * request with a key is refused with 503 `busy`, and does not run.
 *
 * A key that the server forgets is done again. Let it write to its disk (`appendonly yes`, with `appendfsync always` where not even a
 * second may be lost), and evict nothing (`maxmemory-policy noeviction`).
 *
 * ```ts
 * const store = await idempotencyStore("redis://localhost:6379");
 * const once = Idempotency.by(store, { caller: accountId });
 * ```
 *
 * @param server A URL, also of a node of a cluster; or a connected client of the package `redis`, as of `createCluster` or
 * `createSentinel`, which `close` leaves open.
 * @throws Error if the server cannot be reached.
 */
export async function idempotencyStore(
  server: string | RedisClient,
  options: IdempotencyStoreOptions = {},
): Promise<OpenIdempotencyStore> {
  needsServer("idempotencyStore", server);
  needsOptions("idempotencyStore", options, "prefix waitMs");
  const { prefix = "usher-idempotency:", waitMs = 1000 } = options;
  needsText("idempotencyStore: prefix", prefix);
  needsWait("idempotencyStore", waitMs);
  return new RedisIdempotencyStore(await connectionTo("idempotencyStore", server), prefix, waitMs);
}

class RedisIdempotencyStore implements OpenIdempotencyStore {
  readonly #client: ScriptConnection;
  readonly #prefix: string;
  readonly #waitMs: number;
  readonly #lost = new LostClaims((digest, token) => this.#run(free, digest, [token]));

  constructor(client: ScriptConnection, prefix: string, waitMs: number) {
    this.#client = client;
    client.onConnected(() => this.#lost.free());
    this.#prefix = prefix;
    this.#waitMs = waitMs;
  }

  async claim(
    digest: string,
    { fingerprint, token, leaseMs, keepMs, takesOver }: IdempotencyClaim,
  ): Promise<IdempotencyEntry | undefined> {
    const given = [fingerprint, token, String(leaseMs), String(keepMs), takesOver ? "1" : "0"];
    if (!this.#client.isAnswering) throw new ClaimUnsent(away);
    const [known, left, answer] = await this.#run(claim, digest, given);
    return known === undefined ? undefined : { fingerprint: known, answer, leaseMs: Number(left) };
  }

  async keep(digest: string, { token, answer, keepMs }: IdempotencyAnswer): Promise<boolean> {
    return (await this.#run(keep, digest, [token, answer, String(keepMs)])).length > 0;
  }

  async extend(digest: string, token: string, leaseMs: number): Promise<void> {
    if (!this.#client.isAnswering) throw new StoreAway(away);
    await this.#run(extend, digest, [token, String(leaseMs)]);
  }

  // As `keep`, it is sent also while a call is late: of a claim whose answer is late the key must be free again.
  async free(digest: string, token: string): Promise<void> {
    try {
      await this.#run(free, digest, [token]);
    } catch (thrown) {
      this.#lost.add(digest, token);
      throw thrown;
    }
  }

  close(): Promise<void> {
    return this.#client.close(this.#waitMs);
  }

  async #run(script: Script, digest: string, given: string[]): Promise<readonly string[]> {
    let answer: readonly string[];
    try {
      answer = (await this.#client.run(script, this.#prefix + digest, given, this.#waitMs)) as readonly string[];
    } catch (thrown) {
      const code = this.#client.serverCodeOf(thrown);
      throw code === undefined ? new StoreAway(away) : new StoreRefuses(code);
    }
    this.#lost.free();
    return answer;
  }
}
