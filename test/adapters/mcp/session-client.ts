/** A client of before 2026-07-28 in its session, over HTTP, wherever the server runs. */
import { eventually } from "../../support/eventually.ts";

export type Headers = { readonly [name: string]: string };
type Message = { readonly id?: unknown; readonly method: string; readonly params?: object };

/** The requests of a client, and their server. */
interface Sending {
  readonly headers?: Headers;
  readonly signal?: AbortSignal;
}

/**
 * Each request has a connection of its own: one that is kept may be closed by its server while a request is sent on it. `fetch` of
 * Node does not repeat a request that this breaks.
 */
export const single: Headers = { connection: "close" };

export function sendTo(url: string, message: Message, { headers = {}, signal }: Sending = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      ...single,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    ...(signal === undefined ? {} : { signal }),
  });
}

export const idsOf = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id);
export const numbersOf = (text: string) => [...text.matchAll(/\\"n\\":(\d+)/g)].map(([, n]) => Number(n));

let sessions = 0;

/** An open session. */
export class SessionClient {
  readonly url: string;
  readonly headers: Headers;
  readonly id: string;
  /** The topic of its calls: of no other session. */
  readonly topic: string = `topic ${++sessions}`;

  private constructor(url: string, headers: Headers, id: string) {
    this.url = url;
    this.headers = headers;
    this.id = id;
  }

  static async open(url: string, headers: Headers = {}, protocolVersion = "2025-11-25"): Promise<SessionClient> {
    const opened = await sendTo(url, { id: 0, method: "initialize", params: { protocolVersion } }, { headers });
    const id = opened.headers.get("mcp-session-id");
    if (opened.status !== 200 || id === null) throw new Error(`no session: ${opened.status} ${await opened.text()}`);
    await opened.body?.cancel();
    return new SessionClient(url, headers, id);
  }

  /** The same session, at the current URL of its server. */
  at(url: string): SessionClient {
    return new SessionClient(url, this.headers, this.id);
  }

  /** Sends a message, with the credentials of the session unless others are given. */
  send(message: Message, { headers = this.headers, signal }: Sending = {}): Promise<Response> {
    const own = { ...headers, "mcp-session-id": this.id };
    return sendTo(this.url, message, signal === undefined ? { headers: own } : { headers: own, signal });
  }

  /** The status of a ping. */
  async ping(headers: Headers = this.headers): Promise<number> {
    const { status, body } = await this.send({ id: "ping", method: "ping" }, { headers });
    await body?.cancel();
    return status;
  }

  /** Sends a request without a message. */
  request(method: string, more: Headers = {}, headers: Headers = this.headers): Promise<Response> {
    return fetch(this.url, { method, headers: { ...single, ...headers, ...more, "mcp-session-id": this.id } });
  }

  resume(last: string): Promise<Response> {
    return this.request("GET", { "last-event-id": last });
  }

  /** The text of a tool's answer. */
  async call(name: string, given: object = {}): Promise<string> {
    const params = { name, arguments: { topic: this.topic, ...given } };
    const answered = await this.send({ id: `call ${name}`, method: "tools/call", params });
    const { result } = (await answered.json()) as {
      readonly result: { readonly content: readonly [{ text: string }] };
    };
    return result.content[0].text;
  }

  async publish(n: number): Promise<void> {
    await this.call("publish", { n });
  }

  /** Waits until this number of calls of the session follow its topic. */
  async follows(count: number): Promise<void> {
    await eventually(async () => {
      const now = await this.call("following");
      if (now !== String(count)) throw new Error(`${now} calls follow, and not ${count}`);
    });
  }

  /** Starts a call that runs until the test ends it. */
  begin(name: "follow" | "waits", id: unknown, signal?: AbortSignal): Promise<Response> {
    const params = { name, arguments: { topic: this.topic }, _meta: { progressToken: "t" } };
    return this.send({ id, method: "tools/call", params }, signal === undefined ? {} : { signal });
  }

  cancel(requestId: unknown): Promise<Response> {
    return this.send({ method: "notifications/cancelled", params: { requestId } });
  }

  /** Follows, and disconnects at an event that has this text; returns the received events. */
  async leaveAt(part: string): Promise<string> {
    const leaving = new AbortController();
    const { body } = await this.begin("follow", "left", leaving.signal);
    const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never).getReader();
    let text = "";
    await this.follows(1);
    await this.publish(1);
    while (!text.includes(part)) text += ((await reader.read()) as { value: string }).value;
    leaving.abort();
    await reader.read().catch(() => undefined);
    return text;
  }
}
