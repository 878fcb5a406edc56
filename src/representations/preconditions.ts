/** The evaluation of a request's conditions (RFC 9110 §13). */
import { entityTags, httpDate } from "../codecs/conditions.ts";
import type { EntityTag } from "../codecs/conditions.ts";
import type { RevisedRequest } from "../exchange/answer.ts";
import { fieldValue } from "../http/fields.ts";
import { isObject, kindOf } from "../arguments.ts";
import { InvalidAnswerError } from "../refusals.ts";

/** What identifies the version of a representation (RFC 9110 §8.8). */
export interface Validators {
  /** The text between the quotes of a strong entity tag, or an entity tag. */
  readonly etag?: string | EntityTag;
  /**
   * When it changed last; HTTP compares whole seconds. A browser may use its copy for a tenth of the time since then without
   * asking, unless the response has a `Cache-Control` such as `no-cache`.
   */
  readonly lastModified?: Date;
}

/** Validators that are checked. */
export interface Version {
  readonly etag: EntityTag | undefined;
  /** Milliseconds, of a whole second. */
  readonly lastModified: number | undefined;
}

/** @throws InvalidAnswerError for validators that no header can have: the response is a 500, whose line has the sentence. */
export function versionOf(validators: unknown, name: string): Version {
  needs(isObject(validators), name, validators, "an object with `etag` or `lastModified`");
  const { etag, lastModified } = validators as { readonly etag?: unknown; readonly lastModified?: unknown };
  const isDate = lastModified instanceof Date && httpDate.print(lastModified) !== "";
  needs(lastModified === undefined || isDate, `${name}: lastModified`, lastModified, "a valid Date");
  return {
    etag: etag === undefined ? undefined : entityTagOf(etag, `${name}: etag`),
    lastModified: isDate ? Math.floor(lastModified.getTime() / 1000) * 1000 : undefined,
  };
}

function needs(holds: boolean, at: string, value: unknown, what: string): void {
  if (!holds) throw new InvalidAnswerError(`${at} is ${kindOf(value)}, and not ${what}`);
}

function entityTagOf(given: unknown, name: string): EntityTag {
  const { tag, weak } = (isObject(given) ? given : { tag: given, weak: false }) as { tag: unknown; weak: unknown };
  const isTag = typeof tag === "string" && /^[\x21\x23-\x7e]*$/.test(tag) && typeof weak === "boolean";
  needs(isTag, name, given, "the text between the quotes: visible ASCII characters without a quote");
  return { tag: tag as string, weak: weak as boolean };
}

/** How a request's conditions end: the method is carried out, a 304 or a 412. */
export type ConditionsEnd = "met" | "not modified" | "failed";

/**
 * Evaluates the conditions of a request in the order of RFC 9110 §13.2.2.
 *
 * @param current The version that exists; undefined where nothing exists.
 */
export function evaluate(request: RevisedRequest, current: Version | undefined): ConditionsEnd {
  const isRead = request.method === "GET" || request.method === "HEAD";
  const ifMatch = fieldOf(request, "if-match");
  if (ifMatch !== undefined) {
    if (!isListed(ifMatch, current, isRead ? isSameStrong : isSameResource)) return "failed";
  } else if (current?.lastModified !== undefined) {
    const since = dateOf(request, "if-unmodified-since");
    if (since !== undefined && current.lastModified > since) return "failed";
  }
  const ifNoneMatch = fieldOf(request, "if-none-match");
  if (ifNoneMatch !== undefined) {
    if (!isListed(ifNoneMatch, current, isRead ? isSameWeak : isSameResourceWeak)) return "met";
    return isRead ? "not modified" : "failed";
  }
  return isRead && isUnmodified(request, current) ? "not modified" : "met";
}

/** `If-Modified-Since` (RFC 9110 §13.1.3): a date in the future is ignored. */
function isUnmodified(request: RevisedRequest, current: Version | undefined): boolean {
  if (current?.lastModified === undefined) return false;
  const since = dateOf(request, "if-modified-since");
  return since !== undefined && since <= request.now.getTime() && current.lastModified <= since;
}

/** Whether `If-Range` (RFC 9110 §13.1.5) lets a range be sent: true without it. */
export function isSameRepresentation(request: RevisedRequest, current: Version): boolean {
  const field = fieldOf(request, "if-range");
  if (field === undefined) return true;
  const tags = entityTags.parse(field);
  if (tags.ok) return tags.value !== "*" && tags.value.length === 1 && isListed(field, current, isSameStrong);
  const date = httpDate.parse(field);
  return date.ok && current.lastModified === date.value.getTime();
}

/** RFC 9110 §8.8.3.2. */
function isSameStrong(one: EntityTag, other: EntityTag): boolean {
  return !one.weak && !other.weak && one.tag === other.tag;
}

/** A change is meant for the resource, and its client may have read it compressed: `Compress` gives each coding a tag. */
function isSameResource(one: EntityTag, other: EntityTag): boolean {
  return isSameStrong(one, other) || isSameStrong(withoutCoding(one), other);
}

function isSameResourceWeak(one: EntityTag, other: EntityTag): boolean {
  return isSameWeak(one, other) || isSameWeak(withoutCoding(one), other);
}

const withoutCoding = ({ tag, weak }: EntityTag): EntityTag => ({ tag: tag.replace(/-(?:gzip|br|zstd)$/, ""), weak });

function isSameWeak(one: EntityTag, other: EntityTag): boolean {
  return one.tag === other.tag;
}

/** Whether a field's tags have the current one; `*` is any version that exists. A field that cannot be read has none. */
function isListed(field: string, current: Version | undefined, isSame: (one: EntityTag, other: EntityTag) => boolean) {
  // What a browser sends is the tag that it got, and nothing else.
  const one = current?.etag;
  if (one !== undefined && !one.weak && isQuoted(field, one.tag)) return true;
  const tags = entityTags.parse(field);
  if (current === undefined || !tags.ok) return false;
  if (tags.value === "*") return true;
  const { etag } = current;
  return etag !== undefined && tags.value.some((tag) => isSame(tag, etag));
}

/** Without a text that is made for the comparison, which takes six times as long. */
function isQuoted(field: string, tag: string): boolean {
  return field.length === tag.length + 2 && field.startsWith('"') && field.startsWith(tag, 1) && field.endsWith('"');
}

function fieldOf(request: RevisedRequest, name: string): string | undefined {
  return fieldValue(request.lines(name));
}

/** Undefined for a date that cannot be read, which RFC 9110 §13.1.3 and §13.1.4 ignore. */
function dateOf(request: RevisedRequest, name: string): number | undefined {
  const field = fieldOf(request, name);
  const date = field === undefined ? undefined : httpDate.parse(field);
  return date?.ok === true ? date.value.getTime() : undefined;
}
