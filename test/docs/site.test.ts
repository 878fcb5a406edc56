/** The site that `npm run docs` makes of docs/ and of the package's TSDoc. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path/posix";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browser, startBrowser } from "../support/browser.ts";
import { need } from "../support/needs.ts";
import { goals } from "./goals.ts";

/** What the test uses of the package `minisearch`, which VitePress brings. */
interface MiniSearch {
  loadJSON(json: string, options: object): { search(words: string): readonly { readonly id: string }[] };
}

const root = join(import.meta.dirname, "../..");
const dist = join(root, "docs/.vitepress/dist");
const generator = need("VitePress; npm ci in docs installs it", existsSync(join(root, "docs/node_modules/vitepress")));
const types = new Map([
  [".html", "text/html"],
  [".js", "text/javascript"],
  [".css", "text/css"],
]);

const files = (): readonly string[] => readdirSync(dist, { recursive: true, encoding: "utf8" });
const pages = (): readonly string[] => files().filter((file) => file.endsWith(".html"));
const textOf = (file: string): string => readFileSync(join(dist, file), "utf8");
const reference = (file: string): string => readFileSync(join(root, "docs/reference", file), "utf8");
/** The pages of the reference that describe names: not those that only list names of other pages. */
const descriptions = (): readonly string[] => {
  const all = readdirSync(join(root, "docs/reference"), { recursive: true, encoding: "utf8" });
  return all.filter((file) => file.endsWith(".md") && !/^(?:index|usher-http\/index|postgres\/index)\.md$/.test(file));
};

/** The longest guide, which has whole programs of three libraries, has 4,438 elements. The page of all exports had 16,003. */
const maxElements = 5000;

/** The names that a program imports from an entry. */
function exportsOf(entry: string): readonly string[] {
  const text = readFileSync(join(root, "test/package/exports.txt"), "utf8");
  const [, lines = ""] = new RegExp(`^# ${entry}\\n([^#]*)`, "m").exec(text) ?? [];
  return lines.split("\n").flatMap((line) => /^(?:type )?(\w+)$/.exec(line)?.[1] ?? []);
}

const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? "/", "http://site").pathname);
  const file = join(dist, path.endsWith("/") ? `${path}index.html` : path);
  response.writeHead(existsSync(file) ? 200 : 404, { "content-type": types.get(extname(file)) ?? "text/plain" });
  response.end(existsSync(file) ? readFileSync(file) : undefined);
});
let chromium: Browser | undefined;
let base: string;

beforeAll(async () => {
  if (generator.isSkipped) return;
  await promisify(execFile)("npm", ["run", "docs"], { cwd: root });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  base = `http://localhost:${(server.address() as AddressInfo).port}`;
  if (!browser.isSkipped) chromium = await startBrowser();
}, 1_200_000);
afterAll(async () => {
  await chromium?.close();
  server.close();
});

