/**
 * The real libraries over pages of `html`: hostile values in each attribute that a library reads, and in its texts. No value runs, and
 * none brings HTML from another origin. In an unescaped page the same values run, so the test would see it.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { Html, html as h } from "usher-http";
import type { HtmlValue } from "usher-http";
import { browser, sharedBrowser } from "../support/browser.ts";
import { templateOf, withAttribute } from "./template-of.ts";

/** Packages do not export the files that a page loads. */
const scriptOf = (file: string): string => {
  const path = fileURLToPath(new URL(`../../node_modules/${file}`, import.meta.url));
  if (!file.startsWith("@starfederation/")) return readFileSync(path, "utf8");
  // Its modules have no endings in their imports: they are for a bundler.
  return buildSync({ entryPoints: [path], bundle: true, format: "iife", write: false }).outputFiles[0]?.text ?? "";
};
const words = (text: string) => text.trim().split(/\s+/);
const elsewhere = "http://e.example";

/** Values that libraries run, each in the places of its own. */
const urls = ["http://e.example/", "//e.example/", "\\\\e.example/", "javascript:hit(1)"];
const interpolated = [
  "{{hit(1)}}",
  "{{constructor.constructor('window.hit(1)')()}}",
  "{{{{hit(1)}}}}",
  "{{$emit.constructor('window.hit(1)')()}}",
  "<img src=x onerror=hit(1)>",
];

interface Library {
  readonly name: string;
  /** Files of packages, in the order of their scripts. */
  readonly files: readonly string[];
  /** What the page does once the library is there: it calls `hit("end")` when the library has read the page. */
  readonly start: string;
  readonly root?: string;
  /** Elements, with what makes the library read them. */
  readonly elements: readonly string[];
  readonly attributes: readonly string[];
  readonly values: readonly string[];
  /** The same page without escapes, where code runs. */
  readonly live: string;
  readonly last?: string;
}

const common = words(
  "title class id name value href src action style data-x alt aria-label type for is slot onclick data-text xlink:href",
);

const htmxNames = words(`
  hx-get hx-post hx-put hx-patch hx-delete hx-query hx-action hx-method hx-trigger hx-vals hx-headers hx-request hx-vars hx-config hx-boost hx-confirm
  hx-target hx-swap hx-swap-oob hx-select hx-select-oob hx-include hx-indicator hx-disable hx-disabled-elt hx-disinherit hx-inherit hx-encoding hx-ext
  hx-history hx-history-elt hx-params hx-preserve hx-prompt hx-push-url hx-replace-url hx-sync hx-validate hx-on hx-on:click hx-on-click hx-on::load
  hx-live hx-live:text hx-status:200 hx-sse hx-ws hx-preload hx-pending hx-get:inherited hx-vals:inherited hx-vals:append hx-trigger:inherited
  data-hx-get data-hx-trigger data-hx-vals data-hx-on:click sse-connect sse-swap sse-close ws-connect ws-send data-sse-connect
`);

