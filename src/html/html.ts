import { abandon, isThenable } from "../async.ts";
import { isObject, kindOf } from "../arguments.ts";
import { awaitErrors } from "../node-stream.ts";
import { InvalidAnswerError } from "../refusals.ts";
import { safeValue, special } from "./attributes.ts";
import { Page } from "./page.ts";
import { PageStream } from "./stream.ts";
import type { PageContent, PendingValue } from "./stream.ts";
import { readTemplate } from "./template.ts";
import type { Hole, HoleAttribute, Template } from "./hole.ts";

/** A value in a template that needs no waiting itself. */
type HtmlItem =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Html
  | Iterable<HtmlValue>
  | AsyncIterable<HtmlValue>;

/**
 * A value in a template: text, a number, other HTML, nothing (`undefined`, `null`, `true` and `false`), a list of these, or a
 * promise of one. An attribute takes text and numbers.
 */
export type HtmlValue = HtmlItem | PromiseLike<HtmlItem>;

/** HTML that is safe to put into a page: made by the tag `html`, or by `Html.trusted` and `Html.json`. */
export class Html extends Page {
  readonly #content: PageContent;
  readonly #isJson: boolean;

  /** For the framework alone. */
  constructor(content: PageContent, isJson = false) {
    super();
    this.#content = content;
    this.#isJson = isJson;
  }

  /** The text. Throws for HTML with a promise or an async iterable: `Html.text` waits for those. */
  override toString(): string {
    if (typeof this.#content === "string") return this.#content;
    throw new TypeError("HTML with a promise or an async iterable is no text yet: use await Html.text(html)");
  }

  override toBody(): string | PageStream {
    return typeof this.#content === "string" ? this.#content : new PageStream(this.#content);
  }

  /** For the framework alone: the content, where a value is HTML. */
  static contentOf(value: unknown): PageContent | undefined {
    return isObject(value) && #content in value ? value.#content : undefined;
  }

  /** For the framework alone: whether a value was made by `Html.json`. */
  static isJson(value: unknown): value is Html {
    return isObject(value) && #isJson in value && value.#isJson;
  }
}

// By the strings of a template, which are the same at each call of one place.
const templates = /* @__PURE__ */ new WeakMap<TemplateStringsArray, Template>();

/**
 * A template of HTML. Each value is escaped for the place where it stands; in a place where no escaping is safe it is an error at the
 * first use, which says what to write.
 *
 * - Between tags: text is escaped, other HTML is put in as it is. A list is written item by item, and `undefined`, `null`, `true` and
 *   `false` are nothing. A promise, or an async iterable, is written when it is ready: the page is sent meanwhile.
 * - In an attribute, `title="${text}"`: text and numbers.
 * - `name=${value}` without quotes is the whole attribute, quoted for you: `undefined`, `null` and `false` leave it out, and `true`
 *   writes the name alone.
 * - In a URL, `href="${url}"`: only `http`, `https`, `mailto`, `tel` and relative URLs; any other is `about:invalid#unsafe-url`.
 *
 * @throws Error for a value of the wrong type. The sentence names the place in the template, and quotes no value.
 *
 * @example
 * ```ts
 * const item = (todo: Todo) => html`<li><a href="/todos/${todo.id}">${todo.title}</a></li>`;
 * get(Path.root, { returns: Returns.html }, () => html`<ul>${todos.map(item)}</ul>`);
 * ```
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  try {
    return new Html(filled(templates.get(strings) ?? templateOf(strings), values));
  } catch (thrown) {
    abandon(values);
    throw thrown;
  }
}

function templateOf(strings: TemplateStringsArray): Template {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw)) {
    throw new TypeError("html is the tag of a template: write html`…`");
  }
  const template = readTemplate(strings);
  templates.set(strings, template);
  return template;
}

function filled({ texts, holes }: Template, values: readonly unknown[]): PageContent {
  let text = texts[0] as string;
  let parts: (string | PendingValue)[] | undefined;
  let url: UrlParts | undefined;
  let isCode = false;
  for (let i = 0; i < holes.length; i++) {
    const hole = holes[i] as Hole;
    const value = values[i];
    let next = texts[i + 1] as string;
    if (hole.in === "content" && typeof value === "string") text += escapeText(hole, value);
    else if (hole.in === "value" || hole.in === "address") {
      const read = attributeText(hole, value);
      const first = read.search((hole.attribute as HoleAttribute).special);
      const escaped = first === -1 ? read : escapeFrom(read, first, false);
      if (first !== -1 && isAngularCode(hole, read)) isCode = true;
      if (hole.in === "value") text += escaped;
      else {
        url = withValue(url, hole, read, escaped);
        if (hole.after !== undefined) {
          text += safeValue((hole.attribute as HoleAttribute).kind, url.checked, url.written);
          url = undefined;
        }
      }
      if (isCode && hole.quoteEnd !== undefined) {
        next = next.slice(0, hole.quoteEnd) + notForAngular + next.slice(hole.quoteEnd);
        isCode = false;
      }
    } else if (hole.in === "whole") text += wholeAttribute(hole, value);
    else {
      if (hole.tagEnd !== undefined) text += tagEndBefore(hole, values.slice(i, i + (hole.count as number)));
      const content = contentOf(hole, value);
      if (typeof content === "string") text += content;
      else {
        parts ??= [];
        parts.push(text);
        for (const part of content) parts.push(part);
        text = "";
      }
    }
    text += next;
  }
  if (parts === undefined) return text;
  parts.push(text);
  return parts;
}

/** AngularJS leaves an element with this attribute out. It also reads `{{…}}` in attributes, where no comment can be. */
const notForAngular = " ng-non-bindable";
const notForLibraries = `${notForAngular} v-pre`;

function isAngularCode(hole: Hole, value: string): boolean {
  return mayInterpolate(hole, value) || (hole.attribute as HoleAttribute).code?.test(value) === true;
}

/** Whether a value has `{{`, or a brace where another one may be next to it. */
function mayInterpolate({ isAfterBrace }: Hole, value: string): boolean {
  const first = value.indexOf("{");
  if (first === -1) return false;
  return (first === 0 && isAfterBrace) || value.endsWith("{") || value.includes("{{", first);
}

/** Vue reads `{{…}}` in a text area and a title too. */
function tagEndBefore(hole: Hole, values: readonly unknown[]): string {
  return (values.every((value) => isPlain(hole, value)) ? "" : notForLibraries) + (hole.tagEnd as string);
}

function isPlain(hole: Hole, value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => isPlain(hole, item));
  return typeof value === "string" ? !mayInterpolate(hole, value) : !isObject(value);
}

