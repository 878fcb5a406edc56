/** The page that `Openapi.docs` serves: reads the document, shows one operation at a time, and tries it. */
import { Credentials, howText } from "./credentials.ts";
import type { Api, Operation } from "./document.ts";
import { fieldsOf, readDocument, textOf } from "./document.ts";
import type { Child } from "./dom.ts";
import { button, h, link } from "./dom.ts";
import { methodBadge, operationView } from "./operation-view.ts";
import { prose } from "./prose.ts";
import type { Sidebar } from "./sidebar.ts";
import { sidebar } from "./sidebar.ts";
import { style } from "./style.ts";

declare global {
  /** What the page's second script calls. */
  var usherReader: ((app: HTMLElement) => Promise<void>) | undefined;
}

globalThis.usherReader = async (app) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets.push(sheet);
  useScheme(scheme());
  const { href, pathname } = new URL(app.dataset["url"] ?? "", document.baseURI);
  try {
    const response = await fetch(href);
    if (!response.ok) throw new Error(`its status is ${response.status}`);
    show(app, readDocument(await response.json(), href));
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    app.replaceChildren(
      h("p", { role: "alert", class: "problem" }, `The document ${pathname} could not be read: ${reason}`),
    );
  }
};

function show(app: HTMLElement, api: Api): void {
  const credentials = new Credentials(api);
  const side = sidebar(api);
  const main = h("main", { id: "main", tabindex: "-1" });
  const skip = h("a", { class: "skip" }, "Skip to the operation");
  skip.href = "#main";
  skip.addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  app.replaceChildren(skip, header(app, api, credentials), side.element, main);
  const views = new Map<Operation, HTMLElement>();
  const route = (isFirst: boolean) => {
    const operation = api.operations.find(
      ({ anchor }) => `#${anchor}` === location.hash || `#${anchor}` === plainHash(),
    );
    const view = operation === undefined ? overview(api) : (views.get(operation) ?? made(operation));
    side.mark(operation);
    app.classList.remove("listed");
    main.replaceChildren(view);
    document.title = operation === undefined ? api.title : `${operation.summary || operation.path} – ${api.title}`;
    if (isFirst) return;
    scrollTo({ top: 0 });
    // A screen reader reads the heading.
    main.querySelector("h2")?.focus({ preventScroll: true });
  };
  const made = (operation: Operation) => {
    const view = operationView(operation, api, credentials);
    views.set(operation, view);
    return view;
  };
  addEventListener("hashchange", () => route(false));
  // A link to what is shown changes no address: a list that covers the page would stay.
  side.element.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("[aria-current]") !== null) route(false);
  });
  addEventListener("keydown", (event) => keyed(event, app, side));
  route(true);
}

/** The address as this page writes it, if it was typed in another spelling. */
function plainHash(): string {
  try {
    return encodeURI(decodeURIComponent(location.hash));
  } catch {
    return location.hash;
  }
}

function keyed(event: KeyboardEvent, app: HTMLElement, { search }: Sidebar): void {
  const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
  if (event.key === "Escape" && app.classList.contains("listed")) {
    app.classList.remove("listed");
    // The focus may be in the list, which a narrow page hides now.
    app.querySelector<HTMLElement>(".menu")?.focus();
  }
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  app.classList.add("listed");
  search.focus();
}

function header(app: HTMLElement, api: Api, credentials: Credentials): HTMLElement {
  const menu = button("Operations", () => app.classList.toggle("listed"), {
    class: "menu",
    "aria-controls": "sidebar",
  });
  const observer = new MutationObserver(() => {
    menu.setAttribute("aria-expanded", String(app.classList.contains("listed")));
  });
  observer.observe(app, { attributeFilter: ["class"] });
  menu.setAttribute("aria-expanded", "false");
  const bar = h("header", {}, menu, h("h1", {}, api.title, h("small", {}, api.version)));
  if (api.schemes.length > 0) {
    const authorize = button("Authorize", () => credentials.open());
    credentials.watch(() => {
      const count = credentials.values.size;
      authorize.textContent = count === 0 ? "Authorize" : `Authorized (${count})`;
    });
    bar.append(authorize);
  }
  bar.append(schemeButton());
  return bar;
}

const schemes = ["auto", "light", "dark"] as const;
type ColorScheme = (typeof schemes)[number];
const schemeKey = "usher-reader-scheme";

function scheme(): ColorScheme {
  try {
    const kept = localStorage.getItem(schemeKey);
    return schemes.find((one) => one === kept) ?? "auto";
  } catch {
    return "auto";
  }
}

function useScheme(chosen: ColorScheme): void {
  document.documentElement.style.colorScheme = chosen === "auto" ? "light dark" : chosen;
}

function schemeButton(): HTMLButtonElement {
  let chosen = scheme();
  const label = () => `Colors: ${chosen}`;
  const made = button(label(), () => {
    chosen = schemes[(schemes.indexOf(chosen) + 1) % schemes.length] ?? "auto";
    useScheme(chosen);
    made.textContent = label();
    try {
      localStorage.setItem(schemeKey, chosen);
    } catch {
      // A browser that keeps nothing shows the choice until the page is loaded again.
    }
  });
  return made;
}

/** What the document says of the API as a whole. */
function overview(api: Api): HTMLElement {
  const { info, docs, servers, groups, schemes: proofs } = api;
  const contact = fieldsOf(info["contact"]);
  const license = fieldsOf(info["license"]);
  const line = (title: string, ...children: readonly Child[]) =>
    h("div", {}, h("dt", {}, title), h("dd", {}, ...children));
  const named = ({ name, url: to }: { readonly [member: string]: unknown }) =>
    typeof to === "string" ? link(to, textOf(name) || to) : textOf(name);
  const mail = textOf(contact["email"]);
  const terms = textOf(info["termsOfService"]);
  return h(
    "article",
    {},
    h("h2", { tabindex: "-1" }, api.title),
    textOf(info["summary"]) !== "" && h("p", {}, textOf(info["summary"])),
    textOf(info["description"]) !== "" && prose(textOf(info["description"])),
    h(
      "dl",
      {},
      api.version !== "" && line("Version", api.version),
      line("Document", link(api.url, new URL(api.url).pathname)),
      docs !== undefined && line("More", link(docs.url, docs.description || docs.url)),
      Object.keys(contact).length > 0 &&
        line("Contact", named(contact), mail !== "" && " ", mail !== "" && link(`mailto:${mail}`, mail)),
      Object.keys(license).length > 0 && line("License", named(license)),
      terms !== "" && line("Terms", link(terms, terms)),
      ...servers.map((server) => line("Server", h("code", {}, server.url), " ", server.description)),
      ...proofs.map((proof) => line("Authorization", h("strong", {}, proof.name), ` ${howText(proof)}`)),
    ),
    ...groups.flatMap(({ name, description, operations }) => [
      h("h3", {}, name),
      description !== "" && prose(description),
      h("ul", { class: "operations" }, ...operations.map(row)),
    ]),
  );
}

function row(operation: Operation): HTMLElement {
  const { path, summary, anchor } = operation;
  const made = h("a", {}, methodBadge(operation), h("code", {}, path), h("span", {}, summary));
  made.href = `#${anchor}`;
  return h("li", {}, made);
}
