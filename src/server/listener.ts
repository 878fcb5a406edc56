import type { App } from "../app/app.ts";
import { CountedLog } from "../app/counted-log.ts";
import { logListener, logRunning, logStopped, logStopping, logUnsettled } from "../app/failures.ts";
import type { InFlightCounts } from "../app/failures.ts";
import { guarded, inBackground, logRaised } from "../logging/raised.ts";
import { Deadlines } from "./deadlines.ts";
import { SendBudget } from "./send-budget.ts";
import type { SendCut, SendLimits } from "./send-budget.ts";
import { isTaken, takenError } from "./listen.ts";
import type { Limits, Server } from "./options.ts";
import { settled } from "./settle.ts";
import type { Certificates } from "./tls.ts";

/** The address that a listener is bound to. */
export interface ListenAddress {
  /** 0 on a Unix socket. */
  readonly port: number;
  readonly url: string;
  /** The addresses, for the log. */
  readonly bound: string;
}

/** The signals of a runtime that ask a process to stop. */
export interface StopSignals {
  readonly listen: (act: () => void) => unknown;
  readonly forget: (act: () => void) => unknown;
}

/** The least time for work after the last answer, even if that answer was late. */
const leastSettleMs = 1000;

/** The life of a server on any runtime: start, stop signals, drain, stop. An adapter listens and drains. */
export abstract class Listener implements Server {
  readonly app: App;
  readonly deadlines: Deadlines;
  /** What waits to be sent. */
  readonly unsent: SendBudget;
  readonly sendTimeoutMs: number;
  port = 0;
  url = "";
  /** For an exchange: what encrypts its connection. */
  readonly scheme: "https" | undefined;
  stopping = false;
  readonly stopped: Promise<number>;
  /** Whether a signal asked for the stop. */
  protected isSignalled = false;
  protected readonly limits: Limits;
  readonly #signals: StopSignals;
  readonly #cuts: CutLogs;
  #beginStop: () => void = () => {};

  protected constructor(app: App, limits: Limits, signals: StopSignals) {
    this.app = app;
    this.limits = limits;
    this.scheme = limits.tls === undefined ? undefined : "https";
    this.deadlines = new Deadlines(limits);
    this.sendTimeoutMs = limits.sendTimeoutMs;
    this.#cuts = new CutLogs(limits);
    this.unsent = new SendBudget(limits, this.deadlines, (why) => this.#cuts.count(why));
    this.#signals = signals;
    this.stopped = new Promise((resolve) => {
      this.#beginStop = () => resolve(this.#stop());
    });
  }

  /** @param warnings What the runtime does not do as the options say. */
  async start(warnings: readonly string[] = []): Promise<void> {
    const { port, url, bound } = await this.#listen();
    this.port = port;
    this.url = url;
    if (this.limits.signals) this.#signals.listen(this.#onSignal);
    this.deadlines.start();
    logListener("info", `listening on ${url} (${bound})`);
    for (const warning of warnings) logListener("warn", warning);
  }

  /** Stops once, however often it is called. */
  stop(): Promise<number> {
    this.#beginStop();
    this.#beginStop = () => {};
    return this.stopped;
  }

  abstract replaceCertificates(certificates: Certificates): void;

  /** Opens the listening sockets. */
  protected abstract listen(): Promise<ListenAddress>;

  protected abstract get inFlight(): InFlightCounts;

  /** Refuses new requests, waits at most `drainMs` for those in flight, and cuts the rest. Resolves with their number. */
  protected abstract drain(drainMs: number): Promise<number>;

  /** Called once the server has stopped. */
  protected afterStop(): void {}

  readonly #onSignal: () => void = guarded(undefined, () => {
    this.isSignalled = true;
    // A second signal finds no listener, and has its default effect.
    this.#signals.forget(this.#onSignal);
    inBackground(this.stop());
  });

  async #listen(): Promise<ListenAddress> {
    try {
      return await this.listen();
    } catch (thrown) {
      throw isTaken(thrown) ? takenError(this.limits) : thrown;
    }
  }

  async #stop(): Promise<number> {
    const { drainMs } = this.limits;
    this.stopping = true;
    this.app.drain();
    logStopping(this.inFlight);
    const end = performance.now() + drainMs;
    const cut = await this.drain(drainMs);
    this.deadlines.stop();
    this.#cuts.stop();
    await this.#settle(Math.max(leastSettleMs, end - performance.now()));
    await this.#flush();
    // Until now a signal is the first one: a pre-stop hook may have called `stop`, and the process gets SIGTERM meanwhile.
    this.#signals.forget(this.#onSignal);
    logStopped(cut, drainMs);
    this.afterStop();
    return cut;
  }

  /** An exporter of the application's own may fail, which does not keep the server from stopping. */
  async #flush(): Promise<void> {
    try {
      await this.app.flush?.();
    } catch (thrown) {
      logRaised("the flush of the exporter raised", thrown);
    }
  }

  /** Waits for what no request waits for. */
  async #settle(ms: number): Promise<void> {
    logUnsettled(await settled(this.app, ms));
    logRunning(this.app.background?.running ?? []);
  }
}

/** The logs of clients that are disconnected because of what waits for them: at most one line a minute for each cause. */
export class CutLogs {
  readonly #logs: { readonly [why in SendCut]: CountedLog };

  constructor({ sendBudget, minSendRate }: SendLimits & { readonly minSendRate: number }) {
    const past = `clients disconnected past sendBudget (${sendBudget}) or sendShare, which read nothing`;
    const slow = `clients disconnected that read fewer bytes a second than minSendRate (${minSendRate})`;
    this.#logs = { "past budget": new CountedLog("warn", past), slow: new CountedLog("warn", slow) };
  }

  count(why: SendCut): void {
    this.#logs[why].count();
  }

  /** Logs what was counted since the last lines. */
  stop(): void {
    this.#logs["past budget"].stop();
    this.#logs.slow.stop();
  }
}
