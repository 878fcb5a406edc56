/** What each attribute holds, by its name: it decides whether a template may fill it in, and how the value is checked. */

/**
 * What an attribute holds. `text` is not checked. `url` is one URL, `urls` several, and `code-url` the URL of code, or of HTML that a
 * library puts into the page: it stays in its origin. `json` is data of a library, which reads a text after `js:` as code; `numbers` has
 * code in brackets; a `question` is text, and code after `js:`.
 */
export type AttributeKind = "text" | "url" | "urls" | "code-url" | "json" | "numbers" | "question";

/** An attribute that is code, or that decides what is code: the sentence says what to write. */
interface RefusedAttribute {
  readonly refused: string;
}

/** A start tag, as far as the kinds of its attributes depend on it. */
export interface TagToCheck {
  /** In lower case. */
  readonly name: string;
  /** The value of another attribute; undefined where it has none, one that is filled in, or one with an entity. */
  literal(name: string): string | undefined;
  has(name: string): boolean;
}

const another = 'put the data into another "data-…" attribute and read it in a script file';
const event = {
  refused: `an event handler is code: put the data into a "data-…" attribute and read it in a script file`,
};
const library = { refused: `a library runs this attribute as code: ${another}` };
const animation = { refused: "an animation can set any attribute: write it in the template" };

type AttributeRow = readonly [holds: AttributeKind | RefusedAttribute, names: string];

/** By whole names, with `-` in place of `:`. Those of libraries are complete: another name that begins like them is refused. */
const table = /* @__PURE__ */ tableOf([
  ["url", "action cite dynsrc formaction longdesc lowsrc poster usemap xlink-href"],
  ["urls", "attributionsrc imagesrcset ping"],
  [{ refused: "CSS cannot be filled in: choose a class, or write the whole style in the template" }, "style"],
  [{ refused: 'this is a page inside a page: give it an address of its own in "src"' }, "srcdoc"],
  [{ refused: "this changes how the page is read: write it in the template, or send a header" }, "http-equiv"],
  [{ refused: "this decides which code an element has: write it in the template" }, "is"],
  ["text", "xml-lang xml-space xmlns xmlns-xlink xlink-title"],
  // htmx 2 and 4, their extensions for events and sockets, and fixi.
  ["code-url", "hx-action hx-delete hx-get hx-patch hx-post hx-put hx-query hx-sse-connect hx-ws-connect"],
  ["code-url", "fx-action sse-connect ws-connect"],
  ["json", "hx-boost hx-config hx-headers hx-request hx-vals"],
  ["numbers", "hx-trigger"],
  ["question", "hx-confirm"],
  ["url", "hx-push-url hx-replace-url"],
  ["text", "hx-disable hx-disabled-elt hx-disinherit hx-encoding hx-ext hx-history hx-include hx-indicator hx-inherit"],
  [
    "text",
    "hx-method hx-params hx-nonce hx-preserve hx-prompt hx-ptag hx-select hx-select-oob hx-swap hx-swap-oob hx-sync hx-target",
  ],
  ["text", "hx-validate sse-close sse-swap ws-send fx-method fx-swap fx-target"],
  // Unpoly.
  ["url", "up-back up-href up-location up-validate-url"],
  ["code-url", "up-source"],
  ["json", "up-accept up-data up-dismiss up-emit-props up-headers up-params"],
  [
    "text",
    "up-align up-animation up-class up-confirm up-delay up-disable-for up-duration up-enable-for up-etag up-expand",
  ],
  ["text", "up-fail-layer up-fail-target up-focus up-hide-for up-history up-id up-interval up-layer up-method up-mode"],
  ["text", "up-position up-scroll up-show-for up-size up-switch up-target up-time up-title up-transition up-validate"],
  // Alpine.
  ["text", "x-ref"],
  // Knockout, hyperscript, Vue 2, and jQuery's unobtrusive Ajax.
  [library, "params script data-script slot-scope"],
  [library, "data-ajax-begin data-ajax-complete data-ajax-failure data-ajax-success"],
]);

function tableOf(rows: readonly AttributeRow[]): ReadonlyMap<string, AttributeKind | RefusedAttribute> {
  return new Map(rows.flatMap(([holds, names]) => names.split(" ").map((name) => [name, holds] as const)));
}

/** How the attributes of libraries begin: Alpine, Vue, AngularJS, htmx, fixi, Unpoly, intercooler, Livewire, Rivets, Mavo, Angular. */
const ofLibrary = /^(?:(?:data-)?(?:hx|ng|sse|v|ws|x)|bind|bindon|fx|ic|mv|rv|ui|uib|up|wire)-/;
/** Those of Datastar: a key may follow the first ones. */
const ofDatastar =
  /^data-(?:star-)?(?:(?:attr|bind|class|computed|on|signals|style)(?:$|[-_])|(?:animate|custom-validity|effect|init|intersects|json-signals|persist|query-string|replace-url|show|text|view-transition)(?:$|--))/;
