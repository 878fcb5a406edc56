/** What a template makes of each value by the place where it stands, and the templates that it refuses. */
import { describe, expect, it } from "vitest";
// By another name: the formatter would rewrite the templates.
import { Html, html as h } from "usher-http";
import type { HtmlValue } from "usher-http";

const hostile = `<b>"it's" & co</b>`;
const escaped = "&lt;b&gt;&quot;it&#39;s&quot; &amp; co&lt;/b&gt;";
const bold = h`<b>${"a<b"}</b>`;
const refused = "about:invalid#unsafe-url";
const any = (value: unknown) => value as HtmlValue;

type Made = readonly [what: string, made: Html, text: string];
type Refused = readonly [what: string, make: () => Html, sentence: string];

describe("a value between tags", () => {
  it.each<Made>([
    ["text", h`<p>${hostile}</p>`, `<p>${escaped}</p>`],
    ["text alone", h`${hostile}`, escaped],
    ["no value", h`<p>&amp;</p>`, "<p>&amp;</p>"],
    ["numbers", h`${1}${-0.5}${10n ** 20n}`, "1-0.5100000000000000000000"],
    ["nothing", h`<p>${undefined}${null}${true}${false}${""}</p>`, "<p></p>"],
    ["HTML", h`<p>${bold}</p>`, "<p><b>a&lt;b</b></p>"],
    ["a list", h`<ul>${[1, "<", bold, [undefined, ["x"]]]}</ul>`, "<ul>1&lt;<b>a&lt;b</b>x</ul>"],
    ["a set", h`${new Set(["a", "&"])}`, "a&amp;"],
    ["trusted HTML", h`<p>${Html.trusted("<i>")}</p>`, "<p><i></p>"],
    ["JSON", h`<p>${Html.json("<i>&'")}</p>`, `<p>"\\u003ci\\u003e\\u0026'"</p>`],
    ["a carriage return, and NUL", h`${"a\r\nb\0"}`, "a&#13;\nb\uFFFD"],
    ["in a title", h`<title>${hostile}</title>`, `<title>${escaped}</title>`],
    ["several in a title", h`<title>${["a", "<"]} – ${1}</title>`, "<title>a&lt; – 1</title>"],
    ["in a text area", h`<textarea>${"\nx"}</textarea>`, "<textarea>\n\nx</textarea>"],
    ["in a text area with text", h`<textarea>a${"\nx"}</textarea>`, "<textarea>a\nx</textarea>"],
    ["in preformatted text", h`<pre>${"\nx"}</pre>`, "<pre>\n\nx</pre>"],
    ["beside a less-than sign", h`1 < ${2} <3`, "1 < 2 <3"],
    ["before a less-than sign at its end", h`${1} <`, "1 &lt;"],
    [
      "behind a template that ends with it",
      h`${h`1 <`}${"img src=x onerror=alert(1) "}`,
      "1 &lt;img src=x onerror=alert(1) ",
    ],
    ["behind an ampersand", h`R&${"lt;"} &#${"60;"} ${h`S&`}${"lt;"}`, "R&amp;lt; &amp;#60; S&amp;lt;"],
    ["behind comments", h`<!-- <a --><!--><!---><!-- --!>${"<"}`, "<!-- <a --><!--><!---><!-- --!>&lt;"],
    ["behind a comment that ends late", h`<!--!> <a title="--!>${"<"}`, `<!--!> <a title="--!>&lt;`],
    ["with braces", h`<p>${"a {{b}} {c} {{{"}</p>`, "<p>a {<!---->{b}} {c} {<!---->{<!---->{<!----></p>"],
    ["with braces, in two", h`<p>${"{"}${"{b}}"} {${"{b}}"}</p>`, "<p>{<!----><!---->{b}} {<!---->{b}}</p>"],
    ["with braces, in a list", h`<p>${["{", "{b}}"]}</p>`, "<p>{<!---->{b}}</p>"],
    ["with braces, in a title", h`<title>${"{{b}}"}</title>`, "<title ng-non-bindable v-pre>{{b}}</title>"],
    [
      "with braces, in two of a title",
      h`<title>${"{"}${["{b}}"]}</title>`,
      "<title ng-non-bindable v-pre>{{b}}</title>",
    ],
    [
      "with braces, in a text area",
      h`<textarea rows="${2}">${"{{b}}"} c</textarea>`,
      `<textarea rows="2" ng-non-bindable v-pre>\n{{b}} c</textarea>`,
    ],
    ["with braces, in JSON", h`<p>${Html.json("{{b}}")}</p>`, `<p>"\\u007b{b}}"</p>`],
    ["with single braces", h`<pre>${'{"a":{"b":1}}'}</pre>`, "<pre>\n{&quot;a&quot;:{&quot;b&quot;:1}}</pre>"],
    [
      "behind a script",
      h`<!doctype html><script>if (a < "</p>") b();</script>${"<"}`,
      `<!doctype html><script>if (a < "</p>") b();</script>&lt;`,
    ],
    [
      "behind SVG with a style",
      h`<svg><style>a{b:c}</style></svg><script>a<b</script>`,
      `<svg><style>a{b:c}</style></svg><script>a<b</script>`,
    ],
    ["behind a style", h`<style>a > b { c: "</b>" }</style>${"<"}`, `<style>a > b { c: "</b>" }</style>&lt;`],
    ["behind a handler", h`<p onclick='a("<b>")' style="a:b">${"<"}</p>`, `<p onclick='a("<b>")' style="a:b">&lt;</p>`],
  ])("%s", (_what, made, text) => {
    expect(String(made)).toBe(text);
  });

  it("that is data of a script is written as JSON", () => {
    const data = { text: "</script><!--<script>\u2028\u2029&", n: [1, null] };
    const made = String(h`<script type="application/json" id="d">${Html.json(data)}</script><p>${"<"}</p>`);
    expect(made).toBe(
      `<script type="application/json" id="d">{"text":"\\u003c/script\\u003e\\u003c!--\\u003cscript\\u003e\\u2028\\u2029\\u0026","n":[1,null]}</script><p>&lt;</p>`,
    );
    expect(JSON.parse(made.slice(made.indexOf("{"), made.indexOf("</script>")))).toEqual(data);
  });

  it("is parsed once for each template literal of the program", () => {
    const row = (n: HtmlValue) => h`<i>${n}</i>`;
    expect([1, 2, "<"].map((n) => String(row(n)))).toEqual(["<i>1</i>", "<i>2</i>", "<i>&lt;</i>"]);
  });
});