const libraries: readonly Library[] = [
  {
    name: "htmx 2, with events and sockets",
    files: ["htmx2/dist/htmx.js", "htmx-ext-sse/dist/sse.js", "htmx-ext-ws/dist/ws.js"],
    start: `htmx.config.selfRequestsOnly = false`,
    elements: ['p hx-get="/own" hx-ext="sse,ws"', 'p hx-ext="sse,ws" hx-trigger="load" sse-swap="message"'],
    attributes: htmxNames,
    values: [
      "js:hit(1)",
      "javascript:hit(1)",
      "js:{a:hit(1)}",
      "confirm:js:hit(1)",
      "load[hit(1)]",
      "click[hit(1)]",
      `{"a":hit(1)}`,
      "connect:http://e.example/",
      ...urls,
    ],
    live: `<p hx-get="/own" hx-vals="js:{a:hit(1)}" hx-trigger="load"></p><p hx-get="${elsewhere}" hx-trigger="load"></p>`,
    last: `<p hx-get="/own" hx-trigger="load" hx-on::after-request="hit('end')"></p>`,
  },
  {
    name: "htmx 4",
    files: ["htmx.org/dist/htmx.js", "htmx.org/dist/ext/hx-live.js"],
    start: `htmx.config.mode = "cors"`,
    elements: ['p hx-get="/own"', 'p hx-trigger="load"'],
    attributes: htmxNames,
    values: [
      "js:hit(1)",
      "javascript:hit(1)",
      "js:{a:hit(1)}",
      "confirm:js:hit(1)",
      "load[hit(1)]",
      "click[hit(1)]",
      `{"a":hit(1)}`,
      "connect:http://e.example/",
      ...urls,
    ],
    live: `<p hx-get="js:hit(1)" hx-trigger="load"></p><p hx-get="${elsewhere}" hx-trigger="load"></p><p hx-get="/own" hx-confirm="js:hit(1)" hx-trigger="load"></p>`,
    last: `<p hx-get="/own" hx-trigger="load" hx-on::finally:request="hit('end')"></p>`,
  },
  {
    name: "hyperscript",
    files: ["hyperscript.org/dist/_hyperscript.js"],
    start: "",
    elements: ["p", "button"],
    attributes: words("_ script data-script"),
    values: ["init hit(1)", "on click hit(1)", "js hit(1) end", "hit(1)"],
    live: `<p _="init hit(1)"></p>`,
    last: `<p _="init hit('end')"></p>`,
  },
  {
    name: "Alpine",
    files: ["alpinejs/dist/cdn.js"],
    start: `hit("end")`,
    root: "x-data",
    elements: ["p", "template", "input", 'p x-data="{}"'],
    attributes: words(`
      x-data x-init x-show x-bind x-bind:title x-on:click x-text x-html x-model x-modelable x-for x-transition x-transition:enter x-effect x-ignore
      x-ref x-cloak x-teleport x-if x-id @click :title x-on:click.prevent data-x-init
    `),
    values: ["hit(1)", "{a:hit(1)}", "<img src=x onerror=hit(1)>", "javascript:hit(1)"],
    live: `<p x-init="hit(1)"></p>`,
  },
  {
    name: "Vue",
    files: ["vue/dist/vue.global.js"],
    start: `addEventListener("DOMContentLoaded", () => { Vue.createApp({ methods: { hit } }).mount("#app"); hit("end"); })`,
    elements: ["p", "input", "textarea", "component"],
    attributes: words(`
      v-html v-text v-show v-if v-for v-on:click v-bind:title v-model v-slot v-pre v-cloak v-once v-memo @click :title .title #default is :is ref key
      slot-scope v-bind v-on
    `),
    values: ["hit(1)", "{a:hit(1)}", "vue:hit", ...interpolated],
    live: "<p>{{hit(1)}}</p>",
  },
  {
    name: "petite-vue",
    files: ["petite-vue/dist/petite-vue.iife.js"],
    start: `addEventListener("DOMContentLoaded", () => { PetiteVue.createApp({ hit }).mount("#app"); PetiteVue.nextTick(() => hit("end")); })`,
    root: "v-scope",
    elements: ["p", "input"],
    attributes: words(
      "v-scope v-effect v-html v-text v-show v-if v-for v-on:click v-bind:title v-model @click @vue:mounted :title ref",
    ),
    values: ["hit(1)", "{a:hit(1)}", ...interpolated],
    live: "<p>{{hit(1)}}</p>",
  },
  {
    name: "AngularJS",
    files: ["angular/angular.js"],
    // Each element by itself: a value that is no URL, as Angular sees it, ends the reading of the page.
    start: `angular.module("app", []).run(["$rootScope", (scope) => { scope.hit = hit; }]);
      for (const one of [...document.querySelector("#app").children]) {
        try { angular.bootstrap(one, ["app"]); } catch (error) { if (!String(error).includes("$compile")) throw error; }
      }
      hit("end");`,
    elements: ["p", "input", "a", "form", "ng-include"],
    attributes: words(`
      ng-init ng-click ng-bind ng-bind-html ng-bind-template ng-class ng-style ng-show ng-if ng-repeat ng-model ng-include ng-href ng-src ng-attr-title
      ng-options ng-value ng-change ng-mouseover ng-controller ng-app ng-on-click ng-prop-title ng:init ng_init x-ng-init data-ng-init data-ng:init x:ng:init
      data_ng_init src when count onload name min max pattern required
    `),
    values: ["hit(1)", "ng-init:hit(1)", "a x-ng-init:hit(1);", "ngInit:hit(1)", "a[hit(1)]", ...interpolated],
    live: `<p title="{{hit(1)}}"></p><p class="ng-init:hit(1)"></p><form name="a[hit(1)]"></form>`,
  },
  {
    name: "Knockout",
    files: ["knockout/build/output/knockout-latest.js"],
    start: `addEventListener("DOMContentLoaded", () => {
      ko.components.register("a-part", { template: "<i></i>", viewModel: () => {} });
      ko.options.deferUpdates = false;
      ko.applyBindings({ hit }, document.getElementById("app"));
      setTimeout(() => hit("end"));
    })`,
    elements: ["p", "a-part", "input"],
    attributes: words("data-bind params"),
    values: ["hit(1)", "text: hit(1)", "a: hit(1)", "{{hit(1)}}"],
    live: `<p data-bind="text: hit(1)"></p>`,
  },
  {
    name: "Datastar",
    files: ["@starfederation/datastar/dist/bundles/datastar.js"],
    start: "",
    elements: ["p", "input"],
    attributes: words(`
      data-attr-title data-attr data-bind data-bind-a data-class data-class-a data-computed-a data-custom-validity data-indicator data-intersects
      data-on-click data-on-load data-on-interval data-on-intersect data-on-raf data-on-signal-change data-persist data-ref data-replace-url
      data-show data-signals data-signals-a data-text data-view-transition data-on-click__once data-text__x data-order
      data-source data-star-text
    `),
    values: ["hit(1)", "window.hit(1)", "{a:window.hit(1)}", "@get('http://e.example/')"],
    live: `<p data-on-load="window.hit(1)"></p><p data-text="window.hit(1)"></p>`,
    last: `<p data-on-load="window.hit('end')"></p>`,
  },
  {
    name: "Unpoly",
    files: ["unpoly/unpoly.js"],
    start: `up.on("up:framework:booted", () => setTimeout(() => hit("end")))`,
    elements: ['a href="/own" up-follow', 'form action="/own" up-submit', "input up-autosubmit", "p"],
    attributes: words(`
      up-follow up-href up-target up-layer up-mode up-method up-confirm up-params up-headers up-data up-emit up-emit-props up-accept up-dismiss up-content
      up-fragment up-document up-source up-poll up-interval up-watch up-watch-event up-validate up-switch up-show-for up-hide-for up-expand up-preload
      up-instant up-hungry up-keep up-on-keep up-on-loaded up-on-accepted up-on-dismissed up-on-hungry up-on-rendered up-on-finished up-on-offline
      up-on-opened up-on-error up-placeholder up-preview up-use-data up-use-data-map up-defer up-back up-nav up-alias up-scroll up-focus up-transition
      up-animation up-history up-title up-location up-size up-position
    `),
    values: ["hit(1)", "<img src=x onerror=hit(1)>", "{a:hit(1)}", ...urls],
    live: `<a href="/own" up-follow up-on-loaded="hit(1)" id="click" up-target="#none"></a>`,
  },
];