/** Of Vue, Angular, Lit, hyperscript and Aurelia: `@click`, `(click)`, `.value`, `_`, `value.bind`. */
const odd = /^[^a-z\u0080-\uffff]|[^\w:\u0080-\uffff-]/;
/** AngularJS has elements whose attributes are code. */
const codeElement = /^(?:(?:data|x)[-:_])?ng[-:_]/;
/** Also of libraries: `data-src`, `data-image-url`. */
const urlWord = /(?:^|-)(?:href|src|uri|url)(?:-|$)/;

/** What an attribute holds, or why it cannot be filled in. */
export function readAttribute(tag: TagToCheck, name: string): AttributeKind | RefusedAttribute {
  if (name.startsWith("on")) return event;
  if (odd.test(name) || codeElement.test(tag.name)) return library;
  const ofTag = byTag(tag, name);
  if (ofTag !== undefined) return ofTag;
  // AngularJS reads a `:` and a `_` as a `-`, and htmx takes an end that says who inherits the value.
  const key = name.replace(/[:_]/g, "-").replace(/(?:-inherited|-append)+$/, "");
  const listed = table.get(key) ?? table.get(key.replace(/^data-(?=hx-|sse-|ws-)/, ""));
  if (listed !== undefined) return listed === "url" ? kindOfUrl(tag, name) : listed;
  if (name.includes(":") || ofLibrary.test(key) || ofDatastar.test(key)) return library;
  if (/(?:^|-)srcset(?:-|$)/.test(key)) return "urls";
  return urlWord.test(key) ? kindOfUrl(tag, name) : "text";
}

const animations = /^(?:animate(?:color|motion|transform)?|set)$/;
const animated = /^(?:attributename|by|from|to|values)$/;
/** URLs on elements of HTML, and any text on those that a page defines. */
const ofHtmlAlone = /^(?:archive|background|classid|codebase|data|manifest|profile)$/;

/** What an attribute holds on one element alone. */
function byTag(tag: TagToCheck, name: string): AttributeKind | RefusedAttribute | undefined {
  if (tag.name === "meta" && name === "content") {
    if (tag.has("http-equiv")) return { refused: 'what "http-equiv" takes cannot be filled in: send a header' };
    return tag.literal("name") === "htmx-config" ? "json" : undefined;
  }
  if (tag.name === "script" && (name === "type" || name === "language"))
    return { refused: "the type of a script says whether it is code: write it in the template" };
  if (animations.test(tag.name) && animated.test(name)) return animation;
  // Vue 2 has it for its slots.
  if (tag.name === "template" && name === "scope") return library;
  return ofHtmlAlone.test(name) && !tag.name.includes("-") ? kindOfUrl(tag, name) : undefined;
}

/** Elements that bring code, or HTML into the page: a file of SVG has scripts, and Turbo puts in what it loads. */
const codeElements = /^(?:applet|base|embed|object|script|turbo-frame|turbo-stream-source|use)$/;
// `icon`, `canonical`, `alternate` and the like bring none.
const codeRelation =
  /(?:^|[\t\n\f\r ])(?:import|manifest|modulepreload|preload|serviceworker|stylesheet)(?:[\t\n\f\r ]|$)/i;

function kindOfUrl(tag: TagToCheck, name: string): AttributeKind {
  if (codeElements.test(tag.name)) return name.startsWith("data-") ? "url" : "code-url";
  if (tag.name !== "link" || name !== "href") return "url";
  const relation = tag.literal("rel");
  return relation === undefined || codeRelation.test(relation) ? "code-url" : "url";
}

