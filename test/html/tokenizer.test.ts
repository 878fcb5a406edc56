/** A template is read as the HTML parser reads the page: where the template's reader sees a value, parse5 sees it. */
import fc from "fast-check";
import { parseFragment } from "parse5";
import type { DefaultTreeAdapterTypes } from "parse5";
import { describe, expect, it } from "vitest";
import { readTemplate } from "../../src/html/template.ts";
import { rounds } from "../support/wide.ts";
import { hostile } from "./hostile.ts";
import { templateOf } from "./template-of.ts";

/** Where each mark is: in an attribute of a name, in a comment, or in the text of an element. */
type Found = ReadonlyMap<string, string>;

const mark = (i: number) => `xMARK${i}x`;

function placesOf(page: string, scriptingEnabled: boolean): Found {
  const found = new Map<string, string>();
  const note = (text: string, place: string) => {
    for (const [name] of text.matchAll(/xMARK\d+x/gi))
      found.set(name, [undefined, place].includes(found.get(name)) ? place : "two places");
  };
  const walk = (node: DefaultTreeAdapterTypes.Node, parent: string): void => {
    note(node.nodeName, "a name");
    if ("value" in node) note(node.value, raw.has(parent) ? `raw ${parent}` : "text");
    if ("data" in node) note(node.data, "a comment");
    if ("attrs" in node)
      for (const { name, value, prefix } of node.attrs) {
        note(name, "a name");
        note(value, `attribute ${prefix === undefined || prefix === "" ? name : `${prefix}:${name}`}`);
      }
    if ("content" in node) walk(node.content, "");
    if ("childNodes" in node) for (const child of node.childNodes) walk(child, node.nodeName);
  };
  walk(parseFragment(page, { scriptingEnabled }), "");
  return found;
}

const raw = new Set(["script", "style", "iframe", "noembed", "noframes", "xmp", "plaintext"]);

/** What the reader of templates says of each value; undefined where it refuses the template. */
function claimed(texts: readonly string[]): readonly string[] | undefined {
  try {
    return readTemplate(texts).holes.map((hole) =>
      hole.attribute === undefined ? (hole.in === "json" ? "raw script" : "text") : `attribute ${hole.attribute.name}`,
    );
  } catch {
    return undefined;
  }
}

/** The page of marks, as the template would write it. */
function pageOf(texts: readonly string[]): string {
  const { texts: kept, holes } = readTemplate(texts);
  return kept.reduce((page, text, i) => {
    const hole = holes[i - 1] as (typeof holes)[number];
    const written = `${hole.before ?? ""}${hole.tagEnd ?? ""}${mark(i - 1)}${hole.after ?? ""}`;
    return page + (hole.in === "whole" ? ` ${hole.attribute?.name ?? ""}="${written}"` : written) + text;
  });
}

/** The values that the reader and the parser see in other places. */
function differing(texts: readonly string[]): readonly string[] {
  const places = claimed(texts);
  if (places === undefined || places.length === 0) return [];
  return [true, false].flatMap((scripting) => {
    const found = placesOf(pageOf(texts), scripting);
    return places.flatMap((place, i) => {
      // A parser leaves out what it allows nowhere, as text of a frameset; and it does not parse noscript where it runs scripts.
      const seen = found.get(mark(i)) ?? "nothing";
      const isSame =
        asciiLowerCase(seen) === place || seen === "nothing" || (scripting && seen === "text" && hasNoscript(texts));
      return isSame ? [] : [`${JSON.stringify(texts)}, value ${i}: ${place}, but ${seen} (scripting: ${scripting})`];
    });
  });
}

/** SVG's names have capitals again. */
const asciiLowerCase = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const hasNoscript = (texts: readonly string[]) => /<noscript/i.test(texts.join(""));

describe("a comment ends where the HTML parser ends it", () => {
  const dashes = ["", "-", "--", "---", "----"];
  const beginnings = [
    "<!--",
    "<!---",
    "<!----",
    "<!-",
    "<!",
    "<!x",
    "<![CDATA[",
    "<?",
    "</",
    "</ ",
    "</x ",
    "<!doctype",
    "<!--<!--",
    "<!-- -",
  ];
  const middles = ["", "!", " ", "a", "<!--", "-!", "!-", ">a", "!>a", "->a", "\0", "\n", "]]", "<!", '"'];
  const ends = ["", ...dashes.flatMap((dash) => [`${dash}>`, `${dash}!>`, `${dash} >`])];
  const forms = beginnings.flatMap((one) => middles.flatMap((two) => ends.map((three) => one + two + three)));

  it.each([
    ["text", (form: string) => [`${form}<p>`, "</p>"]],
    ["an attribute", (form: string) => [`${form}<p title="`, '">b</p>']],
    ["an attribute behind an end of it", (form: string) => [`${form}<p title="--> --!> ]]> ?> `, '">b</p>']],
    ["SVG", (form: string) => [`<svg>${form}<text x="--> --!> `, `">b</text></svg>`]],
  ])("before %s", (_what, around) => {
    const texts = forms.map(around);
    expect(texts.flatMap(differing)).toEqual([]);
    expect(texts.filter((one) => claimed(one) !== undefined).length).toBeGreaterThan(300);
  });
});

