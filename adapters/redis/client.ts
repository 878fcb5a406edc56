/** Connections to Redis or Valkey for scripts: to one server, to a cluster, or by a client of the application's. */
import { createHash } from "node:crypto";
import timers, { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import type * as redis from "redis";
import { isObject, needs } from "../../src/arguments.ts";
import { inTime, installed } from "../../src/doors/base.ts";
import { closed, needsReadable, needsUrl } from "./closing.ts";

// How long the server may take to answer; also the interval of pings.
const connectMs = 5000;
const maxBackoffMs = 2000;

function backoffMs(tries: number): number {
  return Math.min(maxBackoffMs, 50 * 2 ** Math.min(tries, 6));
}

/** A script, and the digest by which the server knows it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** What is used of the package. */
export type RedisPackage = Pick<typeof redis, "ErrorReply" | "createClient" | "createCluster">;

/** Loads it for a function of this entry. */
export async function loadRedis(maker: string): Promise<RedisPackage> {
  // The package is CommonJS: where a bundler has split it off, the default alone has its exports.
  return (await installed(maker, "redis", () => import("redis"))).default;
}

/** What is used of a client of the package `redis`: of `createClient`, `createCluster` or `createSentinel`. */
export interface RedisClient {
  /** Whether it is connected. */
  readonly isReady: boolean;
  /** Runs a script that the server knows by its digest. */
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script by its text. */
  eval(text: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** Throws where a value is neither a URL of a server nor a client. */
export function needsServer(maker: string, server: unknown): void {
  if (typeof server === "string") return needsUrl(maker, server);
  const isClient = isObject(server) && typeof server["evalSha"] === "function" && typeof server["eval"] === "function";
  needs(isClient, `${maker}: its server`, server, "a redis: or rediss: URL, or a client of the package redis");
}

/**
 * A connection to what `server` names. A URL may be of one node of a cluster: the package's cluster client finds the other nodes.
 *
 * @param maker The function that needs it.
 * @throws Error if the server cannot be reached.
 */
export async function connectionTo(maker: string, server: string | RedisClient): Promise<ScriptConnection> {
  const driver = await loadRedis(maker);
  if (typeof server !== "string") {
    if (!server.isReady) throw new Error("the client is not connected: await its connect() before");
    return new GivenConnection(driver, server);
  }
  const connection = new ServerConnection(driver, server);
  await connection.connect();
  if (!(await connection.isOfCluster())) return connection;
  connection.destroy();
  const cluster = new ClusterConnection(driver, server);
  await cluster.connect();
  return cluster;
}

/** Runs scripts, each with one key: so a cluster needs no hash tags, and a script is always of one slot. */
export abstract class ScriptConnection {
  #isLate = false;
  #closing: Promise<void> | undefined = undefined;
  readonly #driver: RedisPackage;

  protected abstract readonly client: RedisClient;

  constructor(driver: RedisPackage) {
    this.#driver = driver;
  }

  /** Calls it each time that a lost connection is there again. */
  abstract onConnected(connected: () => void): void;
  abstract destroy(): void;
  protected abstract end(waitMs: number): Promise<void>;
  /** What is done where the server is a replica now. */
  protected leaveReplica(): void {}

  get isReady(): boolean {
    return this.client.isReady;
  }

  /** Whether a call is late. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /**
   * Whether it is connected and no call is late. Otherwise nothing should be sent that can be left out: calls would pile up, and as
   * `socketTimeout` counts what is written too, a server that stopped answering would not be left.
   */
  get isAnswering(): boolean {
    return this.isReady && !this.#isLate;
  }

  /** The code of an error that the server answered, as OOM or NOPERM; undefined where it did not answer. Its text may have a key. */
  serverCodeOf(thrown: unknown): string | undefined {
    return thrown instanceof this.#driver.ErrorReply ? (/^[A-Z]+/.exec(thrown.message)?.[0] ?? "ERR") : undefined;
  }

  /** Rejects where the server is away, or does not answer within `waitMs`. */
  run(script: Script, key: string, given: string[], waitMs: number): Promise<unknown> {
    return this.inTime(this.#run(script, key, given), waitMs);
  }

  protected inTime(call: Promise<unknown>, waitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const late = (): void => {
        this.#isLate = true;
        reject(new Error("the server is slow"));
      };
      const timer = setTimeout(late, waitMs);
      const settled = (): void => {
        clearTimeout(timer);
        this.#isLate = false;
      };
      call.finally(settled).then(resolve, reject);
    });
  }

  async #run(script: Script, key: string, given: string[]): Promise<unknown> {
    try {
      return await this.#eval(script, { keys: [key], arguments: given });
    } catch (thrown) {
      if (thrown instanceof Error && thrown.message.includes("READONLY")) this.leaveReplica();
      throw thrown;
    }
  }

  async #eval({ sha, text }: Script, options: { keys: string[]; arguments: string[] }): Promise<unknown> {
    try {
      return await this.client.evalSha(sha, options);
    } catch (thrown) {
      if (!(thrown instanceof Error && thrown.message.startsWith("NOSCRIPT"))) throw thrown;
      return this.client.eval(text, options);
    }
  }

  /** Ends it, and waits at most `waitMs` for its pending calls. */
  close(waitMs: number): Promise<void> {
    // The package's client refuses a second call while it waits.
    return (this.#closing ??= this.end(waitMs));
  }
}

/** A client of the application's, which connects and ends it. */
class GivenConnection extends ScriptConnection {
  protected readonly client: RedisClient;

  constructor(driver: RedisPackage, client: RedisClient) {
    super(driver);
    this.client = client;
  }

  /** What was not freed is freed after the next call that works. */
  onConnected(): void {}
  destroy(): void {}
  protected async end(): Promise<void> {}
}

class ServerConnection extends ScriptConnection {
  protected readonly client: ReturnType<typeof clientOf>;
  #isClosed = false;
  #pings: ReturnType<typeof setInterval> | undefined = undefined;
  #reconnecting: ReturnType<typeof setTimeout> | undefined = undefined;
  #tries = 0;
  #connected = (): void => {};

  constructor(driver: RedisPackage, url: string) {
    super(driver);
    // Only the first connection is the package's own to try again: its timers keep the process running.
    this.client = clientOf(driver, url, (tries) => (this.#pings === undefined ? backoffMs(tries) : false));
    // Without a listener an error ends the process.
    this.client.on("error", () => {
      // It is connected after an answer that it could not read, and would take each later one for that of the call before.
      if (this.client.isReady) this.client.destroy();
      this.#reconnect(backoffMs(this.#tries));
    });
    // A client destroyed while its socket connects still connects.
    this.client.on("ready", () => {
      this.#tries = 0;
      if (this.client.isOpen) this.#connected();
      else this.destroy();
    });
  }

  onConnected(connected: () => void): void {
    this.#connected = connected;
  }

  /** @throws Error if the server cannot be reached. */
  async connect(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), connectMs);
    try {
      await this.client.connect();
    } finally {
      clearTimeout(timer);
    }
    if (!this.client.isOpen) throw new Error(`the server did not answer within ${connectMs} ms`);
    // The store alone must not keep the process running. The package's own `pingInterval` would, until its next ping.
    this.client.unref();
    this.#pings = setInterval(() => this.#ping(), connectMs).unref();
  }

  /** Whether the server is a node of a cluster. Where it does not say so in time, it is taken as one server. */
  async isOfCluster(): Promise<boolean> {
    try {
      const hello = (await this.inTime(this.client.hello(3), connectMs)) as { readonly mode?: unknown };
      return hello.mode === "cluster";
    } catch {
      return false;
    }
  }

  /** After a failover that left connections open: the server that took over is reached by the same name. */
  protected override leaveReplica(): void {
    if (this.#isClosed) return;
    this.client.destroy();
    this.#reconnect(maxBackoffMs);
  }

  /** Connects again after a while, where it is neither connected nor connecting. */
  #reconnect(ms: number): void {
    if (this.#isClosed || this.client.isOpen || this.#reconnecting !== undefined) return;
    this.#reconnecting = setTimeout(() => {
      this.#reconnecting = undefined;
      this.#tries++;
      // It is an "error" event, too.
      this.client.connect().catch(() => {});
    }, ms).unref();
  }

  /** Detects a server that stopped answering without closing the connection. */
  #ping(): void {
    if (this.isAnswering) this.inTime(this.client.ping(), connectMs).catch(() => {});
  }

  destroy(): void {
    this.#isClosed = true;
    clearInterval(this.#pings);
    clearTimeout(this.#reconnecting);
    this.client.destroy();
  }

  protected async end(waitMs: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#pings);
    if (!this.isReady) {
      this.destroy();
      return;
    }
    const timer = setTimeout(() => this.destroy(), waitMs);
    await closed(this.client);
    clearTimeout(timer);
  }
}

/**
 * The package's client of a cluster: it finds the nodes, follows `MOVED` and `ASK`, and finds the node that takes over. While a node is
 * away, its timers keep the process running until the store is closed.
 */
class ClusterConnection extends ScriptConnection {
  protected readonly client: ReturnType<typeof clusterOf>;
  #pings: ReturnType<typeof setInterval> | undefined = undefined;
  #connected = (): void => {};

  constructor(driver: RedisPackage, url: string) {
    super(driver);
    this.client = clusterOf(driver, url);
    // Without a listener an error ends the process.
    this.client.on("error", () => {});
    this.client.on("node-ready", () => {
      for (const node of this.#nodes()) node.unref();
      this.#connected();
    });
  }

  onConnected(connected: () => void): void {
    this.#connected = connected;
  }

  async connect(): Promise<void> {
    const connecting = this.client.connect();
    // It does not settle with the end of its client.
    if (!(await inTime(connecting, 2 * connectMs, timers))) {
      this.destroy();
      // Once it learns of the nodes it connects to them all the same.
      const leave = (): void => this.destroy();
      connecting.then(leave, leave);
      throw new Error(`the cluster did not answer within ${2 * connectMs} ms`);
    }
    for (const node of this.#nodes()) node.unref();
    this.#pings = setInterval(() => this.#ping(), connectMs).unref();
  }

  *#nodes() {
    for (const { client } of this.client.masters) if (client !== undefined) yield client;
  }

  /** Also keeps an idle connection from its `socketTimeout`. */
  #ping(): void {
    for (const node of this.#nodes()) if (node.isReady) node.ping().catch(() => {});
  }

  destroy(): void {
    clearInterval(this.#pings);
    this.client.destroy();
  }

  protected async end(waitMs: number): Promise<void> {
    clearInterval(this.#pings);
    // The client forgets its nodes as it begins to close them.
    const nodes = [...this.#nodes()];
    const timer = setTimeout(() => {
      for (const node of nodes) node.destroy();
    }, waitMs);
    // A node that is away is not ready: its `close()` would wait for what is never sent.
    for (const node of nodes) if (!node.isReady) node.destroy();
    await this.client.close().catch(() => {});
    clearTimeout(timer);
  }
}

/** The package catches no error of a move that fails, which would end the process. */
const maintNotifications = "disabled";

function clientOf({ createClient }: RedisPackage, url: string, reconnectStrategy: (tries: number) => number | false) {
  needsReadable(url);
  return createClient({
    url,
    RESP: 3,
    disableOfflineQueue: true,
    maintNotifications,
    socket: {
      connectTimeout: connectMs,
      socketTimeout: 3 * connectMs,
      reconnectStrategy,
    },
  });
}

/** How long a node is away before the others are asked which one took over. */
const askOthersMs = 500;

function clusterOf({ createCluster }: RedisPackage, url: string) {
  const { username, password, protocol } = new URL(url);
  const socket = { connectTimeout: connectMs, socketTimeout: 3 * connectMs, reconnectStrategy: backoffMs };
  return createCluster({
    rootNodes: [{ url }],
    RESP: 3,
    topologyRefreshOnReconnectionAttemptStrategy: askOthersMs,
    // The root node's own settings are for that node alone.
    defaults: {
      ...(username === "" ? {} : { username: decodeURIComponent(username) }),
      ...(password === "" ? {} : { password: decodeURIComponent(password) }),
      disableOfflineQueue: true,
      maintNotifications,
      socket: protocol === "rediss:" ? { ...socket, tls: true } : socket,
    },
  });
}