const closed = (element: string, start: Html) => h`${start}${Html.trusted(`</${element.split(" ")[0] as string}>`)}`;

/** The elements that a template makes; it refuses the others. */
function made(library: Library): readonly Html[] {
  const all: Html[] = [];
  const add = (make: () => Html) => {
    try {
      all.push(make());
    } catch (error) {
      // A refusal: the page is not served.
      if (!String(error).includes("a template of html")) throw error;
    }
  };
  for (const value of library.values) {
    add(() => h`<p>${value}</p>`);
    add(() => h`<p>{${value.slice(1)}</p>`);
    add(() => h`<p>${value.slice(0, 1)}${value.slice(1)}</p>`);
    add(() => h`<p>${[...value]}</p><ul>${[value, [value]].map((one) => h`<li>${one}</li>`)}</ul>`);
    add(() => h`<textarea>${value}</textarea><textarea rows=2>${value.slice(0, 1)}${value.slice(1)}</textarea>`);
    add(() => h`<svg><title>${value}</title><text>${value}</text></svg>`);
    add(() => h`<select><option value=${value}>${value}</option></select>`);
    add(() => h`<p>${Html.json(value)}</p><p data-a="${Html.json({ a: value })}"></p>`);
    for (const name of common) add(() => closed("p", withAttribute("p", name, value)));
    for (const element of library.elements) {
      for (const name of library.attributes) {
        if (` ${element} `.replaceAll("=", " ").includes(` ${name} `)) continue;
        const [first, rest] = [value.slice(0, 2).replaceAll('"', "&quot;"), value.slice(2)];
        add(() => closed(element, withAttribute(element, name, value)));
        if (element !== library.elements[0]) continue;
        add(() => closed(element, templateOf([`<${element} ${name}=`, ">"], [value])));
        add(() => closed(element, withAttribute(element, name, rest, [first, ""])));
        add(() => closed(element, withAttribute(element, name, Html.json(value))));
      }
    }
  }
  return all;
}