describe("a value in an attribute", () => {
  it.each<Made>([
    ["in double quotes", h`<p title="a ${hostile} b">`, `<p title="a ${escaped} b">`],
    ["in single quotes", h`<p title='${hostile}'>`, `<p title='${escaped}'>`],
    ["without quotes", h`<p title=${hostile}>`, `<p title="${escaped}">`],
    ["without quotes, with spaces", h`<p title = ${"x"} id=a>`, `<p title="x" id=a>`],
    ["without quotes, before a slash", h`<input value=${"x"}/>`, `<input value="x"/>`],
    ["several", h`<p id=${1} class="a ${"b"} ${"c"}" lang=${"en"}>x`, `<p id="1" class="a b c" lang="en">x`],
    ["nothing in quotes", h`<p class="a ${false}${null}${undefined}${true}">`, `<p class="a ">`],
    ["left out", h`<p title=${undefined} id=${null} hidden=${false}>`, "<p>"],
    ["present", h`<input disabled=${true} required=${true}>`, "<input disabled required>"],
    ["empty", h`<p title=${""}>`, `<p title="">`],
    [
      "aria",
      h`<p aria-hidden=${true} aria-busy="${false}" aria-live=${undefined}>`,
      `<p aria-hidden="true" aria-busy="false">`,
    ],
    ["words", h`<p draggable=${false} data-open=${true}>`, `<p draggable="false" data-open="true">`],
    [
      "JSON",
      h`<p data-x="${Html.json({ a: "<'\"&" })}">`,
      `<p data-x="{&quot;a&quot;:&quot;\\u003c&#39;\\&quot;\\u0026&quot;}">`,
    ],
    ["in capitals", h`<P TITLE="${"<"}" HREF=${"javascript:x"}>`, `<P TITLE="&lt;" href="${refused}">`],
    ["braces", h`<p title="${"{{a}}"}" id=b>`, `<p title="{{a}}" ng-non-bindable id=b>`],
    ["braces, without quotes", h`<p title=${"{{a}}"} id=b>`, `<p title="{{a}}" ng-non-bindable id=b>`],
    ["braces, in two", h`<p title='{${"{a"}}}' id=b>`, `<p title='{{a}}' ng-non-bindable id=b>`],
    ["braces, in a URL", h`<a href="${"/{{a}}"}/b" id=b>`, `<a href="/{{a}}/b" ng-non-bindable id=b>`],
    ["a directive in a class", h`<p class="a ${"ng-init: a"}">`, `<p class="a ng-init: a" ng-non-bindable>`],
    ["no directive in a class", h`<p class="a ${"md:long-bong"}">`, `<p class="a md:long-bong">`],
    [
      "behind an ampersand",
      h`<p title="R&${"lt;"}"><a href="${"/a"}?b&${"lt;"}">`,
      `<p title="R&amp;lt;"><a href="/a?b&amp;lt;">`,
    ],
    ["a nonce", h`<script nonce="${"a"}" src="/a.js"></script>`, `<script nonce="a" src="/a.js"></script>`],
    ["of a description", h`<meta name="description" content="${"<"}">`, `<meta name="description" content="&lt;">`],
  ])("%s", (_what, made, text) => {
    expect(String(made)).toBe(text);
  });
});

