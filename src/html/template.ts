import { InvalidAnswerError } from "../refusals.ts";
import { readAttribute, readPrefix, specialOf, takesWords } from "./attributes.ts";
import type { TagToCheck } from "./attributes.ts";
import type { Hole, Template } from "./hole.ts";

/** An attribute of the start tag that is read. */
interface OpenAttribute {
  readonly name: string;
  /** The first of its holes, and how many it has. */
  readonly firstHole: number;
  holes: number;
  isWhole: boolean;
  /** Where its value begins, in the text before its first hole. */
  readonly from: number;
  /** Where it ends, in the text after its last hole. */
  to: number;
  value: string;
}

const rawElements = /^(?:iframe|noembed|noframes|script|style|xmp)$/;
const textElements = /^(?:textarea|title)$/;
/** In these, the elements above are ignored, or have tags inside. */
const otherContent = /^(?:frameset|math|select|svg)$/;
/** A browser drops the line end after these tags. */
const dropsLineEnd = /^(?:listing|pre|textarea)$/;
const dataTypes =
  /^[\t\n\f\r ]*(?:application\/json|[a-z0-9.+-]+\/[a-z0-9.+-]+\+json|importmap|speculationrules)[\t\n\f\r ]*$/i;

const tagName = /[a-z][^\t\n\f\r />]*/iy;
const attributeName = /[^\t\n\f\r />="'<]+/y;
const unquoted = /[^\t\n\f\r >"'<=`]+/y;
const space = /[\t\n\f\r ]*/y;
const spaceOrSlash = /[\t\n\f\r /]*/y;

/** Reads a template's text as a browser does (HTML, 13.2.5), as far as it decides what each value is. Throws where it is unsafe. */
export function readTemplate(strings: readonly (string | undefined)[]): Template {
  return new TemplateReader(strings).read();
}

class TemplateReader implements TagToCheck {
  readonly #strings: readonly string[];
  readonly #holes: Hole[] = [];
  /** The part of each text that is kept. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  readonly #appended: string[] = [];
  #chunk = 0;
  #at = 0;
  /** Where the text begins that is read. */
  #line = 1;
  #mode: "content" | "raw" | "tag" | "value" = "content";
  name = "";
  #isEndTag = false;
  #attributes: OpenAttribute[] = [];
  #quote = "";
  /** The element whose text is raw; empty outside. */
  #raw = "";
  #rawHoles: "text" | "json" | undefined = undefined;
  /** The first value of an element of text. */
  #firstText: number | undefined = undefined;
  /** Where the text, or the value of an attribute, begins that is read; 0 where it began before the last value of the template. */
  #runFrom = 0;
  /** How many elements of other content are open, by name. */
  readonly #otherContent = new Map<string, number>();

  constructor(strings: readonly (string | undefined)[]) {
    this.#strings = strings.map((text) => text ?? "");
    this.#chunk = strings.indexOf(undefined);
    if (this.#chunk !== -1) this.#fail("has an escape sequence that JavaScript cannot read");
  }

  read(): Template {
    for (this.#chunk = 0; this.#chunk < this.#strings.length; this.#chunk++) {
      if (this.#chunk > 0) this.#line += linesIn(this.#strings[this.#chunk - 1] as string);
      this.#at = 0;
      this.#runFrom = 0;
      this.#to[this.#chunk] = this.#text.length;
      while (this.#at < this.#text.length) this.#step();
      if (this.#chunk < this.#strings.length - 1) this.#hole();
    }
    this.#chunk--;
    this.#end();
    return { texts: this.#strings.map((_, i) => this.#textBefore(i)), holes: this.#holes };
  }

  #textBefore(i: number): string {
    const kept = (this.#strings[i] as string).slice(this.#from[i], this.#to[i]);
    const hole = this.#holes[i];
    const isCut = hole?.in === "whole" || hole?.in === "address" || hole?.tagEnd !== undefined;
    return (isCut ? kept : closed(kept)) + (this.#appended[i] ?? "");
  }

  literal(name: string): string | undefined {
    const attribute = this.#attributes.find((one) => one.name === name);
    return attribute === undefined || attribute.holes > 0 || attribute.value.includes("&")
      ? undefined
      : attribute.value;
  }

  has(name: string): boolean {
    return this.#attributes.some((one) => one.name === name);
  }

  get #text(): string {
    return this.#strings[this.#chunk] as string;
  }

  get #isLast(): boolean {
    return this.#chunk === this.#strings.length - 1;
  }

  #step(): void {
    if (this.#mode === "content") this.#content();
    else if (this.#mode === "raw") this.#rawText();
    else if (this.#mode === "tag") this.#tag();
    else this.#value();
  }

  #content(): void {
    const text = this.#text;
    const start = text.indexOf("<", this.#at);
    this.#at = start === -1 ? text.length : start + 1;
    if (start === -1) return;
    if (text.startsWith("!--", this.#at)) return this.#comment();
    if (this.#at === text.length && !this.#isLast) this.#failHole("the name of an element", chooseTemplate);
    if (text[this.#at] === "!") return this.#declaration();
    this.#isEndTag = text[this.#at] === "/";
    if (this.#isEndTag) this.#at++;
    if (this.#isEndTag && this.#at === text.length) this.#cut("the name of an element", chooseTemplate);
    const name = this.#eat(tagName);
    if (name === "") return this.#noTag();
    if (this.#at === text.length) this.#cut("the name of an element", chooseTemplate);
    this.name = lowerCase(name);
    this.#attributes = [];
    this.#mode = "tag";
  }

  #noTag(): void {
    if (this.#isEndTag || this.#text[this.#at] === "?") this.#fail('has "</" or "<?" that begins no tag');
    // Otherwise a "<" of text, as in "a < b". At the end it would begin a tag with the text behind this template.
    if (this.#at < this.#text.length) return;
    this.#to[this.#chunk] = this.#at - 1;
    this.#appended[this.#chunk] = "&lt;";
  }

  /** It ends with "-->" or "--!>", or at once: "<!-->" and "<!--->" (13.2.5.43). */
  #comment(): void {
    const comment = /^!--(?:-?>|[^]*?--!?>)/.exec(this.#text.slice(this.#at))?.[0];
    if (comment === undefined) return this.#cut("a comment", "leave it out, or write the value into the page");
    this.#checkNoscript(comment);
    this.#at += comment.length;
    this.#runFrom = this.#at;
  }

  /** A browser that runs scripts reads `noscript` as text, which ends at the first end tag. */
  #checkNoscript(text: string): void {
    if (/<\/noscript/i.test(text)) this.#fail('has "</noscript" in an attribute, a comment or another element\'s text');
  }

  #declaration(): void {
    if (this.#text.startsWith("![", this.#at))
      this.#fail("has a CDATA section, which is a comment in HTML: write the text");
    const end = this.#text.indexOf(">", this.#at);
    if (end === -1) return this.#cut("a declaration", "write it in the template");
    this.#at = end + 1;
    this.#runFrom = this.#at;
  }

  #tag(): void {
    const skipped = this.#eat(spaceOrSlash);
    if (this.#at === this.#text.length) return;
    if (this.#text[this.#at] === ">") {
      this.#at++;
      return this.#endTag(skipped.endsWith("/"));
    }
    const nameAt = this.#at;
    const name = lowerCase(this.#eat(attributeName));
    if (name === "") this.#fail(`has ${JSON.stringify(this.#text[this.#at])} in a tag, outside of quotes`);
    const afterName = this.#at;
    this.#eat(space);
    if (this.#text[this.#at] === "=") return this.#attribute(name, nameAt);
    if (afterName === this.#text.length) this.#cut("the name of an attribute", wholeAttribute);
    this.#at = afterName;
    this.#open(name, afterName);
  }

  #attribute(name: string, nameAt: number): void {
    this.#at++;
    this.#eat(space);
    const quote = this.#text[this.#at];
    if (quote === '"' || quote === "'") {
      this.#at++;
      this.#open(name, this.#at);
      this.#quote = quote;
      this.#runFrom = this.#at;
      this.#mode = "value";
      return;
    }
    const from = this.#at;
    const attribute = this.#open(name, from);
    if (from === this.#text.length) {
      // The quotes, and the name, are written with the value.
      this.#to[this.#chunk] = this.#text.slice(0, nameAt).replace(/[\t\n\f\r ]+$/, "").length;
      attribute.isWhole = true;
      return;
    }
    attribute.value = this.#eat(unquoted);
    if (attribute.value === "") this.#fail(`has no value for the attribute "${name}"`);
    if (this.#at === this.#text.length) this.#cut("a part of a value without quotes", `write ${name}="…" with quotes`);
    if (!/[\t\n\f\r >]/.test(this.#text[this.#at] as string)) this.#fail(`has a wrong value for "${name}": quote it`);
  }

  #open(name: string, from: number): OpenAttribute {
    if (this.has(name)) this.#fail(`has the attribute "${name}" twice in one tag`);
    const attribute = { name, firstHole: this.#chunk, holes: 0, isWhole: false, from, to: 0, value: "" };
    this.#attributes.push(attribute);
    return attribute;
  }

  get #attributeNow(): OpenAttribute {
    return this.#attributes.at(-1) as OpenAttribute;
  }

  #value(): void {
    const attribute = this.#attributeNow;
    const end = this.#text.indexOf(this.#quote, this.#at);
    const value = this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#checkNoscript(value);
    attribute.value += value;
    this.#at = end === -1 ? this.#text.length : end + 1;
    if (end === -1) return;
    attribute.to = end;
    this.#mode = "tag";
  }

  #hole(): void {
    if (this.#isEndTag && (this.#mode === "tag" || this.#mode === "value"))
      this.#failHole("an end tag", "write it behind");
    if (this.#mode === "content") this.#push("content");
    else if (this.#mode === "raw") this.#rawHole();
    else if (this.#mode === "value") this.#attributeHole();
    else this.#wholeHole();
  }

  #rawHole(): void {
    if (this.#rawHoles === undefined) this.#failHole(`<${this.#raw}>`, this.#raw === "script" ? jsonScript : noRaw);
    this.#push(this.#rawHoles);
    if (this.#rawHoles === "json" || this.#firstText !== undefined) return;
    this.#firstText = this.#chunk;
    this.#to[this.#chunk] = this.#runFrom - 1;
  }

  #attributeHole(): void {
    this.#attributeNow.holes++;
    // Its kind is known at the end of the tag.
    this.#push("value");
  }

  #wholeHole(): void {
    const attribute = this.#attributes.at(-1);
    if (attribute?.isWhole !== true || attribute.holes > 0) this.#failHole("a tag", wholeAttribute);
    const next = this.#strings[this.#chunk + 1] as string;
    const { name } = attribute;
    if (!/^(?:[\t\n\f\r >]|\/>)/.test(next))
      this.#failHole("a part of a value without quotes", `write ${name}="…" with quotes`);
    attribute.holes++;
    this.#push("whole");
  }

  #push(place: Hole["in"]): void {
    const before = this.#text.slice(this.#runFrom, this.#at);
    if (place !== "whole" && before.lastIndexOf("{{") > before.lastIndexOf("}}"))
      this.#failHole('"{{…}}"', "Vue and AngularJS run this as code: write it whole in the template");
    const isAfterBrace = this.#at === 0 || before.endsWith("{");
    this.#holes.push({ ...noHole, in: place, isAfterBrace, place: this.#place() });
  }

  /** Its ">" was read. */
  #endTag(isSelfClosing: boolean): void {
    this.#mode = "content";
    const { name } = this;
    this.#runFrom = this.#at;
    if (otherContent.test(name)) this.#countOpen(isSelfClosing);
    if (this.#isEndTag) return;
    for (const attribute of this.#attributes) if (attribute.holes > 0) this.#fill(attribute);
    if (name === "plaintext") this.#fail("has <plaintext>, which nothing ends");
    const isText = textElements.test(name);
    // The value that follows may begin with a line end.
    if (dropsLineEnd.test(name) && this.#at === this.#text.length && !this.#isLast) this.#appended[this.#chunk] = "\n";
    if (!rawElements.test(name) && !isText) return;
    // Of SVG it has ended, and of HTML it has not.
    if (isSelfClosing) this.#fail(`has <${name}/>: write its end tag`);
    this.#mode = "raw";
    this.#raw = name;
    this.#firstText = undefined;
    const isData = name === "script" && dataTypes.test(this.literal("type") ?? "");
    this.#rawHoles = isText ? "text" : isData ? "json" : undefined;
  }

  /** Decides what the values of an attribute are, once the whole tag is known. */
  #fill(attribute: OpenAttribute): void {
    const { name, firstHole, holes, isWhole, to } = attribute;
    const { place } = this.#holes[firstHole] as Hole;
    const where = `the attribute "${name}"`;
    const holds = readAttribute(this, name);
    if (typeof holds !== "string") return this.#failAt(place, where, holds.refused);
    const pieces = isWhole ? [""] : this.#piecesOf(attribute);
    const prefix = readPrefix(holds, pieces);
    if (prefix === "code") this.#failAt(place, where, "this is code or a page: write it whole");
    if (prefix === "entity") this.#failAt(place, where, "it has an entity in its scheme: write the character");
    const isOpen = prefix === "open" && !isWhole;
    const kind = holds === "json" || holds === "numbers" || prefix === "open" ? holds : "text";
    const described = { name, kind, takesWords: takesWords(name), ...specialOf(this, name) };
    for (let i = firstHole; i < firstHole + holes; i++) {
      const hole = this.#holes[i] as Hole;
      this.#holes[i] = { ...hole, in: isOpen ? "address" : hole.in, attribute: described };
    }
    if (isOpen) this.#cutOutUrl(attribute, pieces);
    const last = firstHole + holes - 1;
    if (!isWhole) this.#holes[last] = { ...(this.#holes[last] as Hole), quoteEnd: isOpen ? 1 : to + 1 };
  }

  /** The template's text around the values of an attribute. */
  #piecesOf({ firstHole, holes, from, to }: OpenAttribute): readonly string[] {
    const last = firstHole + holes;
    const [first = "", ...others] = this.#strings.slice(firstHole, last);
    return [first.slice(from), ...others, (this.#strings[last] as string).slice(0, to)];
  }

  /** The text of a URL belongs to its values: all of it is replaced where it is refused. */
  #cutOutUrl({ firstHole, holes, from, to }: OpenAttribute, pieces: readonly string[]): void {
    const last = firstHole + holes;
    for (let i = firstHole; i < last; i++) {
      const hole = { ...(this.#holes[i] as Hole), before: closed(pieces[i - firstHole] as string) };
      this.#holes[i] = i === last - 1 ? { ...hole, after: pieces.at(-1) } : hole;
      this.#to[i] = i === firstHole ? from : 0;
    }
    this.#from[last] = to;
  }

  #rawText(): void {
    const rest = this.#text.slice(this.#at);
    const end = new RegExp(`</${this.#raw}(?=[\\t\\n\\f\\r />])`, "i").exec(rest);
    const text = end === null ? rest : rest.slice(0, end.index);
    if (this.#raw === "script" && text.includes("<!--"))
      this.#fail('has "<!--" in a script, which changes where it ends');
    const isText = textElements.test(this.#raw);
    if ((isText || this.#isInOtherContent) && /<[a-z/!?]/i.test(text)) {
      const advice = isText ? "which has text alone" : "which has tags here";
      this.#fail(`has a tag in <${this.#raw}>, ${advice}: write "&lt;"`);
    }
    this.#checkNoscript(text);
    this.#at += text.length;
    if (end === null) return;
    this.#mode = "content";
    const first = this.#firstText;
    if (first === undefined) return;
    const tagEnd = (this.#strings[first] as string).slice(this.#to[first]) + (this.#appended[first] ?? "");
    this.#appended[first] = "";
    this.#holes[first] = { ...(this.#holes[first] as Hole), tagEnd: closed(tagEnd), count: this.#holes.length - first };
  }

  get #isInOtherContent(): boolean {
    for (const open of this.#otherContent.values()) if (open > 0) return true;
    return false;
  }

  #countOpen(isSelfClosing: boolean): void {
    const { name } = this;
    const isEmpty = isSelfClosing && (name === "svg" || name === "math");
    const change = this.#isEndTag ? -1 : isEmpty ? 0 : 1;
    this.#otherContent.set(name, Math.max((this.#otherContent.get(name) ?? 0) + change, 0));
  }

  #end(): void {
    if (this.#mode === "raw") this.#fail(`ends in <${this.#raw}>: end the element in the template that begins it`);
    if (this.#mode === "value") this.#fail(`ends in the value of "${this.#attributeNow.name}": its quote is missing`);
    if (this.#mode === "tag") this.#fail(`ends in the tag of <${this.name}>: its ">" is missing`);
  }

  #eat(form: RegExp): string {
    form.lastIndex = this.#at;
    const eaten = form.exec(this.#text)?.[0] ?? "";
    this.#at += eaten.length;
    return eaten;
  }

  /** Where the text before a hole ends: `line 3, after "<a href="`. */
  #place(): string {
    const read = this.#text.slice(0, this.#at);
    const line = read.slice(read.lastIndexOf("\n") + 1).replace(/^[\t ]+/, "");
    const shown = line.length > 40 ? `…${line.slice(-40)}` : line;
    return `line ${this.#line + linesIn(read)}${shown === "" ? "" : `, after ${shown}`}`;
  }

  /** A construct that ends neither here nor before the next value. */
  #cut(where: string, advice: string): never {
    if (this.#isLast) this.#fail(`ends in ${where}`);
    this.#at = this.#text.length;
    return this.#failHole(where, advice);
  }

  #failHole(where: string, advice: string): never {
    return this.#failAt(this.#place(), where, advice);
  }

  #failAt(place: string, where: string, advice: string): never {
    throw new InvalidAnswerError(`a template of html with a value in ${where} (${place}): ${advice}`);
  }

  #fail(what: string): never {
    throw new InvalidAnswerError(`a template of html that ${what} (${this.#place()})`);
  }
}

const noHole = {
  attribute: undefined,
  before: undefined,
  after: undefined,
  quoteEnd: undefined,
  tagEnd: undefined,
  count: undefined,
} as const;

/** HTML's lower case: `İ` and the Kelvin sign stay what they are. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}

/** Text that no value behind it makes an entity of. */
function closed(text: string): string {
  return text.replace(/&(?=(?:#x?)?$)/i, "&amp;");
}

const chooseTemplate = "choose between two templates";
const wholeAttribute = "write name=${value}: undefined leaves the attribute out";
const jsonScript =
  'code cannot be filled in: write <script type="application/json">${Html.json(data)}</script> and read that';
const noRaw = "what stands there is no text of the page: choose a class, or write it whole in the template";
