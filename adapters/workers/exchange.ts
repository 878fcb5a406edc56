import type { Exchange } from "../../src/app/exchange.ts";
import { inTime } from "../../src/doors/base.ts";
import { caught } from "../../src/doors/logging.ts";
import { FetchExchange, announcesBody } from "../../src/doors/apps.ts";
import type { CertificateHolder } from "../../src/doors/inputs.ts";

/** The used part of the context of a Worker's `fetch`. */
export interface WorkerContext {
  /** Keeps the Worker running until the promise is settled. */
  waitUntil(work: Promise<unknown>): void;
}

/** The used part of what Cloudflare adds to a request. */
interface CloudflareRequest extends Request {
  readonly cf?: Pick<CertificateHolder, "tlsClientAuth"> | undefined;
}

const keepAliveMs = 60_000;
/**
 * The separator of cookie lines that workerd joined. A sibling domain can set a cookie with this text in its value, so a cookie behind
 * it never has a name that only the site itself can set.
 */
const cookieSeparator = /, (?!__(?:Host|Secure)-)(?=[!#$%&'*+.^`|~\w-]+=)/i;

/** The cookies of joined lines. Those behind a comma are last: where one may be a part of a value, the other is the cookie. */
function cookieLines(joined: string): readonly string[] {
  const cookies = joined.split(";").map((cookie) => cookie.split(cookieSeparator));
  const own = cookies.map((split) => split.shift());
  return [own.join(";"), ...cookies.flat()];
}

/**
 * An exchange over a Worker's request. Without the flag `enable_request_signal` its signal never aborts, but `left` is
 * called.
 */
export class WorkerExchange extends FetchExchange implements Exchange {
  readonly listener = "a Worker";
  readonly #request: Request;
  readonly #context: WorkerContext;

  readonly #behindCloudflare: boolean;

  constructor(request: Request, peer: string, context: WorkerContext, behindCloudflare: boolean = false) {
    super(request, peer);
    this.#request = request;
    this.#context = context;
    this.#behindCloudflare = behindCloudflare;
  }

  get tlsClientAuth(): CertificateHolder["tlsClientAuth"] {
    return this.#behindCloudflare ? (this.#request as CloudflareRequest).cf?.tlsClientAuth : undefined;
  }

  /**
   * Also for HTTP/1.0, because workerd does not give the version. If another protocol is offered too, on any line, workerd
   * throws at the 101, where no code can catch it.
   */
  get canUpgrade(): boolean {
    const offered = this.#request.headers.get("upgrade") ?? "";
    return this.method === "GET" && /^websocket$/i.test(offered) && !announcesBody(this.#request);
  }

  override lines(name: string): readonly string[] {
    const lines = super.lines(name);
    return name === "cookie" ? lines.flatMap(cookieLines) : lines;
  }

  /**
   * Lets work run to its end, and sends its spans. Without `waitUntil` the runtime drops it when the client goes, with everything
   * that it holds.
   * Without a timer the runtime takes work that waits for neither I/O nor time as hung, and cancels it.
   */
  override keepAlive(work: Promise<unknown>, ms?: number): void {
    const timer = setInterval(() => {}, keepAliveMs);
    const stop = (): void => clearInterval(timer);
    const failed = (thrown: unknown): void => {
      stop();
      caught(thrown, undefined);
    };
    const done = ms === undefined ? work : inTime(work, ms);
    const { flush } = this;
    // Nothing runs between requests: what ends later than its request's answer would leave its spans to the next request.
    const sent = flush === undefined ? done : done.then(flush, failed);
    this.#context.waitUntil(sent.then(stop, failed));
  }
}
