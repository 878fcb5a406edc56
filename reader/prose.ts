/** Descriptions: the part of Markdown that they use, as elements. A few tags of HTML are read as Markdown, and others are text. */
import { counted } from "./counted.ts";
import { h, link } from "./dom.ts";
import { markdownOf } from "./html.ts";

// A longer one is cut into paragraphs of plain text.
const maxLength = 20_000;

export function prose(text: string, kind = ""): HTMLElement {
  const box = h("div", { class: `prose ${kind}`.trim() });
  for (const block of markdownOf(text.slice(0, maxLength)).split(/\n\s*\n/)) {
    const lines = block.split("\n").filter((line) => line.trim() !== "");
    if (lines.length === 0) continue;
    if (lines[0]?.startsWith("```")) box.append(h("pre", {}, block.replace(/^```.*\n?|\n?```\s*$/g, "")));
    else if (lines.every((line) => /^\s*([-*+]|\d+\.)\s/.test(line))) box.append(listOfLines(lines));
    else box.append(paragraph(lines));
  }
  if (text.length > maxLength) box.append(h("p", {}, `… ${counted(text.length - maxLength, "more character")}`));
  return box;
}

function listOfLines(lines: readonly string[]): HTMLElement {
  const isNumbered = /^\s*\d/.test(lines[0] ?? "");
  const items = lines.map((line) => h("li", {}, ...inline(line.replace(/^\s*([-*+]|\d+\.)\s+/, ""))));
  return h(isNumbered ? "ol" : "ul", {}, ...items);
}

function paragraph(lines: readonly string[]): HTMLElement {
  const heading = /^#{1,6}\s+(.*)$/.exec(lines[0] ?? "");
  if (heading !== null && lines.length === 1) return h("p", { class: "strong" }, ...inline(heading[1] ?? ""));
  const made = h("p");
  lines.forEach((line, place) => {
    made.append(...inline(line.trim()));
    // Two spaces, or a backslash, end a line.
    const isBroken = /( {2}|\\)$/.test(line);
    if (place < lines.length - 1) made.append(isBroken ? h("br") : " ");
  });
  return made;
}

const token = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\][]+)\]\(([^()\s]+)\)|<?(https?:\/\/[^\s<>"')]+)>?/g;

/** Code, bold, links. */
export function inline(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let from = 0;
  for (const found of text.matchAll(token)) {
    parts.push(text.slice(from, found.index));
    from = found.index + found[0].length;
    const [, code, strong, label, target, url] = found;
    if (code !== undefined) parts.push(h("code", {}, code));
    else if (strong !== undefined) parts.push(h("strong", {}, ...inline(strong)));
    else if (label !== undefined) parts.push(link(target ?? "", label));
    else parts.push(link(url ?? "", url ?? ""));
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== "");
}