const honestText = "Dear {{name}} of {b}";
const honest = h`<p id="honest" title="${honestText}">${honestText}<textarea>${honestText}</textarea></p>`;

/** A page with a library, which calls `hit` for code that runs. */
function pageOf(library: Library, content: HtmlValue): Html {
  const scripts = library.files.map((_, i) => h`<script src="/${i}.js"></script>`);
  return h`<!doctype html><meta charset="utf-8"><body>
    <script>
      window.hits = [];
      window.hit = (what) => { hits.push(String(what)); return "x"; };
      window.confirm = window.prompt = () => "x";
      // The page stays where links and forms would open others.
      navigation.addEventListener("navigate", (event) => event.preventDefault());
    </script>
    ${Html.trusted(`<div id="app" ${library.root ?? ""}>`)}${honest}${content}${Html.trusted(`${library.last ?? ""}</div>`)}
    ${scripts}${Html.trusted(`<script>${library.start}</script>`)}`;
}

interface Site {
  readonly port: number;
  show(library: Library, content: HtmlValue): void;
}

/** A server of pages, of the libraries, and of a text for any other request. */
async function withSite(use: (site: Site) => Promise<void>): Promise<void> {
  let library = libraries[0] as Library;
  let page: string | undefined;
  const server = createServer((request, response) => {
    const file = library.files[Number(/^\/(\d)\.js$/.exec(request.url ?? "")?.[1])];
    const isPage = request.url === "/" && page !== undefined;
    response.writeHead(200, {
      "content-type": file === undefined ? "text/html" : "text/javascript",
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "*",
    });
    response.end(isPage ? page : file === undefined ? "own" : scriptOf(file));
    if (isPage) page = undefined;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    await use({
      port,
      show: (shown, content) => {
        library = shown;
        page = String(pageOf(shown, content)).replaceAll("e.example", `e.example:${port}`);
      },
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Opens a page in the browser; resolves with what has run, and the requests for code or HTML of another origin. */
async function play(library: Library, content: HtmlValue): Promise<readonly string[]> {
  const found: string[] = [];
  // A tab of its own: in another test the errors of these pages would be its errors.
  const context = await (await sharedBrowser()).newContext();
  const tab = await context.newPage();
  const site = withSite(async ({ port, show }) => {
    show(library, content);
    tab.on("websocket", (socket) => void (isElsewhere(socket.url()) && found.push(socket.url())));
    tab.on("request", (request) => {
      const isCode = ["script", "stylesheet", "fetch", "xhr", "eventsource", "websocket"].includes(
        request.resourceType(),
      );
      if (isCode && isElsewhere(request.url())) found.push(request.url());
    });
    await tab.goto(`http://a.example:${port}/`, { waitUntil: "domcontentloaded" });
    await tab.waitForFunction(`hits.includes("end")`);
    const shown = await tab.evaluate(`[honest.title, honest.textContent]`);
    expect(shown).toEqual([honestText, honestText + honestText]);
    const hits = await tab.evaluate<readonly string[]>(`(async () => {
      for (const type of ["mouseover", "input", "change", "click"])
        for (const one of document.querySelectorAll("#app *")) one.dispatchEvent(new Event(type, { bubbles: true, cancelable: true }));
      // Requests and timers of the library.
      await new Promise((resolve) => setTimeout(resolve, 500));
      return hits.filter((what) => what !== "end");
    })()`);
    found.push(...hits);
  });
  try {
    await site;
  } finally {
    await context.close();
  }
  return found;
}

const isElsewhere = (url: string) => new URL(url).hostname === "e.example";

describe.skipIf(browser.isSkipped)(`in Chromium${browser.why}`, () => {
  it.each(libraries.map((library) => [library.name, library] as const))("%s runs no value", async (_name, library) => {
    const elements = made(library);
    expect(elements.length).toBeGreaterThan(library.values.length * 8);
    expect(await play(library, Html.trusted(library.live))).toContain("1");
    expect(await play(library, elements)).toEqual([]);
  });
});
