import type { App } from "usher-http";
import type { Expected, Lines, MessageCase, Sending } from "../case.ts";
import { lineOf } from "./request-bytes.ts";
import { differences, noAllowance } from "./seen.ts";

/** Why a case cannot be a standard `Request`; undefined if it can. */
export function unaskable({ ask, headers = [], hostless, body, answer }: MessageCase): string | undefined {
  const [method = "", target = "", version = ""] = lineOf(ask).split(" ");
  const hosts = headers.filter(([name]) => name.toLowerCase() === "host");
  if (answer.bare === true || version !== "HTTP/1.1") return "it is the listener's to answer, or the wire's to say";
  if (hostless === true || hosts.length > 1) return "a Request has one host";
  if (typeof body === "object" && "wire" in body) return "a Request's body has no framing";
  if (!target.startsWith("/")) return "a Request's target is a path";
  const host = hosts[0]?.[1] ?? "h";
  if (host === "" || !URL.canParse(`http://${host}/`)) return "a URL has no such host";
  const url = URL.parse(`http://h${target}`);
  if (url === null || url.pathname + url.search !== target) return "a URL parser changes the target";
  if (!/^[A-Z]+$/.test(method) || ["TRACE", "CONNECT", "TRACK"].includes(method)) return "a Request has no such method";
  if ((method === "GET" || method === "HEAD") && body !== undefined) return "a Request of this method has no body";
  return undefined;
}

/** Sends a request to an app without a socket. */
export async function askFetch(app: App, one: MessageCase): Promise<readonly string[]> {
  const response = await app.fetch(requestOf(one), { peer: "127.0.0.1" });
  const head = [...response.headers].filter(([name]) => name !== "set-cookie");
  for (const value of response.headers.getSetCookie()) head.push(["set-cookie", value]);
  const seen = { status: response.status, head, body: await response.text() };
  return differences(seen, unframed(one.answer), {
    toHead: one.ask.startsWith("HEAD "),
    oldVersion: false,
    // When the application itself ends the connection, its answer has that header.
    allows: { ...noAllowance, writes: (name) => name === "connection" && one.answer.after === "closed" },
  });
}

/** A case as a standard `Request`. */
export function requestOf({ ask, headers = [], body }: MessageCase): Request {
  const [method = "", target = ""] = lineOf(ask).split(" ");
  const host = headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? "h";
  const init = { method, headers: [["host", host], ...headers.filter(([name]) => name.toLowerCase() !== "host")] };
  const url = `http://${host}${target}`;
  if (body === undefined) return new Request(url, init as RequestInit);
  const length = typeof body === "string" || ArrayBuffer.isView(body) ? Buffer.byteLength(body) : undefined;
  if (length !== undefined) init.headers.push(["content-length", String(length)]);
  // A stream, for which the platform invents no type.
  return new Request(url, { ...init, body: partsOf(body), duplex: "half" } as unknown as RequestInit);
}

function partsOf(body: Sending): ReadableStream<Uint8Array> {
  const parts = typeof body === "object" && "chunks" in body ? body.chunks : [body as string | Uint8Array];
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) if (part.length > 0) controller.enqueue(new Uint8Array(Buffer.from(part as string)));
      controller.close();
    },
  });
}

/** The parts of an answer without a network: no framing, no connection, and one line for each name. */
function unframed(answer: Expected): Expected {
  const names = new Set(answer.headers.map(([name]) => name));
  const headers = [...names].flatMap((name): Lines => {
    const values = answer.headers.flatMap(([given, value]) => (given === name ? [value] : []));
    return name === "set-cookie" ? values.map((value) => [name, value]) : [[name, values.join(", ")]];
  });
  return { ...answer, headers, framing: answer.framing === "chunked" ? "none" : answer.framing, after: "kept" };
}
