/**
 * The HTML in a description as the part of Markdown that `prose` shows. Large public documents have it. A tag that is not of this list
 * remains text, and so does all HTML in code.
 */
const code = /(```[^]*?```|`[^`\n]+`|<code>[^<]{0,500}(?:<(?!\/code>)[^<]{0,500}){0,20}<\/code>)/;
const tag = /<(\/?)(p|br|b|strong|i|em|ul|ol|li|a|h[1-6])(\s[^<>]{0,2000})?\/?>/gi;
const entity = /&(amp|lt|gt|quot|nbsp|#39|apos);/g;
const characters: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: " ",
  "#39": "'",
  apos: "'",
};

export function markdownOf(text: string): string {
  if (!/[<&]/.test(text)) return text;
  const parts = text.split(code).map((part, place) => (place % 2 === 1 ? codeOf(part) : outsideCode(part)));
  const joined = parts.join("");
  return joined === text ? text : joined.replaceAll(/\n[\n\t ]*\n/g, "\n\n").replace(/^\n+|\n+$/g, "");
}

function codeOf(part: string): string {
  return part.startsWith("<") ? `\`${characterOf(part.slice("<code>".length, -"</code>".length))}\`` : part;
}

function outsideCode(part: string): string {
  // The end of a link needs the target that its start has. Links are in no link.
  let target = "";
  const marked = part.replaceAll(tag, (_all, slash: string, name: string, attributes = "") => {
    const isEnd = slash !== "";
    const kind = name.toLowerCase();
    if (kind === "a") {
      if (!isEnd) target = hrefOf(String(attributes));
      if (target === "") return "";
      return isEnd ? `](${target})` : "[";
    }
    return isEnd ? (ends[kind] ?? "") : (starts[kind] ?? headingOf(kind));
  });
  return characterOf(marked);
}

const starts: { readonly [tag: string]: string } = {
  p: "\n\n",
  br: "  \n",
  b: "**",
  strong: "**",
  i: "",
  em: "",
  ul: "\n\n",
  ol: "\n\n",
  li: "\n- ",
};

const ends: { readonly [tag: string]: string } = {
  ...starts,
  br: "",
  li: "",
  h1: "\n\n",
  h2: "\n\n",
  h3: "\n\n",
  h4: "\n\n",
};

const headingOf = (kind: string) => `\n\n${"#".repeat(Number(kind.slice(1)))} `;

function hrefOf(attributes: string): string {
  const [, , href = ""] = /\shref=(["'])([^"'()\s]+)\1/i.exec(attributes) ?? [];
  return href;
}

function characterOf(text: string): string {
  return text.replaceAll(entity, (_all, name: string) => characters[name] ?? "");
}