/** What a value is between tags, or in an element of text. */
function contentOf(hole: Hole, value: unknown): PageContent {
  if (typeof value === "string") return textIn(hole, value);
  if (value === undefined || value === null || typeof value === "boolean") return "";
  const content = Html.contentOf(value);
  if (content !== undefined) return contentOfHtml(hole, value, content);
  if (isThenable(value)) return [pendingPromise(hole, value)];
  if (hole.in === "json") return fail(hole, value, onlyJson);
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (!isObject(value) || isBytes(value)) return fail(hole, value, "give text");
  if (Symbol.iterator in value) return contentOfList(hole, value as unknown as Iterable<unknown>);
  if (Symbol.asyncIterator in value) {
    const iterable = value as unknown as AsyncIterable<unknown>;
    // A page may come to it late, or never.
    awaitErrors(iterable);
    return [{ iterable, contentOf: (item) => contentOfReady(hole, item) }];
  }
  return fail(hole, value, "give its text, or html`…`");
}

function textIn(hole: Hole, text: string): string {
  if (hole.in === "json") return fail(hole, text, onlyJson);
  return hole.in === "text" ? escape(text) : escapeText(hole, text);
}

const onlyJson = "a script of data takes Html.json(value) alone";

function contentOfHtml(hole: Hole, value: unknown, content: PageContent): PageContent {
  if (hole.in === "json" && !Html.isJson(value)) return fail(hole, value, onlyJson);
  if (hole.in === "text") return fail(hole, value, "this element has text alone: give the text");
  return content;
}

function pendingPromise(hole: Hole, value: PromiseLike<unknown>): PendingValue {
  // A query builder begins at each call of `then`.
  const promise = Promise.resolve(value);
  // The page awaits it later, or never: until then its rejection would be unhandled.
  promise.then(undefined, noop);
  return { promise, contentOf: (ready) => contentOfReady(hole, ready) };
}

