/** Pages as answers: whole or sent as they become ready, what fails before and after the head, and who leaves. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { Answer, App, Client, Html, Path, Refusal, Returns, Test, get, html as h, refuse } from "usher-http";
import type { HtmlValue, Route } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { lines, messages } from "../support/logs.ts";
import { appOf, fetched, gate, listOf } from "./page-apps.ts";

/** The parts of a body as they arrive. */
async function partsOf(response: Response) {
  const parts: string[] = [];
  const decoder = new TextDecoder();
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) parts.push(decoder.decode(part));
  return parts;
}

describe("a page without pending values", () => {
  it("is one body, with its length", async () => {
    const response = await fetched(() => h`<p>${"é<"}</p>`);
    expect([response.status, response.headers.get("content-type"), response.headers.get("content-length")]).toEqual([
      200,
      "text/html; charset=utf-8",
      "13",
    ]);
    expect(await response.text()).toBe("<p>é&lt;</p>");
  });

  it("may be an answer that the route builds", async () => {
    const response = await fetched(() => h`<p>${1}</p>`, { path: "built" });
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
      203,
      "8",
      "<p>1</p>",
    ]);
  });

  it("is read by Test.call and by a typed client", async () => {
    const routes = [
      get(Path.of("a"), { returns: Returns.html }, async () => h`<p>${"<"}${Promise.resolve("&")}</p>`),
    ] as const;
    const app = Test.app(routes);
    expect((await Test.call(app, "GET", "/a")).body).toBe("<p>&lt;&amp;</p>");
    const client = Client.of<typeof routes>({ baseUrl: "http://h", fetch: App.make(routes).fetch });
    const answered = await client["GET /a"]();
    const text: string = answered.ok ? answered.value : "";
    expect(text).toBe("<p>&lt;&amp;</p>");
  });

  it("may be a string as before, and nothing else", async () => {
    const route = (value: unknown) => get(Path.of("a"), { returns: Returns.html }, () => value as string);
    expect((await Test.call(Test.app([route("<p>")]), "GET", "/a")).body).toBe("<p>");
    for (const value of [undefined, 1, {}, { toString: () => "<p>" }, [h`<p>`]]) {
      expect((await Test.call(Test.app([route(value)]), "GET", "/a")).status).toBe(500);
    }
    expect(messages("error")).toHaveLength(5);
  });

  it("is not sent when its handler refuses", async () => {
    const route = get(Path.of("a"), { returns: Returns.html, refuses: [Refusal.notFound] }, () =>
      refuse(Refusal.notFound),
    );
    expect((await Test.call(Test.app([route]), "GET", "/a")).status).toBe(404);
  });

  it("with a wrong template fails like any handler, and the log line has the place and no value", async () => {
    const response = await fetched(() => h`<p onclick="${"s3cret"}">`);
    expect([response.status, await response.json()]).toMatchObject([500, { error: "internal" }]);
    expect(messages("error")).toEqual([
      'GET /: internal: a template of html with a value in the attribute "onclick" (line 1, after <p onclick="): an event handler is code: put the data into a "data-…" attribute and read it in a script file',
    ]);
    expect(JSON.stringify(lines())).not.toContain("s3cret");
  });
});

describe("a page with pending values", () => {
  it("is sent in order, the ready part first", async () => {
    const [first, second] = [gate<string | Html>(), gate<string | Html>()];
    const response = await fetched(() => h`<h1>a</h1>${first.promise}<i>${second.promise}</i>`);
    expect([response.status, response.headers.get("content-length")]).toEqual([200, null]);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe("<h1>a</h1>");
    second.open("<");
    const pending = read();
    await wait(5);
    first.open(h`<b>${"&"}</b>`);
    expect(await pending).toBe("<b>&amp;</b><i>&lt;</i>");
    expect((await reader.read()).done).toBe(true);
  });

  it.each<readonly [what: string, make: () => Html, parts: readonly string[]]>([
    ["promises that are ready", () => h`<p>${Promise.resolve("<")}${[Promise.resolve(1), 2]}</p>`, ["<p>&lt;12</p>"]],
    [
      "a list",
      () => h`<ul>${listOf("<", 1, undefined, h`<b>`, ["x", Promise.resolve("y")]).list}</ul>`,
      ["<ul>&lt;1<b>xy</ul>"],
    ],
    [
      "promises of lists of promises",
      () => h`${Promise.resolve([listOf(Promise.resolve(listOf("a").list)).list, "b"])}c`,
      ["abc"],
    ],
    [
      "a page in a page",
      () => h`<a>${h`<b>${Promise.resolve(h`<c>${Promise.resolve("d")}`)}`}</a>`,
      ["<a><b><c>d</a>"],
    ],
    ["a title", () => h`<title>${Promise.resolve("<")}</title>`, ["<title ng-non-bindable v-pre>&lt;</title>"]],
    [
      "data",
      () => h`<script type="application/json">${Promise.resolve(Html.json("<"))}</script>`,
      [`<script type="application/json">"\\u003c"</script>`],
    ],
    [
      "a stream of text",
      () => h`<p>${new Blob(["<b>"]).stream().pipeThrough(new TextDecoderStream()) as never}</p>`,
      ["<p>", "&lt;b&gt;</p>"],
    ],
    ["nothing", () => h`${Promise.resolve(undefined)}${listOf().list}`, []],
    ["a query that is a thenable", () => h`<p>${thenable("<")}</p>`, ["<p>&lt;</p>"]],
  ])("of %s", async (_what, make, parts) => {
    const response = await fetched(make);
    expect((await partsOf(response)).join("")).toBe(parts.join(""));
    expect(await Html.text(make())).toBe(parts.join(""));
    if (!/stream/.test(_what)) expect(await partsOf(await fetched(make))).toEqual(parts);
  });

  it("is sent in chunks of about 16 KiB, and generated no faster than it is read", async () => {
    let made = 0;
    async function* rows() {
      while (made < 5000) yield h`<p>${`${made++}`.padStart(93, "x")}</p>`;
    }
    const response = await fetched(() => h`<main>${rows()}</main>`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value?.length).toBeLessThan(17_000);
    await wait(5);
    expect(made).toBeLessThan(700);
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) size += part.value.length;
    expect([made, size > 450_000]).toEqual([5000, true]);
  });
});

