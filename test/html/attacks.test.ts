/** Hostile values in every place that takes one: the page has the elements, the attributes and the text that it should have, and no others. */
import fc from "fast-check";
import { parse } from "parse5";
import type { DefaultTreeAdapterTypes } from "parse5";
import { describe, expect, it } from "vitest";
import { Html, html as h } from "usher-http";
import { browser, inTab } from "../support/browser.ts";
import { hostile } from "./hostile.ts";
import { rounds } from "../support/wide.ts";
import { codePoint } from "../support/code-point.ts";

const refusedUrl = "about:invalid#unsafe-url";

type Place = readonly [name: string, page: (value: string) => Html];

const plain: readonly Place[] = [
  ["between tags", (x) => h`<p>a ${x} b</p>`],
  ["between tags, nested", (x) => h`<ul>${[x, x].map((one) => h`<li>${one}</li>`)}</ul>`],
  ["in a table", (x) => h`<table><tr><td>x${x}</table>`],
  ["in SVG", (x) => h`<svg><text>${x}x</text><desc>x${x}</desc></svg>`],
  ["in MathML", (x) => h`<math><mtext>x${x}</mtext></math>`],
  ["in a select", (x) => h`<select><option>x${x}</option></select>`],
  ["in noscript", (x) => h`<noscript><p title="${x}">x${x}</p></noscript>`],
  ["in a template", (x) => h`<template><p>x${x}</p></template>`],
  ["in preformatted text", (x) => h`<pre>${x}</pre>`],
  ["in a title", (x) => h`<title>${x}</title>`],
  ["in a text area", (x) => h`<textarea>${x}</textarea><p>b`],
  ["in double quotes", (x) => h`<p title="${x}">b</p>`],
  ["in double quotes, in part", (x) => h`<p title="a ${x} b" id=c>b</p>`],
  ["in single quotes", (x) => h`<p title='${x}'>b</p>`],
  ["without quotes", (x) => h`<input value=${x}><p>b`],
  ["without quotes, at the end", (x) => h`<input type=text value=${x}/><p>b`],
  ["in data", (x) => h`<p data-a="${x}" data-b='${x}' data-c=${x}>b`],
  ["in SVG's attribute", (x) => h`<svg><text x="${x}">b</text></svg>`],
  ["in a description", (x) => h`<meta name="description" content="${x}">`],
  ["in JSON of an attribute", (x) => h`<p data-a="${Html.json(x)}">b`],
];

const urls: readonly Place[] = [
  ["in a link", (x) => h`<a href="${x}">b</a>`],
  ["in a link without quotes", (x) => h`<a href=${x}>b</a>`],
  ["in a link in two", (x) => h`<a href="${x.slice(0, 5)}${x.slice(5)}">b</a>`],
  ["in SVG's link", (x) => h`<svg><a xlink:href='${x}'>b</a></svg>`],
  ["in a form", (x) => h`<form action="${x}"><button formaction=${x}>b</button></form>`],
  ["in pictures", (x) => h`<img src="${x}" alt=""><video poster=${x}></video>`],
  ["in a frame", (x) => h`<iframe src="${x}"></iframe>`],
  ["in a script's address", (x) => h`<script src="${x}"></script>`],
  ["in an object", (x) => h`<object data=${x}></object><embed src="${x}">`],
  ["in a style sheet's address", (x) => h`<link rel=stylesheet href="${x}"><base href='${x}'>`],
];

const base = "https://a.example/b";
const listed = ["http:", "https:", "mailto:", "tel:"];

/** As HTML can say it. */
const sayable = (text: string) => text.replaceAll("\0", "\uFFFD");

/** What a template adds where a value has `{{`: a comment between the braces, or an attribute. */
const isAdded = (name: string) => ["#comment", "ng-non-bindable", "v-pre"].includes(name);

/** The elements, attributes and texts of a page. */
function treeOf(page: string, scriptingEnabled = true): unknown {
  const nodeOf = (node: DefaultTreeAdapterTypes.Node): unknown => {
    if (node.nodeName === "#text") return "value" in node ? node.value : "";
    const children =
      "childNodes" in node ? joined(node.childNodes.filter(({ nodeName }) => !isAdded(nodeName)).map(nodeOf)) : [];
    const attributes =
      "attrs" in node ? node.attrs.filter(({ name }) => !isAdded(name)).map(({ name, value }) => [name, value]) : [];
    const content = "content" in node ? nodeOf(node.content) : undefined;
    return [node.nodeName, attributes, children, content];
  };
  return nodeOf(parse(page, { scriptingEnabled }));
}

/** Texts next to each other are one. */
function joined(children: readonly unknown[]): readonly unknown[] {
  const all: unknown[] = [];
  for (const child of children.filter((one) => one !== "")) {
    const last = all.at(-1);
    if (typeof child === "string" && typeof last === "string") all[all.length - 1] = last + child;
    else all.push(child);
  }
  return all;
}

function valuesIn(tree: unknown): readonly string[] {
  return Array.isArray(tree) ? tree.flatMap(valuesIn) : typeof tree === "string" ? [tree] : [];
}

const mark = "xMARKx";