function contentOfReady(hole: Hole, ready: unknown): PageContent {
  try {
    return contentOf(hole, ready);
  } catch (thrown) {
    abandon(ready);
    throw thrown;
  }
}

function contentOfList(hole: Hole, list: Iterable<unknown>): PageContent {
  let text = "";
  let parts: (string | PendingValue)[] | undefined;
  for (const item of list) {
    const content = contentOf(hole, item);
    if (typeof content === "string") {
      text += content;
      continue;
    }
    parts ??= [];
    parts.push(text);
    for (const part of content) parts.push(part);
    text = "";
  }
  if (parts === undefined) return text;
  parts.push(text);
  return parts;
}

function isBytes(value: object): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** The text of a value between quotes, unescaped. */
function attributeText(hole: Hole, value: unknown): string {
  const { kind, takesWords } = hole.attribute as HoleAttribute;
  if (typeof value === "string") return kind === "json" || kind === "numbers" ? fail(hole, value, advice[kind]) : value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "boolean") return takesWords ? String(value) : "";
  if (value === undefined || value === null) return "";
  if (Html.isJson(value) && kind !== "numbers") return String(value);
  return fail(hole, value, kind === "json" || kind === "numbers" ? advice[kind] : advice.text);
}

const advice = {
  text: "an attribute takes text and numbers: join a list, and await a promise",
  json: "a library reads this attribute as JSON, or as code: it takes Html.json(value) and numbers",
  numbers: "a library runs a part of this attribute as code: it takes numbers alone",
} as const;

/** An attribute whose value has no quotes in the template, with the space before it. */
function wholeAttribute(hole: Hole, value: unknown): string {
  const { name, kind, takesWords, special } = hole.attribute as HoleAttribute;
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean" && !takesWords) return value ? ` ${name}` : "";
  const text = attributeText(hole, value);
  const first = text.search(special);
  if (first === -1) return ` ${name}="${safeValue(kind, text, text)}"`;
  const end = isAngularCode(hole, text) ? notForAngular : "";
  return ` ${name}="${safeValue(kind, text, escapeFrom(text, first, false))}"${end}`;
}

/** A URL that is being put together: as it is checked, and as it is written. */
interface UrlParts {
  readonly checked: string;
  readonly written: string;
}

function withValue(
  url: UrlParts | undefined,
  { before = "", after = "" }: Hole,
  value: string,
  escaped: string,
): UrlParts {
  return {
    checked: (url?.checked ?? "") + before + value + after,
    written: (url?.written ?? "") + before + escaped + after,
  };
}

function fail(hole: Hole, value: unknown, advice: string): never {
  throw new InvalidAnswerError(`a template of html with a value that is ${kindOf(value)} (${hole.place}): ${advice}`);
}

function noop(): void {}

/** Text as HTML that a browser reads as the same text between quotes, or in an element of text. */
function escape(text: string): string {
  const first = text.search(special);
  return first === -1 ? text : escapeFrom(text, first, false);
}

/** The same between tags. Vue and AngularJS do not see `{{` in it, as there is a comment between its braces. */
function escapeText(hole: Hole, text: string): string {
  const first = text.search(special);
  if (first === -1) return text;
  const escaped = escapeFrom(text, first, true);
  return hole.isAfterBrace && text.startsWith("{") ? `<!---->${escaped}` : escaped;
}

function escapeFrom(text: string, first: number, splitsBraces: boolean): string {
  let escaped = "";
  let from = 0;
  for (let i = first; i < text.length; i++) {
    const entity = entityOf(text.charCodeAt(i));
    if (entity === undefined || (entity === splitBrace && !(splitsBraces && isBraceNext(text, i)))) continue;
    escaped += text.slice(from, i) + entity;
    from = i + 1;
  }
  return escaped + text.slice(from);
}

const splitBrace = "{<!---->";

/** Also at the end: the text behind it may begin with one. */
function isBraceNext(text: string, i: number): boolean {
  return i + 1 === text.length || text[i + 1] === "{";
}

function entityOf(code: number): string | undefined {
  switch (code) {
    case 38:
      return "&amp;";
    case 60:
      return "&lt;";
    case 62:
      return "&gt;";
    case 34:
      return "&quot;";
    case 39:
      return "&#39;";
    case 123:
      return splitBrace;
    case 13:
      return "&#13;";
    case 0:
      return "\uFFFD";
    default:
      return undefined;
  }
}
