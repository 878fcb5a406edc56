/** A schema as a list of members that open: what is within one is made when it is opened, so recursion has no cost. */
import type { Schema } from "./document.ts";
import { fieldsOf, schemaOf, textOf } from "./document.ts";
import type { Child } from "./dom.ts";
import { button, disclosure, h } from "./dom.ts";
import { prose } from "./prose.ts";
import { factsOf } from "./schema-facts.ts";
import type { Part, Resolve, SchemaFacts } from "./schema-facts.ts";
import { choicesOf } from "./schema-text.ts";

const shownAtOnce = 100;

export function schemaView(schema: Schema, resolve: Resolve): HTMLElement {
  const facts = factsOf(schema, resolve);
  return h(
    "div",
    { class: "schema" },
    h("p", { class: "member" }, typeOf(facts), ...marks(facts)),
    ...facts.about.map(about),
    ...within(facts, resolve, true),
  );
}

function typeOf({ type }: SchemaFacts): HTMLElement {
  return h("span", { class: "type" }, type);
}

/** The kinds of an event stream, by their names, each with the schema of its data. */
export function eventsView(item: Schema, resolve: Resolve): HTMLElement {
  const full = resolve(item);
  const choices = choicesOf(full);
  const kinds = (choices.length > 0 ? choices : [full]).map((kind) => {
    const { event, data } = fieldsOf(resolve(kind)["properties"]);
    return { name: textOf(schemaOf(event)["const"]), data: schemaOf(data) };
  });
  if (kinds.some(({ name }) => name === "")) return schemaView(item, resolve);
  const views = kinds.map(({ name, data }) => () => {
    const content = data["contentSchema"] === undefined ? data : schemaOf(data["contentSchema"]);
    return member(h("span", { class: "name" }, name), content, resolve);
  });
  return h("div", { class: "schema" }, listed(views));
}

/** A description, in its lines and lists. */
function about(text: string): HTMLElement {
  return prose(text, "about");
}

/** The rules of a value, as small labels. */
function marks({ rules, isDeprecated }: SchemaFacts, more: readonly string[] = []): readonly Child[] {
  return [
    isDeprecated && h("span", { class: "deprecated" }, "deprecated"),
    ...[...rules, ...more].map((text) => h("span", { class: "rule" }, text)),
  ];
}

/** @param isTop The only member of a whole body is opened: many wrap what they carry. */
function within({ parts }: SchemaFacts, resolve: Resolve, isTop = false): Child[] {
  if (parts.length === 0) return [];
  const isOpen = isTop && parts.filter(({ kind }) => kind === "member").length === 1;
  return [listed(parts.map((part) => () => partView(part, resolve, isOpen)))];
}

function partView(part: Part, resolve: Resolve, isOpen: boolean): HTMLElement {
  if (part.kind === "note") return h("li", { class: "about" }, part.text);
  if (part.kind === "other") {
    return member(label(part.label, part.code !== undefined && h("code", {}, part.code)), part.schema, resolve);
  }
  const { name, isRequired, schema } = part;
  return member(h("span", { class: "name" }, name), schema, resolve, { isRequired, isOpen });
}

function label(text: string, code?: Child): HTMLElement {
  return h("span", { class: "label" }, text, code !== undefined && code !== false && " ", code);
}

/** The first of them, and a button for more. */
function listed(parts: readonly (() => Child)[]): HTMLElement {
  const list = h("ul", { class: "members" });
  const show = (from: number) => {
    const to = from + shownAtOnce;
    list.append(...parts.slice(from, to).map((part) => part() || ""));
    if (to >= parts.length) return;
    const more = h("li");
    more.append(
      button(`Show more of ${parts.length - to}`, () => {
        more.remove();
        show(to);
      }),
    );
    list.append(more);
  };
  show(0);
  return list;
}

export interface MemberOptions {
  readonly isRequired?: boolean;
  readonly isDeprecated?: boolean;
  readonly isOpen?: boolean;
  /** Where it stands, as `in query`. */
  readonly place?: string;
  /** In Markdown, before those of the schema. */
  readonly description?: string;
  readonly rules?: readonly string[];
}

/** A member, a parameter or a header: its name, its type, its rules and its words. What it is made of opens. */
export function member(name: HTMLElement, schema: Schema, resolve: Resolve, options: MemberOptions = {}): HTMLElement {
  const { isRequired = false, isDeprecated = false, isOpen = false, place, description = "", rules = [] } = options;
  const facts = factsOf(schema, resolve);
  const head = [
    name,
    " ",
    typeOf(facts),
    place !== undefined && label(place),
    isRequired && h("span", { class: "required" }, "required"),
    ...marks({ ...facts, isDeprecated: isDeprecated || facts.isDeprecated }, rules),
  ];
  const words = [...new Set([description, ...facts.about])].filter((text) => text !== "").map(about);
  if (facts.parts.length === 0) return h("li", {}, h("p", { class: "member" }, ...head), ...words);
  const opened = disclosure([h("span", { class: "member" }, ...head)], () => within(facts, resolve), isOpen);
  return h("li", {}, opened, ...words);
}
