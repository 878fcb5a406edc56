/** What each attribute holds, and those that a library would run. */
import { describe, expect, it } from "vitest";
import { Html } from "usher-http";
import { hostile } from "./hostile.ts";
import { templateOf, withAttribute } from "./template-of.ts";

const words = (text: string) => text.trim().split(/\s+/);
const refusedUrl = "about:invalid#unsafe-url";

/** The attribute's value as it is written; the name of the element is `p` where the row has no other one. */
function written(element: string, value: string): string {
  const [name, tag = "p"] = element.startsWith("@") ? [element] : (element.split("@") as [string, string?]);
  const text = String(withAttribute(tag, name, value));
  return text.slice(text.indexOf('="') + 2, text.lastIndexOf('"'));
}

const reasonOf = (element: string): string => {
  try {
    written(element, "x");
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

describe("an attribute of text", () => {
  it.each(
    words(`
    title class id value name alt lang role for placeholder pattern type rel target slot part nonce scope@th
    data-during data-source data-curl data-icon icon data-resource hourly data-unfurled data-srcs
    data@my-chart profile@x-card background@x-card manifest@x-card
    data-x data-online data-once data-only data-texture data-showing data-classify data-initial data-effects data-star-rating
    data-id data-order data-ref data-indicator data-action data-controller data-up-votes data-fx-rate data-ts
    aria-label viewbox@svg d@path fill@path xml:lang xmlns:xlink@svg
    hx-target hx-swap data-hx-select hx-include hx-ext hx-target:inherited hx-disable hx-nonce sse-swap data-sse-swap ws-send
    up-target up-layer up-confirm x-ref fx-target größe
  `),
  )("%s", (element) => {
    for (const value of ["10:30", "mdi:home", "javascript:x"]) expect(written(element, value)).toBe(value);
  });
});

describe("an attribute of a URL", () => {
  it.each(
    words(`
    href@a src@img action@form formaction@button poster@video cite@q xlink:href@a background@body data-src data-image-url
    data-url-pattern data_src hx-push-url hx-replace-url:inherited up-href lowsrc@img longdesc@img src@iframe data-href@script
    href@link usemap@img
  `),
  )("%s", (element) => {
    // A link of an unknown relation may bring code.
    const isLink = element === "href@link";
    expect(written(element, "https://e.example/")).toBe(isLink ? refusedUrl : "https://e.example/");
    expect(written(element, "/a:b")).toBe("/a:b");
    expect(written(element, "javascript:x")).toBe(refusedUrl);
  });

  it.each(words("srcset@img imagesrcset@link ping@a data-srcset attributionsrc@a"))("or several: %s", (element) => {
    expect(written(element, "/a https://e.example/b")).toBe("/a https://e.example/b");
    expect(written(element, "/a javascript:x")).toBe(refusedUrl);
  });

  it.each(
    words(`
    src@script href@script xlink:href@script href@base src@embed data@object href@use xlink:href@use
    src@turbo-frame src@turbo-stream-source
    hx-get hx-post hx-put hx-patch hx-delete hx-query hx-action data-hx-get hx-get:inherited hx-sse:connect hx-ws:connect hx-ws-connect
    sse-connect data-sse-connect ws-connect data-ws-connect up-source fx-action
  `),
  )("that brings code stays in its origin: %s", (element) => {
    for (const value of ["/a", "a?b=c:d", "../a#b", ""]) expect(written(element, value)).toBe(value);
    for (const value of [
      "https://e.example/",
      "//e.example",
      "\\\\e.example",
      "js:alert(1)",
      "javascript:x",
      "wss://e.example",
    ]) {
      expect(written(element, value)).toBe(refusedUrl);
    }
    const base = "https://a.example/b";
    const kept = hostile.filter((value) => !written(element, value).includes(refusedUrl));
    expect(kept.filter((value) => new URL(value, base).origin !== "https://a.example")).toEqual([]);
  });
});

describe("an attribute of a URL that begins in the template", () => {
  it.each([
    ["in the template's origin", "hx-get", ["https://a.example/", ""], "x", "https://a.example/x"],
    ["in the template's origin of a socket", "ws-connect", ["wss://a.example/", ""], "x", "wss://a.example/x"],
    ["behind the template's slash", "hx-get", ["/", ""], "/e.example", refusedUrl],
    ["behind the template's path", "hx-get", ["/a/", ""], "/e.example", "/a//e.example"],
    ["of a picture", "src", ["data:image/png,", ""], "x", "data:image/png,x"],
    ["of a picture, with a parameter", "src", ["data:image/webp;base64,", ""], "x", "data:image/webp;base64,x"],
  ] as const)("%s", (_what, name, around, value, text) => {
    expect(String(withAttribute("img", name, value, around))).toBe(`<img ${name}="${text}">`);
  });

  it.each([
    ["src", "data:image/"],
    ["src", "data:image/s"],
    ["src", "data:image/svg"],
    ["src", "data:image/svg+xml,"],
    ["src", "data:image/png"],
    ["src", "data:"],
    ["hx-get", "js:"],
    ["hx-get", " JavaScript:"],
    ["hx-vals", "js:{a:"],
    ["hx-headers", " javascript:"],
    ["hx-confirm", "js:"],
  ] as const)("whose %s begins with %j is refused", (name, prefix) => {
    expect(() => withAttribute("img", name, 1, [prefix, ""])).toThrow("this is code or a page");
  });

  it.each([
    ["href", "java&#115;cript:"],
    ["hx-get", "/&#47;"],
    ["hx-vals", "js&colon;"],
    ["hx-confirm", "j&#115;:"],
  ] as const)("whose %s begins with %j is refused", (name, prefix) => {
    expect(() => withAttribute("a", name, 1, [prefix, ""])).toThrow("write the character");
  });

  it("whose relation has an entity brings code", () => {
    expect(String(withAttribute("link rel=styl&#101;sheet", "href", "//e.example"))).toContain(refusedUrl);
    expect(String(withAttribute('link rel="icon"', "href", "//e.example"))).not.toContain(refusedUrl);
    expect(String(withAttribute('link rel="alternate stylesheet"', "href", "//e.example"))).toContain(refusedUrl);
  });
});

describe("an attribute of JSON", () => {
  it.each(words("hx-vals hx-headers hx-request hx-config hx-boost data-hx-vals up-data up-params hx-vals:inherited"))(
    "%s",
    (name) => {
      const json = Html.json({ a: "js:x" });
      expect(String(withAttribute("p", name, json))).toBe(`<p ${name}="{&quot;a&quot;:&quot;js:x&quot;}">`);
      expect(
        String(
          withAttribute("p", name, 5, ['{"a": ', "}"].map((one) => one.replaceAll('"', "&quot;")) as [string, string]),
        ),
      ).toBe(`<p ${name}="{&quot;a&quot;: 5}">`);
      expect(String(withAttribute("p", name, true))).toBe(`<p ${name}="true">`);
      expect(() => withAttribute("p", name, "{}")).toThrow("it takes Html.json(value) and numbers");
    },
  );

  it("of the configuration of htmx", () => {
    expect(() => withAttribute("meta name=htmx-config", "content", "{}")).toThrow("it takes Html.json(value)");
    expect(String(withAttribute("meta name=htmx-config", "content", Html.json({})))).toContain('content="{}"');
  });
});

describe("an attribute with code in brackets", () => {
  it("takes numbers", () => {
    expect(String(withAttribute("p", "hx-trigger", 5, ["every ", "s"]))).toBe('<p hx-trigger="every 5s">');
    for (const value of ["load", "click[alert(1)]", Html.json("load")])
      expect(() => withAttribute("p", "hx-trigger", value)).toThrow("it takes numbers alone");
  });
});

describe("a question of htmx", () => {
  it.each([
    [["", ""], "Delete it?", "Delete it?"],
    [["Delete ", "?"], "js:alert(1)", "Delete js:alert(1)?"],
    [["A &amp; ", "?"], "b", "A &amp; b?"],
    [["", ""], "js:alert(1)", " js:alert(1)"],
    [["j", ""], "s:alert(1)", " js:alert(1)"],
    [["", ":alert(1)"], "javascript", " javascript:alert(1)"],
  ] as const)("%j of %j", (around, value, text) => {
    expect(String(withAttribute("p", "hx-confirm", value, around))).toBe(`<p hx-confirm="${text}">`);
  });
});

describe("an attribute that is code", () => {
  it.each(words("onclick onload ontoggle on-click on:click on OnClick onanything"))(
    "is an event handler: %s",
    (name) => {
      expect(reasonOf(name)).toContain("an event handler is code");
    },
  );

  it.each(
    words(`
    @click :href #default .value ?disabled _ [title] (click) [(ngmodel)] *ngif $x %x ^x
    v-html v-on:click v-bind:title v-text slot-scope scope@template
    x-data x-on:click x-bind:class x-html x-text x-init x-show x-for x-id x-model.debounce data-x-data data-v-html
    ng-click ng:click ng_click data-ng-click data-ng_click data:ng-click x-ng-click x:ng-click ng-init ng-bind-html ui-sref uib-tooltip-html
    src@ng-include when@ng-pluralize when@ng-switch src@data-ng-include src@ng:include
    hx-on hx-on:click hx-on::before-request hx-on-click hx-vars hx-live hx-live:text hx-status:404 hx-ws hx-sse data-hx-on:click hx-anything
    script data-script sse-anything ws-anything
    data-bind data-bind-text data-bind:text data-on-click data-on:click data-on__window data-text data-show data-class data-class-a data-style
    data-attr-title data-signals data-signals-a data-computed-a data-effect data-init data-persist data-star-text data-star-on-click
    data-view-transition data-custom-validity data-replace-url data-query-string data-animate data-json-signals data-text__x
    params@like-button
    up-on-loaded up-on-accepted up-watch up-content up-fragment up-document up-placeholder up-use-data-map up-anything
    data-ajax-success data-ajax-begin wire:click wire-click rv-on-click mv-value ic-on-success bind:value bind-title bindon-x use:action
    class:active value.bind click.delegate attr:href xml:base foo:src
  `),
  )("of a library: %s", (element) => {
    expect(reasonOf(element)).toContain("a library runs this attribute as code");
  });

  it.each([
    ["is@p", "which code an element has"],
    ["style@p", "CSS cannot be filled in"],
    ["srcdoc@iframe", "a page inside a page"],
    ["http-equiv@meta", "how the page is read"],
    ["type@script", "the type of a script"],
    ["to@animate", "an animation can set any attribute"],
    ["values@animatetransform", "an animation can set any attribute"],
    ["attributename@set", "an animation can set any attribute"],
  ])("%s", (element, reason) => {
    expect(reasonOf(element)).toContain(reason);
  });

  it.each(["<p>{{ ", '<p title="{{ ', "<textarea>{{ ", "<title>a }} {{ b > "])("in %j", (before) => {
    expect(() => templateOf([before, " }}"], ["x"])).toThrow('"{{…}}"');
  });
});
