/** What an attribute's value is to a browser, by the attribute's name: it decides whether a template may fill it in. */

/** How a value is checked: not at all, as one URL, as each of several, or as the URL of code, which stays in its origin. */
export type AttributeKind = "plain" | "url" | "urls" | "code-url";

/** A start tag, as far as the kinds of its attributes depend on it. */
export interface TagToCheck {
  /** In lower case. */
  readonly name: string;
  /** The value of another attribute; undefined where it has none, or one that is filled in. */
  literal(name: string): string | undefined;
  has(name: string): boolean;
}

const urlNames: ReadonlySet<string> = new Set([
  "action",
  "background",
  "cite",
  "classid",
  "codebase",
  "data",
  "formaction",
  "icon",
  "longdesc",
  "manifest",
  "poster",
  "profile",
  "usemap",
]);
const urlListNames: ReadonlySet<string> = new Set(["archive", "ping"]);
/** Also of libraries: `data-src`, `hx-push-url`. */
const urlPart = /href|src|uri|url/;

const animations: ReadonlySet<string> = new Set([
  "animate",
  "animatecolor",
  "animatemotion",
  "animatetransform",
  "set",
]);
const animated: ReadonlySet<string> = new Set(["attributename", "by", "from", "to", "values"]);

/** Attributes that a library runs as code: Alpine, Vue, AngularJS, htmx. */
const codeOfLibraries = /^(?:[@:]|(?:data-)?(?:x-|v-|ng-|hx-on|hx-vars))/;

const data = 'put the data into a "data-…" attribute and read it in a script file';

/** Why an attribute cannot be filled in, and what to do; undefined where it can. */
export function refusedAttribute(tag: TagToCheck, name: string): string | undefined {
  if (name.startsWith("on")) return `an event handler is code: ${data}`;
  if (codeOfLibraries.test(name)) return `a library runs this attribute as code: ${data}`;
  if (name === "style") return "CSS cannot be filled in: choose a class, or write the whole style in the template";
  if (name === "srcdoc") return 'this is a page inside a page: give it an address of its own in "src"';
  if (name === "http-equiv") return "this changes how the page is read: write it in the template, or send a header";
  if (tag.name === "meta" && name === "content" && tag.has("http-equiv")) {
    return 'what "http-equiv" takes cannot be filled in: send a header';
  }
  if (tag.name === "script" && (name === "type" || name === "language")) {
    return "the type of a script says whether it is code: write it in the template";
  }
  if (animations.has(tag.name) && animated.has(name))
    return "an animation can set any attribute: write it in the template";
  return undefined;
}

export function kindOfAttribute(tag: TagToCheck, name: string): AttributeKind {
  if (urlListNames.has(name) || name.endsWith("srcset")) return "urls";
  if (!urlNames.has(name) && !urlPart.test(name)) return "plain";
  return bringsCode(tag, name) ? "code-url" : "url";
}

const codeElements: ReadonlySet<string> = new Set(["applet", "base", "embed", "object", "script"]);
// `icon`, `canonical`, `alternate` and the like bring none.
const codeRelations = /stylesheet|preload|import|manifest|worker/i;

function bringsCode(tag: TagToCheck, name: string): boolean {
  if (codeElements.has(tag.name)) return !name.startsWith("data-");
  if (tag.name !== "link" || name !== "href") return false;
  const relation = tag.literal("rel");
  return relation === undefined || codeRelations.test(relation);
}

const words: ReadonlySet<string> = new Set(["contenteditable", "draggable", "spellcheck"]);

/** Whether an attribute takes the words `true` and `false`, and no presence or absence: `aria-expanded`, `data-open`. */
export function takesWords(name: string): boolean {
  return name.includes("-") || words.has(name);
}

/** The schemes of a URL that is filled in whole. */
const schemes: ReadonlySet<string> = new Set(["http", "https", "mailto", "tel"]);

/** Written for a URL that is refused. No browser loads it (CSS Values 4, "about:invalid"). */
export const refusedUrl = "about:invalid#unsafe-url";

/** Whether a value may be a link. A control character in a scheme is of no listed one. */
export function isSafeUrl(kind: AttributeKind, url: string): boolean {
  if (kind === "urls") return url.split(/[\t\n\f\r ,]+/).every(hasSafeScheme);
  return kind === "code-url" ? isOfThisOrigin(url) : hasSafeScheme(url);
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

/**
 * What the text before the first value says of the URL: `fixed` where no value can change its scheme (or, for code, its origin),
 * `open` where one can, and `unsafe` where it is code or a page.
 */
export function prefixOfUrl(kind: AttributeKind, prefix: string): "fixed" | "open" | "unsafe" {
  const read = withoutIgnored(prefix);
  const scheme = /^([^:/?#]*):/.exec(read)?.[1]?.toLowerCase();
  if (scheme === "javascript" || scheme === "vbscript") return "unsafe";
  // A picture, but no SVG: that may have scripts.
  if (scheme === "data") return kind === "url" && /^data:image\/(?!svg)/i.test(read) ? "fixed" : "unsafe";
  if (kind === "urls") return "open";
  if (kind === "url") return scheme !== undefined || /[/?#]/.test(read) ? "fixed" : "open";
  if (/^(?:https?:)?\/\/[^/?#\\]+[/?#]/i.test(read) || /^\/[^/\\]/.test(read)) return "fixed";
  return /^[^:/?#\\]+[/?#]/.test(read) ? "fixed" : "open";
}
