/**
 * Arranges the pages that TypeDoc made. The exports of a large entry stand on a page for each family, and the entry's own page lists them. A
 * heading is what a program writes: `Query.list()`. Values come before types, and every link leads to where its name stands.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path/posix";
import { families, familyOf, leads } from "./families.mjs";

/**
 * An export, or a member of a namespace. Its `anchor` is a mark in the texts until all pages are arranged; `id` is what its row has as an
 * anchor of its own. A page has parts; an overview lists those of its families; `again` are parts of other pages.
 *
 * @typedef {{ readonly name: string, readonly title: string, readonly group: string, readonly anchor: string, text: string,
 *   readonly id: string }} Part
 * @typedef {{ readonly file: string, readonly entry: string, readonly namespace: string, readonly title: string, lead: string,
 *   parts: Part[], listed: readonly Part[], readonly references: readonly Part[], readonly again: Part[] }} Page
 */

/** TypeDoc's groups, and the headings of the pages, in their order: to a reader, `get` is a function like any other. */
const groups = new Map([
  ["Functions", "Functions and values"],
  ["Variables", "Functions and values"],
  ["Classes", "Classes"],
  ["Interfaces", "Types"],
  ["Type Aliases", "Types"],
]);
const headings = [...new Set(groups.values())];

/** Around what is an address later: the number of an anchor, the old name of a page, a path in docs/. */
const [anchorMark, pageMark, pathMark] = ["\u0001", "\u0002", "\u0003"];
const anchorText = /\u0001(\d+)\u0001/g;

/** @param {string} out The folder of the reference. @param {Record<string, { types?: string }>} exports Of the package. */
export function arrange(out, exports) {
  const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
  const texts = new Map(files.map((file) => [file, readFileSync(join(out, file), "utf8")]));
  const { marked, slugs } = withMarks(texts);
  const pages = new Map(
    [...marked].filter(([file]) => file !== "index.md").map(([file, text]) => [file, pageOf(file, text)]),
  );
  for (const page of pages.values()) moveToFamilies(page, pages);
  noteReferences([...pages.values()]);
  linkNames([...pages.values()].flatMap(({ parts }) => parts));

  const written = new Map([...pages].map(([file, page]) => [file, writtenPage(page, [...pages.values()], exports)]));
  written.set("index.md", entriesOf([...pages.values()]));
  const homes = homesOf(pages, written, slugs);
  rmSync(out, { recursive: true });
  for (const [file, text] of written) {
    const path = join(out, fileOf(pages, file));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, resolved(text, pages, homes, fileOf(pages, file)));
  }
}

/** Each line, and whether it is one of code. @param {string} text @returns {readonly (readonly [string, boolean])[]} */
function linesOf(text) {
  let fence = false;
  return text.split("\n").map((line) => {
    const isFence = line.startsWith("```");
    if (isFence) fence = !fence;
    return [line, isFence || fence];
  });
}

/** As the site makes an anchor of a heading. @param {string} heading */
function slugOf(heading) {
  const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "");
  return words.replaceAll(" ", "-");
}

/** @param {string} slug @param {Set<string>} taken */
function unique(slug, taken) {
  let made = slug;
  for (let more = 1; taken.has(made); more++) made = `${slug}-${more}`;
  taken.add(made);
  return made;
}

/**
 * The texts with a mark for each anchor and each link, and what the anchors are named after.
 *
 * @param {ReadonlyMap<string, string>} texts
 */
