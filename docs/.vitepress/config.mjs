/**
 * The site of the documentation, made by `npm run docs` into `docs/.vitepress/dist`. It works from any static host and contacts no
 * other: the search is local, the fonts are the system's.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const docs = fileURLToPath(new URL("..", import.meta.url));
const { description, repository, exports } = JSON.parse(readFileSync(join(docs, "../package.json"), "utf8"));
/** Where the files beside docs/ are read. While `REPOSITORY.example` stands for it, their links are left out: no site would answer. */
const source = /^(?:git\+)?(https:\/\/(?![A-Z]+\.example\b)[^{}<>]+?)(?:\.git)?$/.exec(repository?.url ?? "")?.[1];

/** The guides in the order of the sidebar; a guide that is in no group stands in the last one. */
const groups = {
  Start: ["install", "new-project", "command-line"],
  "Routes and requests": [
    "routing",
    "paths",
    "groups",
    "guards",
    "validation",
    "schemas",
    "dependencies",
    "forms-and-uploads",
    "upload-413",
    "json-lines",
    "pagination",
    "middleware",
  ],
  Responses: [
    "responses",
    "errors",
    "html",
    "static-files",
    "downloads",
    "content-negotiation",
    "conditional-requests",
    "compression",
    "compiler-errors",
  ],
  Security: [
    "security",
    "authentication",
    "jwt",
    "sign-in",
    "sessions",
    "api-keys",
    "openid-connect",
    "cookies",
    "cors",
    "vite",
    "rate-limits",
    "idempotency",
    "passwords",
    "webhooks",
  ],
  "Event streams and WebSockets": ["event-streams", "llm", "broadcast", "websockets"],
  Data: ["postgres", "postgres-pool", "postgres-poolers", "migrations", "orms", "background-work", "http-client"],
  "API document and clients": ["openapi", "typed-client", "tanstack-query", "mcp"],
  "Tests and operation": [
    "testing",
    "logging",
    "error-tracking",
    "tracing",
    "metrics",
    "settings",
    "app-options",
    "deadlines",
    "overload",
    "deployment",
    "lambda",
    "https",
    "ports",
    "performance",
    "more-cores",
    "redis",
  ],
  Runtimes: ["runtimes", "node", "workers", "deviations"],
  "From another framework": ["from-express", "from-fastify", "from-hono", "from-fastapi"],
};

/** @param {string} page */
function titleOf(page) {
  return /^# (.*?)(?: \{#.*\})?$/m.exec(readFileSync(join(docs, page), "utf8"))?.[1]?.replaceAll("`", "") ?? page;
}

