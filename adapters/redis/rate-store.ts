import { createHash } from "node:crypto";
import { needsOptions, needsText } from "../../src/arguments.ts";
import { losslessBytes } from "../../src/doors/http.ts";
import { memory } from "../../src/doors/security.ts";
import type { RateRule, RateStore } from "../../src/doors/security.ts";
import { current, log, raisedCodes } from "../../src/doors/logging.ts";
import type { Level, LogFields } from "../../src/doors/logging.ts";
import { connectionTo, needsServer, script } from "./client.ts";
import type { RedisClient, ScriptConnection } from "./client.ts";
import { needsWait } from "./closing.ts";

/** The options of a rate store. */
export interface RateStoreOptions {
  /** The prefix of its keys: `usher-rate:` unless set. */
  readonly prefix?: string;
  /** How long a request waits for the server: 200 ms unless set. */
  readonly waitMs?: number;
}

/** A rate store on a connection of its own. */
export interface OpenRateStore extends RateStore {
  /** Ends its connection to Redis. */
  close(): Promise<void>;
}

/**
 * The algorithm of `Rate.memory`, with the server's clock: the clocks of the processes may differ. Times are in
 * milliseconds. A key expires when its client need not wait any more.
 */
const take = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local known = tonumber(redis.call('GET', KEYS[1]) or '0')
local used = math.min(math.max(known, now), now + interval * burst)
local ahead = used - now - interval * (burst - 1)
local passes = ahead <= 0.001
if passes then used = used + interval end
if passes or used < known then
  redis.call('SET', KEYS[1], string.format('%.3f', used), 'PX', math.max(1, math.ceil(used - now)))
end
return passes and '0' or string.format('%.3f', ahead)
`);

/**
 * A rate store in Redis 6 or newer, or Valkey, shared by all processes. While the server is unreachable or slow, each
 * process counts alone and logs that once, so the limits still hold and no client is locked out.
 *
 * ```ts
 * const store = await rateStore("redis://localhost:6379");
 * const signIns = Rate.make({ name: "sign-ins", limit: 5, perMs: 60_000, store });
 * ```
 *
 * @param server A URL, also of a node of a cluster; or a connected client of the package `redis`, as of `createCluster` or
 * `createSentinel`, which `close` leaves open.
 * @throws Error if the server cannot be reached.
 */
export async function rateStore(server: string | RedisClient, options: RateStoreOptions = {}): Promise<OpenRateStore> {
  needsServer("rateStore", server);
  needsOptions("rateStore", options, "prefix waitMs");
  const { prefix = "usher-rate:", waitMs = 200 } = options;
  needsText("rateStore: prefix", prefix);
  needsWait("rateStore", waitMs);
  return new RedisRateStore(await connectionTo("rateStore", server), prefix, waitMs);
}

// Clients choose keys, as long as a header may be. A digest stands for a longer one, and for one that looks like a digest.
const maxKey = 128;
const digested = "sha256 ";

function shortened(key: string): string {
  if (key.length <= maxKey && key.isWellFormed() && !key.startsWith(digested)) return key;
  return digested + createHash("sha256").update(losslessBytes(key)).digest("base64url");
}

class RedisRateStore implements OpenRateStore {
  readonly #client: ScriptConnection;
  readonly #prefix: string;
  readonly #waitMs: number;
  readonly #alone: RateStore = memory();
  #isAlone = false;

  constructor(client: ScriptConnection, prefix: string, waitMs: number) {
    this.#client = client;
    this.#prefix = prefix;
    this.#waitMs = waitMs;
  }

  async take(key: string, rule: RateRule, now: Date): Promise<number> {
    try {
      const ahead = await this.#takeFromServer(this.#prefix + shortened(key), rule);
      if (this.#isAlone) this.#log("info", "rates are counted by the server again");
      this.#isAlone = false;
      return ahead;
    } catch (thrown) {
      this.#warnAlone(thrown);
      return this.#alone.take(key, rule, now);
    }
  }

  async close(): Promise<void> {
    if (this.#client.isLate) this.#client.destroy();
    else await this.#client.close(this.#waitMs);
  }

  async #takeFromServer(key: string, { intervalMs, burst }: RateRule): Promise<number> {
    if (!this.#client.isAnswering) throw new Error("the server is away");
    return Number(await this.#client.run(take, key, [String(intervalMs), String(burst)], this.#waitMs));
  }

  #warnAlone(thrown: unknown): void {
    if (this.#isAlone) return;
    this.#isAlone = true;
    const code = this.#client.serverCodeOf(thrown);
    const until = code === undefined ? " until the server answers" : `: the server answers ${code}`;
    const message = `rates are counted by this process alone${until}`;
    this.#log("warn", message, raisedCodes(thrown));
  }

  #log(level: Level, message: string, fields: LogFields = {}): void {
    log({ level, source: "framework.redis", message, fields, context: current() });
  }
}
