import type { Exchange } from "../../src/app/exchange.ts";
import { caught } from "../../src/logging/raised.ts";
import { FetchExchange, announcesBody } from "../../src/app/web.ts";

/** What a Worker's `fetch` is given beside its request and its bindings, as far as it is used. */
export interface WorkerContext {
  waitUntil(work: Promise<unknown>): void;
}

const keepingMs = 60_000;
/** What stands between two lines of a cookie that workerd made one: no cookie of ours has a comma, but others' may. */
const joint = /, (?=[!#$%&'*+.^`|~\w-]+=)/;

/** An exchange over a Worker's request. Without the flag `enable_request_signal` its signal never aborts, but `left` is called. */
export class WorkerExchange extends FetchExchange implements Exchange {
  readonly listener = "a Worker";
  readonly #request: Request;
  readonly #context: WorkerContext;

  constructor(request: Request, peer: string, context: WorkerContext) {
    super(request, peer);
    this.#request = request;
    this.#context = context;
  }

  /**
   * Of HTTP/1.0 too: workerd does not tell the version. Where another protocol is offered beside it, on any line, workerd
   * raises at the 101, behind everybody's back.
   */
  get canUpgrade(): boolean {
    const offered = this.#request.headers.get("upgrade") ?? "";
    return this.method === "GET" && /^websocket$/i.test(offered) && !announcesBody(this.#request);
  }

  override lines(name: string): readonly string[] {
    const lines = super.lines(name);
    return name === "cookie" ? lines.flatMap((line) => line.split(joint)) : lines;
  }

  /**
   * Lets work go on to its end. Without `waitUntil` it is dropped where it stands when the client goes, with all that it
   * holds; without a timer the runtime takes what waits for neither I/O nor time for hung, and cuts it.
   */
  keepAlive(work: Promise<unknown>): void {
    const timer = setInterval(() => {}, keepingMs);
    const stop = (): void => clearInterval(timer);
    const failed = (thrown: unknown): void => {
      stop();
      caught(thrown, undefined);
    };
    this.#context.waitUntil(work.then(stop, failed));
  }
}