function withMarks(texts) {
  /** @type {string[]} */
  const slugs = [];
  /** @type {Map<string, string>} */
  const anchors = new Map();
  /** @param {string} address @param {string} slug */
  const mark = (address, slug) => {
    const made = `${anchorMark}${slugs.push(slug) - 1}${anchorMark}`;
    anchors.set(address, made);
    return made;
  };
  const withAnchors = [...texts].map(([file, text]) => {
    /** @type {Set<string>} */
    const taken = new Set();
    const lines = linesOf(text).map(([line, isCode]) => {
      if (isCode) return line;
      const [, level, heading] = /^(#{2,6}) (.*)$/.exec(line) ?? [];
      if (heading !== undefined) {
        const slug = slugOf(heading);
        return `${level} ${heading} {#${mark(`${file}#${unique(slug, taken)}`, slug)}}`;
      }
      return line.replaceAll(
        /<a id="([^"]+)">/g,
        (_, id) => `<a id="${mark(`${file}#${id}`, id.replace(/-\d+$/, ""))}">`,
      );
    });
    return /** @type {const} */ ([file, lines]);
  });

  /** @type {string[]} */
  const wrong = [];
  /** @param {string} file @param {string} to */
  const marked = (file, to) => {
    const [path = "", anchor] = to.split("#");
    const target = path === "" ? file : join(dirname(file), path);
    if (!texts.has(target)) return `${pathMark}${join("reference", dirname(file), to)}${pathMark}`;
    if (anchor === undefined) return `${pageMark}${target}${pageMark}`;
    const found = anchors.get(`${target}#${anchor}`);
    if (found === undefined) wrong.push(`${file}: ${to}`);
    return found ?? "";
  };
  const made = withAnchors.map(([file, lines]) => {
    let isCode = false;
    const text = lines.map((line) => {
      if (line.startsWith("```")) isCode = !isCode;
      return isCode
        ? line
        : line.replaceAll(/\]\(([\w./-]+\.md(?:#[\w-]+)?|#[\w-]+)\)/g, (_, to) => `](${marked(file, to)})`);
    });
    return /** @type {const} */ ([file, text.join("\n")]);
  });
  if (wrong.length > 0) throw new Error(`no such anchor:\n${wrong.join("\n")}`);
  return { marked: new Map(made), slugs };
}

/** @param {string} file @param {string} text @returns {Page} */
function pageOf(file, text) {
  const [, folder = "", rest = ""] = /^([\w-]+)(?:\.md|\/(.*))$/.exec(file) ?? [];
  const entry = folder === "usher-http" ? folder : `usher-http/${folder}`;
  // TypeDoc names the page of the namespace `Html` `Html-1`, beside the type `Html`.
  const namespace = [...rest.matchAll(/namespaces\/(\w+)/g)].map(([, name]) => name).join(".");
  /** @type {Part[]} */
  const parts = [];
  let group = "";
  for (const [line, isCode] of linesOf(text)) {
    const [, level, heading = "", anchor = ""] = (isCode ? undefined : /^(###?) (.*) \{#(.*)\}$/.exec(line)) ?? [];
    if (level === "##") group = heading;
    else if (level === "###") {
      const name = heading.replace(/\(\)$/, "");
      const kind = groups.get(group) ?? group;
      const shown = kind === "Types" ? name : heading;
      parts.push({
        name,
        title: namespace === "" ? shown : `${namespace}.${shown}`,
        group: kind,
        anchor,
        text: "",
        id: "",
      });
    } else {
      const part = parts.at(-1);
      if (part !== undefined && group !== "Namespaces") part.text += `${line}\n`;
    }
  }
  return {
    file: file.replace(/-1(?=\.md$)/, ""),
    entry,
    namespace,
    title: namespace === "" ? entry : namespace,
    lead: "",
    parts: parts.filter((part) => part.group !== "References"),
    listed: [],
    references: parts.filter((part) => part.group === "References"),
    again: [],
  };
}

/** @param {Page} page An entry's. @param {Map<string, Page>} pages */
function moveToFamilies(page, pages) {
  const { entry } = page;
  if (page.title !== entry || families[entry] === undefined) return;
  const ofEntry = [...pages.values()].filter((one) => one.entry === entry && one !== page);
  const namespaces = ofEntry.map(({ namespace }) => namespace);
  for (const part of page.parts) {
    const family = familyOf(entry, part.name, namespaces);
    if (family === undefined) throw new Error(`docs/.vitepress/families.mjs has no page for ${part.name} of ${entry}`);
    const file = join(dirname(page.file), `${family}.md`);
    const target = ofEntry.find(({ namespace }) => namespace === family) ?? pages.get(file);
    if (target !== undefined) target.parts.push(part);
    else {
      const lead = leads[entry]?.[family] ?? "";
      pages.set(file, {
        file,
        entry,
        namespace: "",
        title: family,
        lead,
        parts: [part],
        listed: [],
        references: [],
        again: [],
      });
    }
  }
  page.lead = `What a program imports from \`${entry}\`: functions, values, namespaces and types. Each name leads to its description.`;
  page.listed = page.parts;
  page.parts = [];
}

/**
 * A namespace names types of its entry again, which is said once, at the type. What is described on the page of another entry is listed on
 * both.
 *
 * @param {readonly Page[]} pages
 */
function noteReferences(pages) {
  const homes = new Map(pages.flatMap((page) => page.parts.map((part) => [part.anchor, { page, part }])));
  for (const { entry, namespace, references, again } of pages) {
    for (const { name, anchor, title, text } of references) {
      const [, target = ""] = /\]\((\u0001\d+\u0001)\)/.exec(text) ?? [];
      const { page, part } = homes.get(target) ?? {};
      if (page === undefined || part === undefined) throw new Error(`${title} of ${entry} is described on no page`);
      const id = `<a id="${anchor}"></a>`;
      if (namespace !== "" && part.group === "Types" && page.entry === entry) {
        part.text = `${part.text.trimEnd()}\n\n${id}Also named \`${title}\`.\n\n`;
      } else again.push({ ...part, name, title: title + (part.title.endsWith("()") ? "()" : ""), id });
    }
  }
}

/** TSDoc names a member of a namespace as a program does, `Files.read`, and that is a link here. @param {readonly Part[]} parts */
function linkNames(parts) {
  const anchors = new Map(parts.map(({ title, anchor }) => [title.replace(/\(\)$/, ""), anchor]));
  for (const part of parts) {
    const lines = linesOf(part.text).map(([line, isCode]) => {
      if (isCode) return line;
      return line.replaceAll(/(?<!\[)`([A-Z]\w*(?:\.\w+)+)`(?!\])/g, (code, name) => {
        const anchor = anchors.get(name);
        return anchor === undefined || anchor === part.anchor ? code : `[${code}](${anchor})`;
      });
    });
    part.text = lines.join("\n");
  }
}

/** @param {Page} page @param {readonly Page[]} pages @param {Record<string, { types?: string }>} exports */
function writtenPage(page, pages, exports) {
  const { entry, namespace, title, parts, again, listed } = page;
  const named = [...parts, ...again].toSorted(compare);
  const values = named.filter(({ group }) => group !== "Types");
  const types = named.filter(({ group }) => group === "Types");
  const isFamily = namespace === "" && title !== entry;
  const inside = pages.filter((one) => !isFamily && one.entry === entry && parentOf(one) === namespace);

  const names = [...inside, ...values, ...types].map((one) => one.title);
  const description =
    page.lead === "" ? shortened(`${title}${title === entry ? "" : ` of ${entry}`}: ${names.join(", ")}`) : page.lead;
  const front = { title: title === entry ? title : `${title} · ${entry}`, description };
  const spaces = table("its functions and values", inside.map(rowOfSpace));
  const isOpened = named.length > 1;
  const listOfTypes = `Types: ${types.map((part) => `${part.id}${linkTo(part)}`).join(", ")}.`;
  const text = [
    `---\n${Object.entries(front)
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
      .join("")}---`,
    // A type of the same name has the anchor of the name.
    `# ${title}${parts.some(({ name }) => slugOf(name) === slugOf(title)) ? " {#top}" : ""}`,
    page.lead,
    namespace === "" ? "" : importOf(page, exports),
    ...(listed.length > 0 ? overview(page, inside) : [spaces]),
    isOpened ? table("what it is", values.map(rowOf)) : "",
    isOpened && types.length > 0 ? listOfTypes : "",
    ...headings.map((heading) => sectionOf(heading, parts.filter(({ group }) => group === heading).toSorted(compare))),
  ];
  return `${text
    .filter((one) => one !== "")
    .map((one) => one.trimEnd())
    .join("\n\n")}\n`;
}

/** The page of the entries. @param {readonly Page[]} pages */
function entriesOf(pages) {
  const lead =
    "The modules of the package. Most of it is in `usher-http`; what needs a runtime or another package is in a module of its own.";
  const rows = pages.flatMap(({ file, entry, title, parts, listed }) => {
    if (title !== entry) return [];
    const inside = pages
      .filter((one) => one.entry === entry && parentOf(one) === "")
      .map((one) => linkToPage(one.namespace, one));
    const values = [...listed, ...parts]
      .filter(({ group }) => group !== "Types")
      .toSorted(compare)
      .map(linkTo);
    return [`| ${linkToPage(entry, { file })} | ${[...inside, ...values].join(", ")} |`];
  });
  const front = `---\ntitle: "Reference"\ndescription: ${JSON.stringify(lead.replaceAll("`", ""))}\n---`;
  return (
    [front, "# Reference", lead, table("its namespaces, functions and values", rows.toSorted())].join("\n\n") + "\n"
  );
}

/** @param {string} heading @param {readonly Part[]} parts */
function sectionOf(heading, parts) {
  if (parts.length === 0) return "";
  const isEach = parts.every(({ title }) => title.endsWith("()"));
  const texts = parts.map(({ title, anchor, text }) => `### ${title} {#${anchor}}\n\n${text.trim()}`);
  return [`## ${isEach ? heading.replace(" and values", "") : heading}`, ...texts].join("\n\n");
}

/** What is imported by itself comes before the members of a namespace. @param {Part} one @param {Part} other */
function compare(one, other) {
  return (
    Number(one.title.includes(".")) - Number(other.title.includes(".")) || one.title.localeCompare(other.title, "en")
  );
}

/** The namespace that a namespace is in; undefined of a page that is none. @param {Page} page */
function parentOf({ namespace }) {
  return namespace === "" ? undefined : namespace.slice(0, Math.max(0, namespace.lastIndexOf(".")));
}

/** @param {Page} page @param {Record<string, { types?: string }>} exports */
function importOf({ entry, namespace }, exports) {
  const [first = ""] = namespace.split(".");
  const module = Object.keys(exports).find((key) => exports[key]?.types?.endsWith(`/namespaces/${first}.d.ts`));
  const other = module === undefined ? "" : `\n// or: import * as ${first} from "usher-http/${module.slice(2)}";`;
  return `\`\`\`ts\nimport { ${first} } from "${entry}";${other}\n\`\`\``;
}

/** The names of an entry, of which each leads to its page. @param {Page} page @param {readonly Page[]} spaces */
function overview({ listed }, spaces) {
  /** @type {Set<string>} */
  const taken = new Set();
  // The anchors that the names had when the page described them.
  const parts = listed.map((part) => ({ ...part, id: `<span id="${unique(slugOf(part.name), taken)}"></span>` }));
  const ofSpaces = spaces.flatMap((page) => page.parts.filter(({ title }) => title.includes(".")));
  const types = [...parts, ...ofSpaces].filter(({ group }) => group === "Types");
  return [
    "## Functions, values and classes",
    table(
      "what it is",
      parts
        .filter(({ group }) => group !== "Types")
        .toSorted(compare)
        .map(rowOf),
    ),
    "## Namespaces",
    table("its functions and values", spaces.map(rowOfSpace)),
    "## Types",
    table("what it is", types.toSorted(compare).map(rowOf)),
  ];
}

/** @param {string} what @param {readonly string[]} rows */
function table(what, rows) {
  return rows.length === 0 ? "" : [`| name | ${what} |`, "| --- | --- |", ...rows].join("\n");
}

/** @param {Part} part */
function linkTo({ title, anchor }) {
  return `[\`${title}\`](${anchor})`;
}

/** @param {string} name @param {{ readonly file: string }} page */
function linkToPage(name, { file }) {
  return `[\`${name}\`](${pageMark}${file}${pageMark})`;
}

/** @param {Part} part */
function rowOf(part) {
  const [, same] = /^```ts\ntype \w+(?:<.*>)? = (\w+Type)\b/.exec(part.text.trim()) ?? [];
  return `| ${part.id}${linkTo(part)} | ${same === undefined ? sentenceOf(part.text) : `The type \`${same}\`.`} |`;
}

/** @param {Page} page */
function rowOfSpace({ file, namespace, parts, again }) {
  const values = [...parts, ...again].filter(
    ({ group, title }) => group !== "Types" && title.startsWith(`${namespace}.`),
  );
  const names = values
    .toSorted(compare)
    .map(({ title, anchor }) => `[\`${title.slice(namespace.length + 1)}\`](${anchor})`);
  return `| ${linkToPage(namespace, { file })} | ${names.join(", ")} |`;
}

/** The first sentence that is neither code nor a table. @param {string} text */
function sentenceOf(text) {
  const paragraphs = text.replaceAll(/^```[^]*?^```$/gm, "").split(/\n{2,}/);
  const words = paragraphs.map((one) => one.trim()).find((one) => /^[^#|*<>\s-]/.test(one)) ?? "";
  // An example's guide.
  if (words.startsWith("From [")) return "";
  const line = words.replaceAll("\n", " ");
  // A colon ends a sentence that a list or a program follows, and neither ends one in code or in parentheses.
  const [sentence = line] = /^(?:`[^`]*`|\([^)]*\)|[^`(])*?[.:](?=\s|$)/.exec(line) ?? [];
  return sentence.replace(/:$/, ".").replaceAll(/(?<!\\)\|/g, "\\|");
}

/** @param {string} text Names with commas between them. */
function shortened(text) {
  return text.length <= 150 ? `${text}.` : `${text.slice(0, text.lastIndexOf(",", 148))}, …`;
}

/** @param {ReadonlyMap<string, Page>} pages @param {string} old */
function fileOf(pages, old) {
  return pages.get(old)?.file ?? [...pages.values()].find(({ file }) => file === old)?.file ?? old;
}

/**
 * Where each anchor stands. A heading of a name has its name, and what follows has a number where that is taken.
 *
 * @param {ReadonlyMap<string, Page>} pages @param {ReadonlyMap<string, string>} written @param {readonly string[]} slugs
 */
function homesOf(pages, written, slugs) {
  /** @type {Map<string, { readonly file: string, readonly id: string }>} */
  const homes = new Map();
  for (const [old, text] of written) {
    const taken = new Set(
      [...text.matchAll(/^##? (.*?)(?: \{#top\})?$|<span id="([^"]+)">/gm)].map(([whole, heading, id = ""]) =>
        whole.endsWith("{#top}") ? "top" : heading === undefined ? id : slugOf(heading),
      ),
    );
    const file = fileOf(pages, old);
    for (const place of [/^###? .* \{#\u0001(\d+)\u0001\}$/gm, /(?:\{#|<a id=")\u0001(\d+)\u0001/g]) {
      for (const [, number = ""] of text.matchAll(place)) {
        if (!homes.has(number)) homes.set(number, { file, id: unique(slugs[Number(number)] ?? "", taken) });
      }
    }
  }
  return homes;
}

/** @param {string} text @param {ReadonlyMap<string, Page>} pages @param {ReturnType<typeof homesOf>} homes @param {string} file */
function resolved(text, pages, homes, file) {
  /** @param {string} to */
  const pathTo = (to) => relative(dirname(file), to);
  return text
    .replaceAll(/\]\(\u0001(\d+)\u0001\)/g, (_, number) => {
      const home = homes.get(number);
      if (home === undefined) throw new Error(`${file} links to a name that is on no page`);
      return `](${home.file === file ? "" : pathTo(home.file)}#${home.id})`;
    })
    .replaceAll(anchorText, (_, number) => homes.get(number)?.id ?? "")
    .replaceAll(/\u0002([^\u0002]*)\u0002/g, (_, old) => pathTo(fileOf(pages, old)))
    .replaceAll(/\u0003([^\u0003]*)\u0003/g, (_, path) => relative(join("reference", dirname(file)), path));
}