/** What a page says first, for search engines. @param {string} page */
function descriptionOf(page) {
  const texts = readFileSync(join(docs, page), "utf8")
    .replaceAll(/^```[^]*?^```$/gm, "")
    .split(/\n{2,}/);
  const first = texts.find((text) => /^[^#|<\s]/.test(text)) ?? "";
  return first
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll("\n", " ");
}

/** @param {string} folder The pages of a folder, without their `.md`. */
function pagesIn(folder) {
  if (!existsSync(join(docs, folder))) return [];
  const files = readdirSync(join(docs, folder)).filter((file) => file.endsWith(".md") && file !== "index.md");
  return files.map((file) => file.slice(0, -3)).toSorted();
}

/** @param {string} folder @param {readonly string[]} pages */
function links(folder, pages) {
  return pages.map((page) => ({ text: titleOf(`${folder}/${page}.md`), link: `/${folder}/${page}` }));
}

function guides() {
  const all = pagesIn("guides");
  const grouped = new Set(Object.values(groups).flat());
  const rest = all.filter((page) => !grouped.has(page));
  return [...Object.entries(groups), ["More", rest]].flatMap(([text, pages]) => {
    const items = links(
      "guides",
      pages.filter((page) => all.includes(page)),
    );
    return items.length === 0 ? [] : [{ text, items }];
  });
}

/** The large entries with their pages, then the others: an entry with a namespace is a folder. */
function reference() {
  const folders = existsSync(join(docs, "reference"))
    ? readdirSync(join(docs, "reference"), { withFileTypes: true })
    : [];
  const others = [
    ...namespaceEntries(),
    ...pagesIn("reference").map((page) => ({ text: `usher-http/${page}`, link: `/reference/${page}` })),
    ...folders.flatMap(({ name }) => {
      if (!existsSync(join(docs, "reference", name, "index.md")) || /^(?:usher-http|postgres)$/.test(name)) return [];
      return [{ text: `usher-http/${name}`, link: `/reference/${name}/`, items: pagesOfEntry(name) }];
    }),
  ];
  return [
    { text: "usher-http", link: "/reference/usher-http/", items: pagesOfEntry("usher-http") },
    { text: "usher-http/postgres", link: "/reference/postgres/", items: pagesOfEntry("postgres") },
    { text: "Other entries", link: "/reference/", items: others.toSorted(byText) },
    // Only the part of the page that is read is open.
  ].map((part) => ({ ...part, collapsed: true }));
}

/** The pages of an entry's families and namespaces, in one order. @param {string} entry */
function pagesOfEntry(entry) {
  const inside = `reference/${entry}/namespaces`;
  const folders = existsSync(join(docs, inside)) ? readdirSync(join(docs, inside), { withFileTypes: true }) : [];
  const nested = folders
    .filter((one) => one.isDirectory())
    .map(({ name }) => ({ text: name, link: `/${inside}/${name}/` }));
  const flat = [...links(`reference/${entry}`, pagesIn(`reference/${entry}`)), ...links(inside, pagesIn(inside))];
  return [...flat, ...nested].toSorted(byText);
}

/** @param {{ readonly text: string }} one @param {{ readonly text: string }} other */
function byText(one, other) {
  return one.text.localeCompare(other.text, "en");
}

/** The entries that are a namespace of `usher-http`: the same page, by another name. */
function namespaceEntries() {
  return Object.entries(/** @type {Record<string, { types?: string }>} */ (exports)).flatMap(([entry, { types }]) => {
    const [, name] = /\/namespaces\/(\w+)\.d\.ts$/.exec(types ?? "") ?? [];
    if (name === undefined) return [];
    const page = `/reference/usher-http/namespaces/${name}`;
    const link = existsSync(join(docs, page.slice(1), "index.md")) ? `${page}/` : page;
    return [{ text: `usher-http/${entry.slice(2)}`, link }];
  });
}

export default defineConfig({
  title: "Usher",
  description,
  lang: "en",
  srcExclude: ["package.json", "node_modules/**"],
  cacheDir: "../node_modules/.cache/vitepress",
  lastUpdated: false,
  // Addresses of the programs that the pages show.
  ignoreDeadLinks: "localhostLinks",
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    // As GitHub does, so that a link leads to the same heading in both.
    anchor: {
      slugify: (text) =>
        text
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
          .replaceAll(" ", "-"),
    },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (md) => {
      // Vue would read what is between two braces as JavaScript. It decodes entities after that.
      for (const rule of /** @type {const} */ (["text", "code_inline"])) {
        const render = md.renderer.rules[rule];
        md.renderer.rules[rule] = (...args) => (render?.(...args) ?? "").replaceAll("{{", "&#123;&#123;");
      }
      md.core.ruler.push("home", (state) => {
        if (state.env.relativePath === "index.md") state.tokens = inSections(state.tokens, state.Token);
      });
      md.core.ruler.push("labels", (state) => labelCells(state.tokens));
      md.core.ruler.push("links-outside", (state) => {
        for (const token of state.tokens) linkOutside(token.children ?? [], state.env.relativePath ?? "");
      });
    },
  },
  themeConfig: {
    // The label begins as the link reads (WCAG 2.5.3).
    notFound: {
      title: "No such page",
      quote: "There is no page at this address. The search at the top finds a guide by your words.",
      linkLabel: "Take me home",
    },
    search: {
      provider: "local",
      // A goal is found in its guide, before the names of the reference.
      options: {
        _render: searched,
        miniSearch: {
          searchOptions: { boostDocument: (id) => (/^\/(?:reference|why|tutorial)\//.test(id) ? 0.5 : 1) },
        },
      },
    },
    outline: [2, 3],
    externalLinkIcon: true,
    nav: [
      { text: "Tutorial", link: firstOf("tutorial"), activeMatch: "^/tutorial/" },
      { text: "Guides", link: "/guides/", activeMatch: "^/guides/" },
      { text: "Reference", link: "/reference/usher-http/", activeMatch: "^/reference/" },
      { text: "Why", link: "/why/", activeMatch: "^/why/" },
      { text: "Glossary", link: "/glossary" },
    ],
    sidebar: {
      "/tutorial/": [{ text: "Tutorial", items: links("tutorial", pagesIn("tutorial")) }],
      "/guides/": guides(),
      "/reference/": reference(),
      "/why/": [{ text: "Why it is so", items: links("why", pagesIn("why")) }],
    },
  },
  // The page has no front matter, which GitHub would show as a table.
  transformPageData({ relativePath, frontmatter }) {
    if (relativePath === "index.md") return { frontmatter: { ...frontmatter, layout: "home", pageClass: "home" } };
    return relativePath.startsWith("reference/") ? {} : { description: descriptionOf(relativePath) };
  },
  buildEnd({ outDir }) {
    const pages = ["tutorial", "guides", "why"].flatMap((folder) =>
      pagesIn(folder).map((page) => `${folder}/${page}.md`),
    );
    const all = [...pages, "glossary.md"].filter((page) => existsSync(join(docs, page)));
    for (const page of all) {
      mkdirSync(dirname(join(outDir, page)), { recursive: true });
      copyFileSync(join(docs, page), join(outDir, page));
    }
    const list = all.map((page) => `- [${titleOf(page)}](${page})`).join("\n");
    writeFileSync(join(outDir, "llms.txt"), `# Usher\n\n> ${description}\n\n## Documentation\n\n${list}\n`);
    const texts = all.map((page) => `<!-- ${page} -->\n\n${readFileSync(join(docs, page), "utf8")}`);
    writeFileSync(join(outDir, "llms-full.txt"), texts.join("\n"));
  },
});

/**
 * A page as the search reads it: its words, for which no code has to be highlighted. To highlight it a second time took a quarter of the
 * site's processor time.
 *
 * @param {string} text @param {object} env @param {{ render: (text: string, env: object) => string }} md
 */
function searched(text, env, md) {
  return md.render(text.replaceAll(/^( *```+)\w+$/gm, "$1text"), env);
}

/**
 * The home page in sections, for its style: what is before the first heading of level 2, then each heading with what follows it. In a
 * section, words stand in one block and code or a picture in another.
 *
 * @param {readonly BlockToken[]} tokens @param {new (type: string, tag: string, nesting: 0) => BlockToken} Token
 */
function inSections(tokens, Token) {
  /** @type {BlockToken[]} */
  const made = [];
  let open = "";
  /** @param {string} html */
  const put = (html) => void made.push(Object.assign(new Token("html_block", "", 0), { content: html }));
  /** @param {string} kind */
  const begin = (kind) => {
    if (open === kind) return;
    put(`${open === "" ? "" : "</div>"}<div class="${kind}">`);
    open = kind;
  };
  put('<main><section class="first">');
  for (const [place, token] of tokens.entries()) {
    if (token.type === "heading_open" && token.tag === "h2") {
      put(`${open === "" ? "" : "</div>"}</section><section>`);
      open = "";
    }
    if (token.level === 0 && token.nesting >= 0) begin(kindOf(token, tokens[place + 1]));
    made.push(token);
  }
  put("</div></section></main>");
  return made;
}

/** @param {BlockToken} token @param {BlockToken | undefined} next */
function kindOf(token, next) {
  if (token.type === "fence" || next?.children?.[0]?.type === "image") return "shown";
  return token.type === "bullet_list_open" ? "doors" : "said";
}

/**
 * On a telephone a row of a table is a block, and each cell says what its column is: theme/style.css. A table whose columns have no names has no
 * row for them.
 *
 * @param {readonly BlockToken[]} tokens
 */
function labelCells(tokens) {
  /** @type {string[]} */
  let labels = [];
  /** @type {BlockToken | undefined} */
  let head;
  let column = 0;
  for (const [place, token] of tokens.entries()) {
    if (token.type === "thead_open") [head, labels] = [token, []];
    else if (token.type === "th_open") labels.push(textOf(tokens[place + 1]?.children ?? []));
    else if (token.type === "thead_close" && labels.every((label) => label === "")) head?.attrSet("hidden", "");
    else if (token.type === "tr_open") column = 0;
    else if (token.type === "td_open") {
      const label = labels[column++] ?? "";
      // Of two columns the second needs no name.
      if (column > 1 && labels.length > 2 && label !== "") token.attrSet("data-label", label);
    }
  }
}

/** @param {readonly Token[]} tokens */
function textOf(tokens) {
  return tokens.map((token) => (/^(?:text|code_inline)$/.test(token.type) ? token.content : "")).join("");
}

/** @param {string} folder */
function firstOf(folder) {
  const [first] = pagesIn(folder);
  return first === undefined ? "/guides/routing" : `/${folder}/${first}`;
}

/**
 * Files outside docs/ are links on GitHub and in an editor. On the site they lead to the repository, or stay as text.
 *
 * @typedef {{ type: string, content: string, attrGet: (name: string) => string | null, attrSet: (name: string, value: string) => void }} Token
 * @typedef {{ type: string, tag: string, nesting: number, level: number, content: string, children: readonly Token[] | null,
 *   attrSet: (name: string, value: string) => void }} BlockToken
 * @param {readonly Token[]} tokens @param {string} page
 */
function linkOutside(tokens, page) {
  let isRemoved = false;
  for (const token of tokens) {
    if (token.type === "link_open") {
      const href = token.attrGet("href") ?? "";
      const path = /^(?:[a-z]+:|#|\/)/.test(href) ? "" : normalize(join(dirname(page), href));
      isRemoved = path.startsWith("../") && source === undefined;
      if (path.startsWith("../") && source !== undefined) token.attrSet("href", `${source}/blob/main/${path.slice(3)}`);
    }
    if (isRemoved && token.type.startsWith("link_")) {
      isRemoved = token.type === "link_open";
      Object.assign(token, { type: "text", tag: "", content: "", nesting: 0 });
    }
  }
}
