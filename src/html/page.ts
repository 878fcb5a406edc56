/** What an answer takes of a page, so that a program without templates has none of their code. */
import type { PageStream } from "./stream.ts";

/** A page that a template made. */
export abstract class Page {
  /** For the framework alone: text, or what is sent as it becomes ready. */
  abstract toBody(): string | PageStream;
}

export function isPage(value: unknown): value is Page {
  return value instanceof Page;
}