/** What is escaped, and a brace. A carriage return would be read as a line feed, and HTML can say no NUL at all. */
// oxlint-disable-next-line no-control-regex
export const special: RegExp = /[&<>"'\r\0{]/;
// oxlint-disable-next-line no-control-regex
const specialInClass = /[&<>"'\r\0{:]/;

/** AngularJS also has directives in classes (`ng-init: code`), and reads the name of a form as code. */
export function specialOf(
  tag: TagToCheck,
  name: string,
): { readonly special: RegExp; readonly code: RegExp | undefined } {
  if (name === "class") return { special: specialInClass, code: /(?:^|[^a-z])ng(?:[-_]|[A-Z])/ };
  return tag.name === "form" && name === "name" ? { special: /[^\w-]/, code: /[^\w-]/ } : { special, code: undefined };
}

const words: ReadonlySet<string> = /* @__PURE__ */ new Set(["contenteditable", "draggable", "spellcheck"]);

/** Whether an attribute takes the words `true` and `false`, and no presence or absence: `aria-expanded`, `data-open`. */
export function takesWords(name: string): boolean {
  return name.includes("-") || words.has(name);
}

/** The schemes of a URL that is filled in whole. */
const schemes: ReadonlySet<string> = /* @__PURE__ */ new Set(["http", "https", "mailto", "tel"]);

/** Written for a URL that is refused. No browser loads it (CSS Values 4, "about:invalid"). */
const refusedUrl = "about:invalid#unsafe-url";

/** What is written for a value: itself, where it is safe. A control character in a scheme is of no listed one. */
export function safeValue(kind: AttributeKind, value: string, written: string): string {
  if (kind === "url") return hasSafeScheme(value) ? written : refusedUrl;
  if (kind === "urls") return value.split(/[\t\n\f\r ,]+/).every(hasSafeScheme) ? written : refusedUrl;
  if (kind === "code-url") return isOfThisOrigin(value) ? written : refusedUrl;
  // Behind a space it is a text to htmx.
  return kind === "question" && scriptScheme.test(value) ? ` ${written}` : written;
}

function hasSafeScheme(url: string): boolean {
  const end = url.search(/[:/?#]/);
  if (end === -1 || url[end] !== ":") return true;
  return schemes.has(withoutIgnored(url.slice(0, end)).toLowerCase());
}

/** A scheme, `//host`, and to a browser `\\host` and `/\host`, name another origin. */
function isOfThisOrigin(url: string): boolean {
  const read = withoutIgnored(url);
  return !/^[/\\]{2}/.test(read) && !/^[^/?#\\]*:/.test(read);
}

/** Without what a URL parser ignores: control characters and spaces before it, tabs and line ends in it. */
function withoutIgnored(url: string): string {
  // oxlint-disable-next-line no-control-regex
  return url.replace(/[\t\n\r]/g, "").replace(/^[\0-\x20]+/, "");
}

/** htmx runs what follows. */
const scriptScheme = /^[\t\n\f\r ]*(?:javascript|js):/i;

/**
 * What the template's text around the values says of the attribute: `fixed` where no value can change its scheme (or, for code, its
 * origin), `open` where one can; `code` where it is code or a page, and `entity` where it cannot be read without decoding it.
 */
export function readPrefix(kind: AttributeKind, pieces: readonly string[]): "fixed" | "open" | "code" | "entity" {
  if (kind === "text" || kind === "numbers") return "fixed";
  const prefix = pieces[0] as string;
  if (kind === "json") return readJsonPrefix(prefix);
  if (kind === "question") return readQuestionPrefix(prefix);
  const read = withoutIgnored(prefix);
  if (kind === "code-url" && ofKnownOrigin.test(read)) return "fixed";
  if ((kind === "code-url" ? /^[^?#]*&/ : /^[^:/?#]*&/).test(pieces.join(""))) return "entity";
  const scheme = /^([^:/?#]*):/.exec(read)?.[1]?.toLowerCase();
  if (scheme === "javascript" || scheme === "vbscript" || scheme === "js") return "code";
  // A picture, but no SVG: that may have scripts.
  if (scheme === "data") return kind === "url" && /^data:image\/(?!svg)[\w.-]+[;,]/i.test(read) ? "fixed" : "code";
  if (kind === "urls") return "open";
  return kind === "url" && (scheme !== undefined || /[/?#]/.test(read)) ? "fixed" : "open";
}

/** A whole origin, a path of this one, or a relative path. */
const ofKnownOrigin = /^(?:(?:https?:|wss?:)?\/\/[^/?#\\&]+[/?#]|\/[^/\\&]|[^:/?#\\&]+[/?#])/i;

function readJsonPrefix(prefix: string): "fixed" | "code" | "entity" {
  if (scriptScheme.test(prefix)) return "code";
  return /^[\t\n\f\r ]*[a-z]*&(?!quot;)/i.test(prefix) ? "entity" : "fixed";
}

function readQuestionPrefix(prefix: string): "fixed" | "open" | "code" | "entity" {
  if (scriptScheme.test(prefix)) return "code";
  const text = prefix.replace(/^[\t\n\f\r ]+/, "").toLowerCase();
  const entity = text.indexOf("&");
  if (entity !== -1 && isScriptBegun(text.slice(0, entity))) return "entity";
  return isScriptBegun(text) ? "open" : "fixed";
}

function isScriptBegun(text: string): boolean {
  return "javascript:".startsWith(text) || "js:".startsWith(text);
}
