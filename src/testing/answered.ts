import { isStream } from "../answers/answer.ts";
import { readParts } from "../answers/parts.ts";
import type { App } from "../app/app.ts";
import type { Sent } from "../app/exchange.ts";

/** An app with no socket: requests in, answers out. */
export interface TestApp {
  readonly app: App;
  /** The app's own clock, where it was made with one. */
  readonly now?: (() => Date) | undefined;
}

/** An answer, its body read to the end. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The body, parsed. */
  json(): unknown;
}

/** An answer, its body read to the end. */
export async function answeredBy(sent: Sent): Promise<Answered> {
  const headers = new Headers();
  for (let i = 0; i < sent.head.length; i += 2) headers.append(sent.head[i] as string, sent.head[i + 1] as string);
  const text = await textOf(sent.body);
  return { status: sent.status, headers, body: text, json: () => JSON.parse(text) as unknown };
}

/** Throws for what the application did and had not declared. */
export function failOnUndeclared(deed: string | undefined): void {
  if (deed !== undefined) throw new Error(`Test.call: ${deed}`);
}

async function textOf(body: Sent["body"]): Promise<string> {
  if (body === undefined) return "";
  if (typeof body === "string") return body;
  const decoder = new TextDecoder();
  if (!isStream(body)) return decoder.decode(body);
  let text = "";
  const parts = readParts(body);
  for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
    text += decoder.decode(part, { stream: true });
  }
  body.request?.ended("finished");
  return text + decoder.decode();
}