describe("a value that is a URL", () => {
  it.each<Made>([
    ["relative", h`<a href="${"/a?b=c:d&e#f"}">`, `<a href="/a?b=c:d&amp;e#f">`],
    ["https", h`<a href=${"HTTPS://a.example/"}>`, `<a href="HTTPS://a.example/">`],
    ["mail", h`<a href='${"mailto:a@b.example"}'>`, `<a href='mailto:a@b.example'>`],
    ["empty", h`<a href="${""}">`, `<a href="">`],
    ["left out", h`<a href=${undefined}>`, "<a>"],
    ["code", h`<a href="${"javascript:alert(1)"}">`, `<a href="${refused}">`],
    ["code in two", h`<a href="${"java"}${"script:alert(1)"}">`, `<a href="${refused}">`],
    ["code by the template's end", h`<a href="${"javascript"}:alert(1)">`, `<a href="${refused}">`],
    ["code by its beginning", h`<a href="java${"script:alert(1)"}" id="a">`, `<a href="${refused}" id="a">`],
    ["behind the template's path", h`<a href="/a/${"javascript:x"}">`, `<a href="/a/javascript:x">`],
    ["behind the template's scheme", h`<a href="sms:${"+1:2"}">`, `<a href="sms:+1:2">`],
    ["of a picture", h`<img src="data:image/png;base64,${"aGk="}">`, `<img src="data:image/png;base64,aGk=">`],
    ["with a query", h`<a href="${"/a"}?b=1&amp;c=${"&"}">`, `<a href="/a?b=1&amp;c=&amp;">`],
    ["of several", h`<img srcset="${"/a 1x, javascript:x 2x"}">`, `<img srcset="${refused}">`],
    [
      "of several, safe",
      h`<img srcset="${"/a"} 1x, ${"https://b.example/c"} 2x">`,
      `<img srcset="/a 1x, https://b.example/c 2x">`,
    ],
    ["of a script", h`<script src="${"/a.js"}"></script>`, `<script src="/a.js"></script>`],
    [
      "of a script elsewhere",
      h`<script src="${"https://e.example/a.js"}"></script>`,
      `<script src="${refused}"></script>`,
    ],
    [
      "of a script by two slashes",
      h`<script src="/${"/e.example/a.js"}"></script>`,
      `<script src="${refused}"></script>`,
    ],
    [
      "of a script by a backslash",
      h`<script src=${"\\\\e.example/a.js"}></script>`,
      `<script src="${refused}"></script>`,
    ],
    [
      "of a script of the template's host",
      h`<script src="https://a.example/${"b.js"}"></script>`,
      `<script src="https://a.example/b.js"></script>`,
    ],
    [
      "of a style sheet",
      h`<link rel="stylesheet" href="${"//e.example"}">`,
      `<link rel="stylesheet" href="${refused}">`,
    ],
    [
      "of a link to a page",
      h`<link href="${"https://a.example/"}" rel="canonical">`,
      `<link href="https://a.example/" rel="canonical">`,
    ],
    ["of SVG", h`<svg><a xlink:href="${"javascript:x"}">`, `<svg><a xlink:href="${refused}">`],
    ["of a library", h`<div hx-get="/a" data-src="${"data:text/html,x"}">`, `<div hx-get="/a" data-src="${refused}">`],
  ])("%s", (_what, made, text) => {
    expect(String(made)).toBe(text);
  });
});