/** The same tree, with other text where the mark is. */
function withValue(tree: unknown, text: string): unknown {
  if (typeof tree === "string") return tree.replaceAll(mark, () => text);
  return Array.isArray(tree) ? tree.map((part) => withValue(part, text)) : tree;
}

/** Without empty texts, which a page has not. */
function seen(tree: unknown): readonly string[] {
  return valuesIn(tree).filter((text) => text !== "");
}

/** Whether two trees differ: 7,000 comparisons by `expect` take ten times as long. */
function differ(made: unknown, due: unknown): boolean {
  return JSON.stringify(seen(made)) !== JSON.stringify(seen(due));
}

const jsonOf = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]|\{(?=\{)/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

describe("a hostile value is only text", () => {
  it("and there are more than 200", () => expect(hostile.length).toBeGreaterThan(200));

  it.each(plain)("%s", (name, page) => {
    // What is in noscript is text to a browser that runs scripts.
    const read = (value: string) => treeOf(String(page(value)), name !== "in noscript");
    const harmless = read(mark);
    const shownOf = name.startsWith("in JSON") ? (value: string) => jsonOf(value).slice(1, -1) : sayable;
    const changed = hostile.filter((value) => differ(read(value), withValue(harmless, shownOf(value))));
    expect(changed).toEqual([]);
  });

  it("in a script of data", () => {
    for (const value of hostile) {
      const page = String(h`<script type="application/json">${Html.json({ value })}</script><p>b</p>`);
      const harmless = treeOf(
        String(h`<script type="application/json">${Html.json({ value: mark })}</script><p>b</p>`),
      );
      const script = valuesIn(treeOf(page)).find((text) => text.startsWith("{"));
      expect(JSON.parse(script ?? "")).toEqual({ value });
      const written = jsonOf(value).slice(1, -1);
      expect(differ(treeOf(page), withValue(harmless, written))).toBe(false);
    }
  });

  it.each(urls)("%s, or no URL at all", (_name, page) => {
    const harmless = treeOf(String(page(mark)));
    const isRefused = (value: string) => String(page(value)).includes(refusedUrl);
    const changed = hostile.filter((value) => {
      const shown = isRefused(value) ? refusedUrl : sayable(value);
      return differ(treeOf(String(page(value))), withValue(harmless, shown));
    });
    expect(changed).toEqual([]);
    const kept = hostile.filter((value) => !isRefused(value));
    const read = kept.filter((value) => URL.canParse(value, base)).map((value) => new URL(value, base).protocol);
    expect(read.filter((protocol) => !listed.includes(protocol))).toEqual([]);
    expect(kept.length).toBeGreaterThan(60);
    expect(hostile.length - kept.length).toBeGreaterThan(60);
  });

  it("a URL with code stays in this origin", () => {
    const kept = hostile.filter((value) => !String(h`<script src=${value}></script>`).includes(refusedUrl));
    const origins = kept.filter((value) => URL.canParse(value, base)).map((value) => new URL(value, base).origin);
    expect([...new Set(origins)]).toEqual(["https://a.example"]);
  });
});

describe("any text", () => {
  const text = fc.oneof(
    fc.string({ unit: codePoint }),
    fc.string({ unit: fc.constantFrom(..."<>&\"'`=/ \n\r\t\0\ud800-!ab:;#x1") }),
  );

  it.each(plain.filter(([name]) => !name.includes("JSON")))("%s is read back unchanged", (name, page) => {
    const read = (value: string) => treeOf(String(page(value)), name !== "in noscript");
    const harmless = read(mark);
    fc.assert(
      fc.property(text, (value) => {
        expect(seen(read(value))).toEqual(seen(withValue(harmless, sayable(value))));
      }),
      { numRuns: rounds(40) },
    );
  });
});

describe.skipIf(browser.isSkipped)(`in Chromium${browser.why}`, () => {
  it("no hostile value runs, and no link contains code", () =>
    inTab(async (page) => {
      const fired: string[] = [];
      page.on("dialog", (dialog) => void (fired.push(dialog.message()), dialog.dismiss()));
      await page.route("**/*", (route) =>
        route.request().url() === "https://a.example/" ? route.continue() : route.abort(),
      );
      const places = [...plain, ...urls].filter(([name]) => !/title|frame|style sheet/.test(name));
      const values = hostile.filter((value) => value.length < 1000);
      const body = h`<!doctype html><meta charset="utf-8">${places.map(([, make]) => values.map((value) => h`<div>${make(value)}</div>`))}<p id="end">`;
      await page.setContent(String(body), { waitUntil: "domcontentloaded" });
      const found = await page.evaluate<{ readonly protocols: readonly string[] }>(`(() => {
        const of = (names) => [...document.querySelectorAll(names)];
        const handlers = of("*").filter((one) => one.getAttributeNames().some((name) => name.startsWith("on")));
        const protocols = [...new Set(of("a[href]").map((one) => one.protocol))];
        return { handlers: handlers.length, protocols, scripts: of("script:not([src])").length, divs: of("body > div").length };
      })()`);
      expect(found).toMatchObject({ handlers: 0, scripts: 0, divs: places.length * values.length });
      expect(found.protocols.filter((one) => ![":", "about:", ...listed].includes(one))).toEqual([]);
      expect(fired).toEqual([]);
    }));
});
