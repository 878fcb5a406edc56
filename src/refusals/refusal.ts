import { code as makeCode } from "./code.ts";
import type { Code } from "./code.ts";
import * as codes from "./framework-codes.ts";
import type { Problem } from "./problem.ts";

/** An expected failure, made with {@link refuse}: returned or thrown, it is the answer. */
export class Refusal<out Name extends string = string> {
  static readonly code: typeof makeCode = makeCode;
  static readonly invalid: Code<"invalid"> = codes.invalid;
  static readonly unreadable: Code<"unreadable"> = codes.unreadable;
  static readonly tooLarge: Code<"too_large"> = codes.tooLarge;
  static readonly crossOrigin: Code<"cross_origin"> = codes.crossOrigin;
  static readonly upgradeRequired: Code<"upgrade_required"> = codes.upgradeRequired;
  static readonly busy: Code<"busy"> = codes.busy;
  static readonly internal: Code<"internal"> = codes.internal;
  static readonly notReady: Code<"not_ready"> = codes.notReady;
  static readonly unsupportedMediaType: Code<"unsupported_media_type"> = codes.unsupportedMediaType;
  static readonly rateLimited: Code<"rate_limited"> = codes.rateLimited;
  static readonly notFound: Code<"not_found"> = codes.notFound;

  readonly code: Code<Name>;
  /** What the client is told. */
  readonly message: string;
  /** For the log alone. */
  readonly detail?: string;
  /** Sent beside the code's challenge. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Listed in the body when there are any; only `invalid` has them. */
  readonly problems: readonly Problem[];
  /** How many problems there are beside those listed. */
  readonly more: number;

  constructor(code: Code<Name>, message: string, options: RefusalOptions) {
    this.code = code;
    this.message = message;
    if (options.detail !== undefined) this.detail = options.detail;
    this.headers = options.headers ?? none;
    this.problems = options.problems ?? none;
    this.more = options.more ?? 0;
  }
}

/** Whether it is a refusal whose code and detail can be told: JavaScript makes one of anything. */
export function isTellable(refusal: unknown): refusal is Refusal {
  try {
    if (!(refusal instanceof Refusal)) return false;
    const { code, detail }: Refusal = refusal;
    return typeof code.name === "string" && Number.isInteger(code.status) && isTextOrNone(detail);
  } catch {
    return false;
  }
}

function isTextOrNone(detail: unknown): boolean {
  return detail === undefined || typeof detail === "string";
}

/** What the framework itself may add to a refusal; an application adds the detail alone. */
export interface RefusalOptions {
  readonly detail?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly problems?: readonly Problem[];
  readonly more?: number;
}

const none: readonly never[] = [];
const comeAgain = [["retry-after", "1"]] as const;

/**
 * Makes a refusal: returned from a handler or a `Dep.join`, it is the answer.
 *
 * @param code One of the codes the route or the input declares.
 * @param message What the client is told; the code's own sentence by default.
 * @param options `detail` is written to the log and never sent.
 */
export function refuse<const Name extends string>(
  code: Code<Name>,
  message?: string,
  options?: { readonly detail?: string },
): Refusal<Name> {
  const said = message ?? codes.sentences.get(code.name) ?? code.doc;
  // Every `busy` says when to come again (contract 7.2).
  return new Refusal(code, said, code.name === codes.busy.name ? { ...options, headers: comeAgain } : (options ?? {}));
}

/** The one answer that tells the problems of a request: those listed, and how many more there are. */
export function invalidRefusal(problems: readonly Problem[], detail?: string, more = 0): Refusal<"invalid"> {
  const options = detail === undefined ? { problems, more } : { problems, more, detail };
  return new Refusal(codes.invalid, codes.sentences.get("invalid") as string, options);
}

/** A refusal with no more problems listed than may be. */
export function listing(most: number, refusal: Refusal): Refusal {
  const { code, message, detail, headers, problems, more } = refusal;
  if (problems.length <= most) return refusal;
  const listed = { headers, problems: problems.slice(0, most), more: more + problems.length - most };
  return new Refusal(code, message, detail === undefined ? listed : { ...listed, detail });
}