describe("a value of a page with pending values", () => {
  it("that is a query runs once, and a generator is read for one page only", async () => {
    let calls = 0;
    const query = {
      then: (resolve: (value: string) => void) => {
        calls++;
        resolve("x");
      },
    } as unknown as PromiseLike<string>;
    expect(await Html.text(h`${query}`)).toBe("x");
    expect(calls).toBe(1);
    const page = h`<p>${listOf("a").list}`;
    expect(await Html.text(page)).toBe("<p>a");
    await expect(Html.text(page)).rejects.toThrow("a list that was read for another page");
  });

  it("is not a string synchronously", () => {
    expect(() => String(h`<p>${Promise.resolve("x")}`)).toThrow("use await Html.text(html)");
  });
});

function thenable(value: string): PromiseLike<string> {
  return { then: (resolve: (value: string) => void) => resolve(value) } as unknown as PromiseLike<string>;
}

describe("a list of a page is ended", () => {
  it("when its client disconnects, also while its next item is pending", async () => {
    const ended: string[] = [];
    const endless = (name: string, first: HtmlValue): AsyncIterable<HtmlValue> => {
      let isFirst = true;
      const next = () => {
        if (!isFirst) return new Promise<never>(() => {});
        isFirst = false;
        return Promise.resolve({ done: false as const, value: first });
      };
      const iterator = { next, return: async () => (ended.push(name), { done: true as const, value: undefined }) };
      return { [Symbol.asyncIterator]: () => iterator as AsyncIterator<HtmlValue> };
    };
    const response = await fetched(() => h`<p>${endless("outer", endless("inner", "x"))}`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const pending = reader.read();
    await reader.cancel();
    await pending;
    await eventually(() => expect(ended).toEqual(["inner", "outer"]));
  });

  it("by itself when it throws, and `return` is not called", async () => {
    const returned = vi.fn();
    const iterator = { next: () => Promise.reject(new Error("no")), return: returned };
    const list = { [Symbol.asyncIterator]: () => iterator } as unknown as AsyncIterable<HtmlValue>;
    const { list: outer, told } = listOf(h`${list}`);
    expect((await fetched(() => h`<p>${outer}`)).status).toBe(500);
    await eventually(() => expect(told).toEqual({ begun: true, ended: true }));
    expect(returned).not.toHaveBeenCalled();
  });

  it("when one of its items fails before the head is sent", async () => {
    const { list, told } = listOf(h`${Promise.reject(new Error("no"))}`, "never asked for");
    expect((await fetched(() => h`<p>${list}`)).status).toBe(500);
    await eventually(() => expect(told).toEqual({ begun: true, ended: true }));
  });

  it.each(["", "built"])("when a HEAD has no body, at /%s", async (path) => {
    const { list, told } = listOf(
      "a",
      wait(5).then(() => "b"),
      "c",
    );
    const response = await fetched(() => h`<p>${list}`, { path, method: "HEAD" });
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      path === "" ? 200 : 203,
      "text/html; charset=utf-8",
      "",
    ]);
    await eventually(() => expect(told).toEqual({ begun: true, ended: true }));
  });

  it("when middleware answers instead", async () => {
    const { list, told } = listOf(
      "a",
      wait(5).then(() => "b"),
      "c",
    );
    const { fetch } = appOf(() => h`<p>${list}`, {
      middleware: [async (_request, next) => (await next(), Answer.make("other"))],
    });
    expect(await (await fetch(new Request("http://h/"))).text()).toBe("other");
    await eventually(() => expect(told).toEqual({ begun: true, ended: true }));
  });
});

describe("a page that is created in JavaScript", () => {
  it.each<readonly [what: string, call: () => unknown, sentence: string]>([
    ["by no template", () => (h as (x: unknown) => unknown)("<p>"), "html is the tag of a template: write html`…`"],
    ["by nothing", () => (h as () => unknown)(), "html is the tag of a template"],
    ["by a list", () => (h as (x: unknown) => unknown)(["<p>"]), "html is the tag of a template"],
    [
      "trusted of no text",
      () => Html.trusted(h`<p>` as never),
      "Html.trusted: its text is another object, and not a text",
    ],
    ["JSON of nothing", () => Html.json(undefined), "Html.json of a value that JSON cannot write"],
    ["JSON of a bigint", () => Html.json(1n), "BigInt"],
  ])("%s is refused", (_what, call, sentence) => {
    expect(call).toThrow(sentence);
  });

  it("text that belongs to no page is refused", async () => {
    await expect(Html.text("<p>" as never)).rejects.toThrow("Html.text: its html is a string, and not made by html`…`");
  });
});

/** The kinds of a document do not change. */
describe("the document", () => {
  it("has a page as text/html", async () => {
    const { Openapi } = await import("usher-http");
    const routes: readonly Route[] = [get(Path.of("a"), { returns: Returns.html }, () => h`<p>`)];
    const { content } = (
      Openapi.document(routes).paths["/a"] as never as { get: { responses: { 200: { content: object } } } }
    ).get.responses[200];
    expect(content).toEqual({ "text/html": { schema: { type: "string" } } });
  });
});