const bytes = [
  "\0",
  "\f",
  "\v",
  "\r",
  "\u00a0",
  "\u212a",
  "\u0130",
  "\u017f",
  "\ufeff",
  "\ud800",
  "`",
  "|",
  "\\",
  "\x7f",
];
const element = fc.constantFrom(
  ..."p a b div pre listing textarea title style script iframe noembed noframes xmp plaintext noscript svg math select option".split(
    " ",
  ),
  ..."table tr td template foreignObject desc mi mtext annotation-xml image br input form frameset head body html".split(
    " ",
  ),
);
const word = fc.constantFrom(
  "title",
  "class",
  "data-x",
  "TITLE",
  "id",
  "x",
  "href",
  "xlink:href",
  "a\0b",
  "data-\u212a",
  "\u0130",
  "type",
  "a'b",
);
const text = fc.constantFrom(
  ..."a <b > & \" ' = / <!-- --> --!> <!--> ]]> </p> </ <? <! ${} -".split(" "),
  " ",
  "\n",
  ...bytes,
  "</noscript>",
  "</style>",
  "</title>",
  "</textarea>",
  "</script>",
  "&amp;",
);
const hole = fc.constant("\u0001");
const value = fc.array(fc.oneof(text, hole), { maxLength: 4 }).map((parts) => parts.join(""));
const attribute = fc.oneof(
  fc
    .tuple(word, fc.constantFrom(" ", "\n", "/", "\f", " / "), value)
    .map(([name, space, text]) => `${space}${name}="${text}"`),
  fc.tuple(word, value).map(([name, text]) => ` ${name}='${text}'`),
  fc.tuple(word, fc.constantFrom("", " ", "\n")).map(([name, space]) => ` ${name}${space}=${space}\u0001`),
  fc.tuple(word, fc.constantFrom("a", "a/", "a&b", "/", "`", "a\0")).map(([name, text]) => ` ${name}=${text}`),
  word.map((name) => ` ${name}`),
);
const startTag = fc
  .tuple(element, fc.array(attribute, { maxLength: 3 }), fc.constantFrom(">", ">", ">", " >", "/>", " / >", ""))
  .map(([name, attributes, end]) => `<${name}${attributes.join("")}${end}`);
const endTag = fc
  .tuple(element, fc.constantFrom(">", " >", "/>", ' a="b">', ""))
  .map(([name, end]) => `</${name}${end}`);
const balanced = fc
  .tuple(element, fc.array(attribute, { maxLength: 2 }), fc.array(fc.oneof(text, hole, startTag), { maxLength: 4 }))
  .map(([name, attributes, inside]) => `<${name}${attributes.join("")}>${inside.join("")}</${name}>`);
/** Other content is closed by its own end tag: a browser ignores one that is in the wrong place. */
const other = fc
  .tuple(fc.constantFrom("svg", "math", "select"), fc.array(fc.oneof(balanced, text, hole), { maxLength: 4 }))
  .map(([name, inside]) => `<${name}>${inside.join("")}</${name}>`);
const page = fc
  .array(fc.oneof({ weight: 3, arbitrary: balanced }, startTag, endTag, text, { weight: 2, arbitrary: hole }, other), {
    maxLength: 8,
  })
  .map((parts) => parts.join("").split("\u0001"));

describe("any template", () => {
  it("has its values where the HTML parser has them, or is refused", () => {
    let read = 0;
    fc.assert(
      fc.property(page, (texts) => {
        if (claimed(texts) !== undefined && texts.length > 1) read++;
        expect(differing(texts)).toEqual([]);
      }),
      { numRuns: rounds(4000) },
    );
    expect(read).toBeGreaterThan(200);
  });

  it("has the same elements and attributes with hostile values", () => {
    const shapeOf = (node: DefaultTreeAdapterTypes.Node): unknown => {
      const own = "attrs" in node ? node.attrs.map(({ name }) => name).filter((name) => !isAdded(name)) : [];
      const children =
        "childNodes" in node ? node.childNodes.filter(({ nodeName }) => !["#text", "#comment"].includes(nodeName)) : [];
      return [node.nodeName, own, children.map(shapeOf), "content" in node ? shapeOf(node.content) : undefined];
    };
    const isAdded = (name: string) => ["ng-non-bindable", "v-pre"].includes(name);
    const shape = (made: string) => JSON.stringify(shapeOf(parseFragment(made)));
    fc.assert(
      fc.property(page, fc.infiniteStream(fc.constantFrom(...hostile)), (texts, values) => {
        const places = claimed(texts);
        if (places === undefined || places.length === 0 || places.includes("raw script")) return;
        const made = String(templateOf(texts, [...values.take(texts.length - 1)]));
        expect(shape(made)).toBe(
          shape(
            String(
              templateOf(
                texts,
                places.map((_, i) => mark(i)),
              ),
            ),
          ),
        );
      }),
      { numRuns: rounds(2000) },
    );
  });
});
