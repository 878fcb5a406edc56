import { InvalidAnswerError } from "../refusals.ts";
import { kindOfAttribute, prefixOfUrl, refusedAttribute, takesWords } from "./attributes.ts";
import type { AttributeKind, TagToCheck } from "./attributes.ts";

/** Where a value of a template stands. */
export interface Hole {
  /**
   * `content` between tags; `text` in an element whose text has no tags; `json` in a script that is data; `value` between quotes;
   * `whole` in the place of a quoted value, `address` in a URL that is checked as a whole.
   */
  readonly in: "content" | "text" | "json" | "value" | "whole" | "address";
  /** For the sentence of an error: `line 3, after <a href="`. Only the template's own text. */
  readonly place: string;
  readonly attribute?: HoleAttribute;
  /** The template's text from the beginning of the URL, or from the value before. */
  readonly before?: string;
  /** The template's text to the end of the URL; undefined where another value follows. */
  readonly after?: string;
}

export interface HoleAttribute {
  readonly name: string;
  readonly kind: AttributeKind;
  readonly takesWords: boolean;
}

/** A template, read once for each place of the program that has one. */
export interface Template {
  /** One more than holes. */
  readonly texts: readonly string[];
  readonly holes: readonly Hole[];
}

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

const rawElements: ReadonlySet<string> = new Set(["iframe", "noembed", "noframes", "script", "style", "xmp"]);
const textElements: ReadonlySet<string> = new Set(["textarea", "title"]);
/** A browser drops the line end after these tags. */
const dropsLineEnd: ReadonlySet<string> = new Set(["listing", "pre", "textarea"]);
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
  #mode: "content" | "raw" | "tag" | "value" = "content";
  name = "";
  #isEndTag = false;
  #attributes: OpenAttribute[] = [];
  #quote = "";
  /** The element whose text is raw; empty outside. */
  #raw = "";
  #rawHoles: "text" | "json" | undefined = undefined;

  constructor(strings: readonly (string | undefined)[]) {
    this.#strings = strings.map((text) => text ?? "");
    this.#chunk = strings.indexOf(undefined);
    if (this.#chunk !== -1) this.#fail("has an escape sequence that JavaScript cannot read");
  }

  read(): Template {
    for (this.#chunk = 0; this.#chunk < this.#strings.length; this.#chunk++) {
      this.#at = 0;
      this.#to[this.#chunk] = this.#text.length;
      while (this.#at < this.#text.length) this.#step();
      if (this.#chunk < this.#strings.length - 1) this.#hole();
    }
    this.#chunk--;
    this.#end();
    const texts = this.#strings.map((text, i) => text.slice(this.#from[i], this.#to[i]) + (this.#appended[i] ?? ""));
    return { texts, holes: this.#holes };
  }

  literal(name: string): string | undefined {
    const attribute = this.#attributes.find((one) => one.name === name);
    return attribute === undefined || attribute.holes > 0 ? undefined : attribute.value;
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
    this.name = name.toLowerCase();
    this.#attributes = [];
    this.#mode = "tag";
  }

  #noTag(): void {
    if (this.#isEndTag || this.#text[this.#at] === "?") this.#fail('has "</" or "<?" that begins no tag');
    // Otherwise a "<" of text, as in "a < b".
  }

  /** It ends with "-->" or "--!>", or at once: "<!-->". */
  #comment(): void {
    const end = /^!---?>|--!?>/.exec(this.#text.slice(this.#at));
    if (end === null) this.#cut("a comment", "leave it out, or write the value into the page");
    else this.#at += end.index + end[0].length;
  }

  #declaration(): void {
    if (this.#text.startsWith("![", this.#at))
      this.#fail("has a CDATA section, which is a comment in HTML: write the text");
    const end = this.#text.indexOf(">", this.#at);
    if (end === -1) this.#cut("a declaration", "write it in the template");
    else this.#at = end + 1;
  }

  #tag(): void {
    this.#eat(spaceOrSlash);
    if (this.#at === this.#text.length) return;
    if (this.#text[this.#at] === ">") {
      this.#at++;
      return this.#endTag();
    }
    const nameAt = this.#at;
    const name = this.#eat(attributeName).toLowerCase();
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
    attribute.value += this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#at = end === -1 ? this.#text.length : end + 1;
    if (end === -1) return;
    attribute.to = end;
    this.#mode = "tag";
  }

  #hole(): void {
    if (this.#isEndTag && this.#mode === "tag") this.#failHole("an end tag", "write it behind");
    if (this.#mode === "content") this.#push({ in: "content", place: this.#place() });
    else if (this.#mode === "raw") this.#rawHole();
    else if (this.#mode === "value") this.#attributeHole();
    else this.#wholeHole();
  }

  #rawHole(): void {
    if (this.#rawHoles === undefined) this.#failHole(`<${this.#raw}>`, this.#raw === "script" ? jsonScript : noRaw);
    this.#push({ in: this.#rawHoles, place: this.#place() });
  }

  #attributeHole(): void {
    this.#attributeNow.holes++;
    // Its kind is known at the end of the tag.
    this.#push({ in: "value", place: this.#place() });
  }

  #wholeHole(): void {
    const attribute = this.#attributes.at(-1);
    if (attribute?.isWhole !== true || attribute.holes > 0) this.#failHole("a tag", wholeAttribute);
    const next = this.#strings[this.#chunk + 1] as string;
    const { name } = attribute;
    if (!/^(?:[\t\n\f\r >]|\/>)/.test(next))
      this.#failHole("a part of a value without quotes", `write ${name}="…" with quotes`);
    attribute.holes++;
    this.#push({ in: "whole", place: this.#place() });
  }

  #push(hole: Hole): void {
    this.#holes.push(hole);
  }

  /** Its ">" was read. */
  #endTag(): void {
    this.#mode = "content";
    if (this.#isEndTag) return;
    for (const attribute of this.#attributes) if (attribute.holes > 0) this.#fill(attribute);
    const { name } = this;
    if (name === "plaintext") this.#fail("has <plaintext>, which nothing ends");
    // The value that follows may begin with a line end.
    if (dropsLineEnd.has(name) && this.#at === this.#text.length && !this.#isLast) this.#appended[this.#chunk] = "\n";
    if (!rawElements.has(name) && !textElements.has(name)) return;
    this.#mode = "raw";
    this.#raw = name;
    const isData = name === "script" && dataTypes.test(this.literal("type") ?? "");
    this.#rawHoles = textElements.has(name) ? "text" : isData ? "json" : undefined;
  }

  /** Decides what the values of an attribute are, once the whole tag is known. */
  #fill(attribute: OpenAttribute): void {
    const { name, firstHole, holes, isWhole } = attribute;
    const { place } = this.#holes[firstHole] as Hole;
    const refused = refusedAttribute(this, name);
    if (refused !== undefined) this.#failAt(place, `the attribute "${name}"`, refused);
    const kind = kindOfAttribute(this, name);
    const pieces = kind === "plain" || isWhole ? [""] : this.#piecesOf(attribute, place);
    const url = kind === "plain" ? "fixed" : prefixOfUrl(kind, pieces[0] as string);
    if (url === "unsafe") this.#failAt(place, `the attribute "${name}"`, "this URL is code or a page: write it whole");
    const isAddress = url === "open" && !isWhole;
    const described = { name, kind: url === "fixed" ? "plain" : kind, takesWords: takesWords(name) } as const;
    for (let i = firstHole; i < firstHole + holes; i++) {
      const hole = this.#holes[i] as Hole;
      this.#holes[i] = { ...hole, in: isAddress ? "address" : hole.in, attribute: described };
    }
    if (isAddress) this.#cutOutUrl(attribute, pieces);
  }

  /** The template's text around the values of a URL. */
  #piecesOf({ name, firstHole, holes, from, to }: OpenAttribute, place: string): readonly string[] {
    const last = firstHole + holes;
    const [first = "", ...others] = this.#strings.slice(firstHole, last);
    const pieces = [first.slice(from), ...others, (this.#strings[last] as string).slice(0, to)];
    const decides = pieces.find((piece) => /[&:/?#]/.test(piece)) ?? "";
    if (!/^[^:/?#]*&/.test(decides)) return pieces;
    return this.#failAt(place, `the attribute "${name}"`, "its URL has an entity in its scheme: write the character");
  }

  /** The text of a URL belongs to its values: all of it is replaced where it is refused. */
  #cutOutUrl({ firstHole, holes, from, to }: OpenAttribute, pieces: readonly string[]): void {
    const last = firstHole + holes;
    for (let i = firstHole; i < last; i++) {
      const hole = { ...(this.#holes[i] as Hole), before: pieces[i - firstHole] as string };
      this.#holes[i] = i === last - 1 ? { ...hole, after: pieces.at(-1) as string } : hole;
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
    if (textElements.has(this.#raw) && /<[a-z/!?]/i.test(text)) {
      this.#fail(`has a tag in <${this.#raw}>, which has text alone: write "&lt;"`);
    }
    this.#at += text.length;
    if (end !== null) this.#mode = "content";
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
    const before = this.#strings.slice(0, this.#chunk).join("").split("\n").length;
    const read = this.#text.slice(0, this.#at).split("\n");
    const line = (read.at(-1) as string).replace(/^[\t ]+/, "");
    const shown = line.length > 40 ? `…${line.slice(-40)}` : line;
    return `line ${before + read.length - 1}${shown === "" ? "" : `, after ${shown}`}`;
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

const chooseTemplate = "choose between two templates";
const wholeAttribute = "write name=${value}: undefined leaves the attribute out";
const jsonScript =
  'code cannot be filled in: write <script type="application/json">${Html.json(data)}</script> and read that';
const noRaw = "what stands there is no text of the page: choose a class, or write it whole in the template";