describe("a value that is refused", () => {
  it.each<Refused>([
    ["an object", () => h`<p>${any({})}</p>`, "another object (line 1, after <p>): give its text, or html`…`"],
    ["a date", () => h`<p>${any(new Date())}</p>`, "another object"],
    ["a function", () => h`<p>${any(() => "x")}</p>`, "a function"],
    ["a symbol", () => h`<p>${any(Symbol("x"))}</p>`, "a symbol"],
    ["bytes", () => h`<p>${any(new Uint8Array(2))}</p>`, "another object (line 1, after <p>): give text"],
    [
      "HTML in an attribute",
      () => h`<p title="${bold}">`,
      'another object (line 1, after <p title="): an attribute takes text',
    ],
    [
      "a list in an attribute",
      () => h`<p class=${any(["a"])}>`,
      "a list (line 1, after <p class=): an attribute takes text",
    ],
    ["a promise in an attribute", () => h`<p class=${Promise.resolve("a")}>`, "a promise"],
    ["an object in a URL", () => h`<a href="${any(new URL("http://a/"))}">`, "another object"],
    [
      "HTML in a title",
      () => h`<title>${bold}</title>`,
      "another object (line 1, after <title>): this element has text alone",
    ],
    ["text in a script of data", () => h`<script type="application/json">${"{}"}</script>`, "a string"],
    [
      "HTML in a script of data",
      () => h`<script type="application/ld+json">${bold}</script>`,
      "Html.json(value) alone",
    ],
    ["a forged page", () => h`<p>${any(JSON.parse('{"content":"<b>"}'))}</p>`, "another object"],
  ])("%s", (_what, make, sentence) => {
    expect(make).toThrow(sentence);
  });

  it("is never in the message of its error", () => {
    const secret = { toString: () => "s3cret", toJSON: () => "s3cret" };
    for (const make of [() => h`<p>${any(secret)}</p>`, () => h`<p onclick="${"s3cret"}">`]) {
      expect(make).toThrow(/^(?!.*s3cret)/s);
    }
  });
});

describe("a template that is refused has a value inside", () => {
  it.each<Refused>([
    [
      "an event handler",
      () => h`<b>\n<p onclick="a(${1})">`,
      'the attribute "onclick" (line 2, after <p onclick="a(): an event handler is code',
    ],
    ["an event handler without quotes", () => h`<p onClick=${"a"}>`, "an event handler is code"],
    ["Alpine's attribute", () => h`<p @click="${"a"}">`, "a library runs this attribute as code"],
    ["Vue's attribute", () => h`<p :href="${"a"}" x>`, "a library runs this attribute as code"],
    ["htmx's attribute", () => h`<p hx-on:click="${"a"}">`, "a library runs this attribute as code"],
    ["a style", () => h`<p style="color: ${"red"}">`, "CSS cannot be filled in"],
    ["a style sheet", () => h`<style>p { color: ${"red"} }</style>`, "in <style>"],
    ["a script", () => h`<script>let a = "${"x"}";</script>`, 'write <script type="application/json">'],
    ["a module", () => h`<script type="module">${"x"}</script>`, "in <script>"],
    ["the type of a script", () => h`<script type="${"a"}">x</script>`, "the type of a script"],
    ["a page of a frame", () => h`<iframe srcdoc="${"x"}"></iframe>`, "a page inside a page"],
    ["a refresh", () => h`<meta content="${"x"}" http-equiv="refresh">`, 'what "http-equiv" takes'],
    ["a directive", () => h`<meta http-equiv="${"x"}">`, "how the page is read"],
    ["an animation", () => h`<svg><animate attributeName=href to="${"x"}">`, "an animation can set any attribute"],
    ["code's URL", () => h`<a href="javascript:${"x"}">`, "this is code or a page"],
    ["a picture's URL that may be SVG", () => h`<img src="data:image/${"x"}">`, "this is code or a page"],
    ["code of Vue or AngularJS", () => h`<p>{{ ${"x"} }}</p>`, 'a value in "{{…}}" (line 1, after <p>{{ )'],
    ["an end tag's attribute", () => h`</p title="${"x"}">`, "an end tag"],
    ["code's URL, hidden", () => h`<a href=" java\tscript:${"x"}">`, "this is code or a page"],
    ["a page's URL", () => h`<a href="data:text/html,${"x"}">`, "this is code or a page"],
    ["an SVG's URL", () => h`<img src="data:image/svg+xml,${"x"}">`, "this is code or a page"],
    ["a URL with an entity", () => h`<a href="${"javascript"}&colon;x">`, "write the character"],
    ["a URL with an entity before", () => h`<a href="&#106;${"x"}">`, "write the character"],
    ["a comment", () => h`<!-- ${"x"} -->`, "in a comment"],
    ["a declaration", () => h`<!doctype ${"x"}>`, "in a declaration"],
    ["the name of an element", () => h`<${"p"}>`, "the name of an element"],
    ["a part of that name", () => h`<h${1}>`, "the name of an element"],
    ["the name of an end", () => h`</${"p"}>`, "the name of an element"],
    ["an end tag", () => h`</p ${"p"}>`, "an end tag"],
    ["a tag", () => h`<p ${"title=x"}>`, "in a tag (line 1, after <p ): write name=${value}"],
    ["a tag, behind a value", () => h`<p title=${"a"} ${"x"}>`, "write name=${value}"],
    ["the name of an attribute", () => h`<p data-${"a"}="b">`, "the name of an attribute"],
    ["a part of a bare value", () => h`<p class=a${"b"}>`, 'write class="…" with quotes'],
    ["a part of a bare value, before", () => h`<p class=${"b"}a>`, 'write class="…" with quotes'],
    ["two in a bare value", () => h`<p class=${"a"}${"b"}>`, 'write class="…" with quotes'],
    ["raw text", () => h`<xmp>${"a"}</xmp>`, "in <xmp>"],
    ["a frame's text", () => h`<iframe>${"a"}</iframe>`, "in <iframe>"],
  ])("%s", (_what, make, sentence) => {
    expect(make).toThrow(sentence);
    expect(make).toThrow(sentence);
  });
});