describe.skipIf(generator.isSkipped)(`the site${generator.why}`, () => {
  it("has every public name in its reference, with a heading", () => {
    const reference = pages().filter((file) => file.startsWith("reference/"));
    const headings = new Set(
      reference.flatMap((file) => {
        const ids = [...textOf(file).matchAll(/<(?:h[123]|a) id="(?:property-)?([\w-]+?)(?:-\d+)?"/g)];
        return ids.map(([, id]) => id);
      }),
    );
    const names = readFileSync(join(root, "test/package/exports.txt"), "utf8").split("\n");
    const missing = names.flatMap((line) => {
      const [, name] = /^(?:type )?(?:\w+\.)*(\w+)$/.exec(line) ?? [];
      return name === undefined || headings.has(name.toLowerCase()) ? [] : [line];
    });
    expect(missing).toEqual([]);
  });

  it("opens a page of the reference with its functions, each in a sentence, and has types after them", () => {
    const page = reference("usher-http/namespaces/Query.md");
    expect(page).toMatch(/^---\n(?:.*\n)+---\n\n# Query\n/);
    expect(page).toMatch(/\n\| \[`Query\.list\(\)`\]\(#list\) \| [A-Z].*\. \|\n[^]*?\n## Functions\n/);
    const order = ["Functions", "Values", "Functions and values", "Classes", "Types"];
    for (const file of descriptions()) {
      const groups = [...reference(file).matchAll(/^## (.*)$/gm)].map(([, name = ""]) => name);
      expect(groups, file).toEqual(order.filter((name) => groups.includes(name)));
    }
  });

  it("has a page for each family of names of a large entry, which the entry's page leads to by each old anchor", async () => {
    const { familyOf } = (await import(new URL("../../docs/.vitepress/families.mjs", import.meta.url).href)) as {
      familyOf(entry: string, name: string, namespaces: readonly string[]): string | undefined;
    };
    for (const entry of ["usher-http", "usher-http/postgres"]) {
      const folder = entry.replace(/^usher-http\/(?=.)/, "");
      const overview = textOf(`reference/${folder}/index.html`);
      const spaces = readdirSync(join(root, "docs/reference", folder, "namespaces"));
      const namespaces = spaces.map((file) => file.replace(/\.md$/, ""));
      for (const name of exportsOf(entry)) {
        expect(familyOf(entry, name, namespaces), `docs/.vitepress/families.mjs: ${entry} ${name}`).toBeDefined();
        if (!namespaces.includes(name))
          expect(overview).toMatch(new RegExp(`<span id="${name.toLowerCase()}(?:-\\d)?">`));
      }
    }
  });

  it("links a name to where it is described, by its whole name", () => {
    const wrong = descriptions().flatMap((file) => {
      const links = [...reference(file).matchAll(/\[`?(\w+(?:\.\w+)*)(?:\(\))?`?\]\([^)]*#([\w-]+)\)/g)];
      return links.flatMap(([link, name = "", id = ""]) => {
        const last = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
        // The type `ClientType` is `Client` within its namespace.
        return [last, `${last}type`, `property-${last}`].includes(id.replace(/-\d+$/, "")) ? [] : [`${file}: ${link}`];
      });
    });
    expect(wrong).toEqual([]);
    // A function of a namespace, unless it is named by its whole name, may be one of another namespace.
    const short = descriptions().flatMap((file) => {
      const links = reference(file).matchAll(/\[([a-z]\w*)\]\([^)]*\.md#[\w-]+\)/g);
      return [...links].map(([link]) => `${file}: ${link}`);
    });
    expect(short).toEqual([]);
  });

  it("has no page that is slow to open: none has more elements than the longest guide", () => {
    const long = pages().flatMap((file) => {
      const count = textOf(file).match(/<[a-z]/gi)?.length ?? 0;
      return count > maxElements ? [`${file}: ${count}`] : [];
    });
    expect(long).toEqual([]);
  });

  it("has a title and a description of its own on each page", () => {
    const heads = pages().flatMap((file) => {
      if (file === "404.html") return [];
      const [, title = ""] = /<title>(.*)<\/title>/.exec(textOf(file)) ?? [];
      const [, about = ""] = /<meta name="description" content="([^"]*)"/.exec(textOf(file)) ?? [];
      return [{ file, title, about }];
    });
    for (const { file, title, about } of heads) {
      const same = heads.filter((one) => one.title === title || one.about === about);
      expect(
        same.map((one) => one.file),
        `${title}: ${about}`,
      ).toEqual([file]);
      expect(about.length, file).toBeGreaterThan(15);
    }
    const query = heads.find(({ file }) => file.endsWith("usher-http/namespaces/Query.html"));
    expect(query?.title).toBe("Query · usher-http | Usher");
    expect(query?.about).toMatch(/^Query of usher-http: Query\.default\(\), /);
  });

  it("has an example for each function, and every entry in its sidebar", () => {
    const bare = descriptions().flatMap((file) => {
      const [functions = ""] = /^## Functions[^]*?(?=^## |(?![^]))/m.exec(reference(file)) ?? [];
      const parts = functions.split(/^(?=### )/m).filter((part) => /^### [\w.]+\(\) /.test(part));
      return parts.filter((part) => !/^#+ Examples? /m.test(part)).map((part) => `${file}: ${part.split("\n")[0]}`);
    });
    expect(bare).toEqual([]);

    const sidebar = textOf("reference/usher-http/index.html");
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      exports: Record<string, { types?: string }>;
    };
    const entries = Object.keys(exports).filter((entry) => exports[entry]?.types !== undefined && entry !== ".");
    expect(entries.filter((entry) => !sidebar.includes(`>usher-http/${entry.slice(2)}<`))).toEqual([]);
  });

  it("has no dead link, and loads nothing from another host", () => {
    const ids = new Map(
      pages().map((file) => [file, new Set([...textOf(file).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
    );
    const wrong = pages().flatMap((file) => {
      const html = textOf(file);
      const links = [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, href = ""]) => {
        // An address that is not known yet: `REPOSITORY.example`.
        if (/^https?:\/\/[A-Z]+\.example\b/.test(href)) return [`${file}: ${href}`];
        if (/^(?:https?|mailto|data):/.test(href)) return [];
        const [path = "", id] = href.split("#");
        const target = path === "" ? file : path.startsWith("/") ? path.slice(1) : join(dirname(file), path);
        const page = target === "" || target.endsWith("/") ? `${target}index.html` : target;
        if (!ids.has(page)) return existsSync(join(dist, page)) ? [] : [`${file}: ${href}`];
        return id === undefined || ids.get(page)?.has(decodeURIComponent(id)) === true ? [] : [`${file}: ${href}`];
      });
      const loaded = [
        ...html.matchAll(/<(?:script|img|iframe)[^>]* src="(https?:[^"]*)"|<link[^>]* href="(https?:[^"]*)"/g),
      ];
      return [...links, ...loaded.map(([tag]) => `${file}: ${tag}`)];
    });
    expect(wrong).toEqual([]);
  });

  it("has the page of each goal among the first three that a search for a user's words finds", async () => {
    const require = createRequire(import.meta.url);
    const MiniSearch = require(join(root, "docs/node_modules/minisearch/dist/cjs/index.cjs")) as MiniSearch;
    const file = files().find((name) => name.includes("@localSearchIndexroot"));
    const { default: json } = (await import(join(dist, file ?? ""))) as { readonly default: string };
    // As VitePress's search box searches (VPLocalSearchBox.vue), with what .vitepress/config.mjs adds.
    const boostDocument = (id: string): number => (/^\/(?:reference|why|tutorial)\//.test(id) ? 0.5 : 1);
    const boost = { title: 4, text: 2, titles: 1 };
    const index = MiniSearch.loadJSON(json, {
      fields: ["title", "titles", "text"],
      storeFields: ["title", "titles"],
      searchOptions: { fuzzy: 0.2, prefix: true, boost, boostDocument },
    });
    const missed = goals.flatMap(([words, page]) => {
      const found = index.search(words).map(({ id }) => id.replace(/(?:\.html)?(?:#.*)?$/, ""));
      const first = [...new Set(found)].slice(0, 3);
      return first.includes(`/${page}`) ? [] : [`${words}: ${first.join(", ")}, not /${page}`];
    });
    expect(missed).toEqual([]);
  });

  it("has llms.txt, whose pages exist, and llms-full.txt, which has all of them", () => {
    const list = [...textOf("llms.txt").matchAll(/\]\(([^)]+)\)/g)].map(([, page = ""]) => page);
    expect(list).toContain("guides/routing.md");
    expect(list.filter((page) => !existsSync(join(dist, page)))).toEqual([]);
    expect(textOf("llms-full.txt")).toContain("# Routing\n");
  });
});

describe.skipIf(generator.isSkipped || browser.isSkipped)(`the site in a browser${generator.why}${browser.why}`, () => {
  it(`finds a word, without another host`, async () => {
    const { page, others } = await opened("/guides/routing.html", 1280, "light");
    await page.click(".DocSearch-Button");
    await page.fill(".search-input", "rate limit");
    await page.waitForSelector(".results .result");
    expect(await page.textContent(".results .result")).toContain("Rate limits");
    expect(others).toEqual([]);
    await page.close();
  });

  it("has four doors on its home page, and a program, an error of the compiler, a 400 and a picture", async () => {
    const { page } = await opened("/index.html", 1280, "light");
    const doors =
      "[...document.querySelectorAll('.home .doors a')].map((one) => [one.querySelector('strong').textContent, one.getAttribute('href')])";
    expect(await page.evaluate(doors)).toEqual([
      ["Try it", "./guides/install.html"],
      ["Learn it", "./tutorial/01-hello.html"],
      ["Move to it", "./guides/from-express.html"],
      ["Look it up", "./guides/"],
    ]);
    const bottom = "document.querySelector('.home .doors').getBoundingClientRect().bottom";
    expect(await page.evaluate(bottom)).toBeLessThan(700);
    expect(await page.textContent(".home .first pre")).toContain('Path.of("hello", name)');
    const code = (await page.locator(".home pre").allTextContents()).join("\n");
    for (const text of ["await serve(", "is not declared: list it in `refuses`.", '"problems": [']) {
      expect(code).toContain(text);
    }
    await page.waitForFunction("document.querySelector('.home .shown img').naturalWidth > 1000");
    await page.close();
  });

  it.each([375, 860, 1280, 1920])("cuts no code of the home page at %i px", async (width) => {
    const { page } = await opened("/index.html", width, "light");
    const boxes = "[...document.querySelectorAll('.home pre')].map((one) => one.scrollWidth - one.clientWidth)";
    const cut = (await page.evaluate(boxes)) as number[];
    expect(cut.length).toBeGreaterThan(4);
    expect(cut.filter((more) => more > 0)).toEqual([]);
    // Only on a telephone does a line break.
    const lines =
      "[...document.querySelectorAll('.home pre .line')].filter((one) => one.getBoundingClientRect().height > 30).length";
    if (width > 375) expect(await page.evaluate(lines)).toBe(0);
    expect(await page.evaluate("document.querySelector('.home h1').getBoundingClientRect().height")).toBeLessThan(90);
    await page.close();
  });

  const looks = [
    ["/index.html", 375, "light"],
    ["/index.html", 1280, "dark"],
    ["/guides/validation.html", 375, "dark"],
    ["/guides/validation.html", 1280, "light"],
    ["/reference/usher-http/namespaces/Query.html", 375, "light"],
    ["/reference/usher-http/namespaces/Query.html", 1280, "dark"],
  ] as const;
  it.each(looks)(`fits and has no serious accessibility fault: %s at %i px, %s`, async (path, width, scheme) => {
    const { page, others } = await opened(path, width, scheme);
    expect(await faultsOf(page)).toEqual([]);
    expect(others).toEqual([]);
    await page.close();
  });

  it("fits, and has no serious accessibility fault, on each page, in both looks by turns", async () => {
    const found: string[] = [];
    for (const [place, file] of pages().entries()) {
      const { page } = await (place % 2 === 0 ? opened(`/${file}`, 1280, "light") : opened(`/${file}`, 375, "dark"));
      found.push(...(await faultsOf(page)).map((fault) => `${file}: ${fault}`));
      await page.close();
    }
    expect(found).toEqual([]);
  }, 1_200_000);

  it("has a visible focus on each element that Tab reaches, on each page", async () => {
    const found: string[] = [];
    let stops = 0;
    for (const file of pages()) {
      const { page } = await opened(`/${file}`, 1280, "light");
      const { reached, unseen } = await tabbed(page);
      stops += reached;
      found.push(...unseen.map((one) => `${file}: ${one} has no ring`));
      if (reached < 5) found.push(`${file}: Tab reaches ${reached} elements`);
      // Code that is wider than its box scrolls by the keyboard.
      const closed =
        "[...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth && one.tabIndex < 0).length";
      if ((await page.evaluate(closed)) !== 0) found.push(`${file}: code that no key scrolls`);
      await page.close();
    }
    expect(found).toEqual([]);
    expect(stops).toBeGreaterThan(2000);
  }, 1_200_000);

  /** Goes through a page by Tab: how many elements that reaches, and which of them show no ring. */
  async function tabbed(page: Page): Promise<{ readonly reached: number; readonly unseen: readonly string[] }> {
    const unseen: string[] = [];
    const reached = new Set<string>();
    for (let step = 0; step < 5000; step++) {
      await page.keyboard.press("Tab");
      const [name, isSeen] = (await page.evaluate(`(() => {
        const one = document.activeElement;
        if (one === document.body) return ["", true];
        const box = one.getBoundingClientRect();
        const style = getComputedStyle(one);
        const hasRing = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
        const path = [one.tagName, one.className, one.getAttribute("href") ?? "", (one.textContent ?? "").trim().slice(0, 40)].join(" ");
        return [path + " " + Math.round(box.top + scrollY), hasRing && box.width > 0 && box.height > 0];
      })()`)) as [string, boolean];
      if (name === "" || reached.has(name)) break;
      reached.add(name);
      if (!isSeen) unseen.push(name);
    }
    return { reached: reached.size, unseen };
  }

  async function faultsOf(page: Page): Promise<readonly string[]> {
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
    return (await page.evaluate(`(async () => {
        const { violations } = await axe.run(document);
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        const wider = document.documentElement.scrollWidth - innerWidth;
        return [...(wider > 0 ? ["wider by " + wider] : []), ...serious.map(({ id, nodes }) => id + " " + nodes[0].html)];
      })()`)) as readonly string[];
  }

  async function opened(path: string, width: number, colorScheme: "light" | "dark") {
    if (chromium === undefined) throw new Error("no Chromium on this machine");
    const page: Page = await chromium.newPage({ viewport: { width, height: 900 }, colorScheme });
    const others: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(base)) others.push(request.url());
    });
    await page.goto(base + path);
    await page.waitForSelector("h1");
    return { page, others };
  }
});
