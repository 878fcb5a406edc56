/** The list of operations, and the search in it. */
import { cutPath } from "./cut-path.ts";
import type { Api, Operation } from "./document.ts";
import { searchText } from "./document.ts";
import { h } from "./dom.ts";
import { methodBadge } from "./operation-view.ts";

export interface Sidebar {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  /** Marks the operation that is shown. */
  readonly mark: (operation: Operation | undefined) => void;
}

interface Entry {
  readonly operation: Operation;
  readonly item: HTMLElement;
  readonly anchor: HTMLAnchorElement;
  readonly text: string;
}

export function sidebar(api: Api): Sidebar {
  const search = h("input", { type: "search", id: "search", placeholder: "Search (press /)", autocomplete: "off" });
  search.setAttribute("aria-label", "Search the operations");
  const found = h("p", { class: "hint", role: "status" });
  const groups = api.groups.map(({ name, operations }) => {
    const entries = operations.map(entryOf);
    const list = h("ul", {}, ...entries.map(({ item }) => item));
    return { entries, element: h("section", {}, h("h2", {}, name), list) };
  });
  const all = groups.flatMap(({ entries }) => entries);
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { entries, element } of groups) {
      for (const { item, text } of entries) item.hidden = !words.every((word) => text.includes(word));
      const here = entries.filter(({ item }) => !item.hidden).length;
      element.hidden = here === 0;
      shown += here;
    }
    found.textContent = words.length === 0 ? "" : shown === 1 ? "1 found" : `${shown} found`;
  };
  search.addEventListener("input", filter);
  search.addEventListener("keydown", (event) => {
    const first = all.find(({ item }) => !item.hidden)?.anchor;
    if (event.key === "Enter") first?.click();
    else if (event.key === "ArrowDown") first?.focus();
    else if (event.key === "Escape") {
      search.value = "";
      filter();
    } else return;
    event.preventDefault();
  });
  const about = h("a", { class: "about-link" }, "About this API");
  about.href = "#";
  const nav = h("nav", { "aria-label": "Operations" }, about, ...groups.map(({ element }) => element));
  nav.addEventListener("keydown", (event) => step(event, all));
  const element = h("div", { class: "sidebar", id: "sidebar" }, h("div", { role: "search" }, search, found), nav);
  return { element, search, mark: (operation) => mark(all, about, operation) };
}

function entryOf(operation: Operation): Entry {
  const { method, path, summary, anchor: to, isDeprecated } = operation;
  const anchor = h(
    "a",
    { title: `${method} ${path}`, class: isDeprecated ? "old" : "" },
    methodBadge(operation),
    summary === ""
      ? h("span", {}, pathView(path, "title"))
      : h("span", {}, h("span", { class: "title" }, summary), pathView(path, "path")),
  );
  anchor.href = `#${to}`;
  return { operation, anchor, item: h("li", {}, anchor), text: searchText(operation) };
}

/** Where it has too little room its middle is cut: paths of one resource differ in their ends. */
function pathView(path: string, kind: string): HTMLElement {
  const [start, end] = cutPath(path);
  return h("span", { class: `${kind} cut` }, h("span", {}, start), end !== "" && h("span", {}, end));
}

/** The arrow keys go from link to link. */
function step(event: KeyboardEvent, all: readonly Entry[]): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  const shown = all.filter(({ item }) => !item.hidden);
  const at = shown.findIndex(({ anchor }) => anchor === document.activeElement);
  shown[at + by]?.anchor.focus();
  if (at !== -1) event.preventDefault();
}

function mark(all: readonly Entry[], about: HTMLElement, shown: Operation | undefined): void {
  for (const { operation, anchor } of all) {
    if (operation !== shown) anchor.removeAttribute("aria-current");
    else {
      anchor.setAttribute("aria-current", "page");
      anchor.scrollIntoView({ block: "nearest" });
    }
  }
  if (shown === undefined) about.setAttribute("aria-current", "page");
  else about.removeAttribute("aria-current");
}