describe("a template that is refused", () => {
  it.each<Refused>([
    ["ends in a tag", () => h`<p title="a"`, "ends in the tag of <p>"],
    ["ends in a name", () => h`<p`, "ends in the name of an element"],
    ["ends in the name of an attribute", () => h`<p a`, "ends in the name of an attribute"],
    [
      "ends in a value",
      () => h`<b>${1}</b>\n<p title="a>`,
      'ends in the value of "title": its quote is missing (line 2',
    ],
    ["ends in a bare value", () => h`<p title=a`, "ends in a part of a value without quotes"],
    ["ends before a value", () => h`<p title=`, "ends in the tag of <p>"],
    ["ends in a comment", () => h`<!-- a`, "ends in a comment"],
    ["ends in a script", () => h`<script>a`, "ends in <script>"],
    ["ends in a title", () => h`<title>${"a"}`, "ends in <title>"],
    ["has plaintext", () => h`<plaintext>`, "<plaintext>"],
    ["has a quote in a tag", () => h`<p title="a"b">`, "outside of quotes"],
    ["has an attribute twice", () => h`<p id="a" ID="${"b"}">`, 'the attribute "id" twice'],
    ["has no value", () => h`<p id=>`, 'no value for the attribute "id"'],
    ["has CDATA", () => h`<svg><![CDATA[${"x"}]]>`, "CDATA"],
    ["has an instruction", () => h`<?xml version="1.0"?>`, "begins no tag"],
    ["has a comment in a script", () => h`<script><!-- <script> --></script>`, '"<!--" in a script'],
    ["has a tag in a title", () => h`<title><b>x</b></title>`, "a tag in <title>"],
    [
      "has an end of noscript in an attribute",
      () => h`<noscript><p title="</noscript>${"x"}">`,
      '"</noscript" in an attribute',
    ],
    ["has an end of noscript in a comment", () => h`<!-- </noscript> -->`, '"</noscript" in an attribute, a comment'],
    ["has an end of noscript in a style", () => h`<style></NoScript</style>`, "another element's text"],
    [
      "has a tag in SVG's style",
      () => h`<svg><style><a title="</style>${"x"}">`,
      "a tag in <style>, which has tags here",
    ],
    ["has a tag in MathML's script", () => h`<math><script>a<b</script>`, "a tag in <script>, which has tags here"],
    [
      "has a tag in a frame of a select",
      () => h`<select><iframe><b></iframe>`,
      "a tag in <iframe>, which has tags here",
    ],
    ["has an element of text without an end", () => h`<svg><title/>${"x"}</svg>`, "<title/>: write its end tag"],
    ["has a wrong escape", () => h`\u{zz}`, "an escape sequence"],
  ])("%s", (_what, make, sentence) => {
    expect(make).toThrow(sentence);
  });
});
