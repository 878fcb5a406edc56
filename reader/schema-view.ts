/** A schema as a list of members that open: what is within one is made when it is opened, so recursion has no cost. */
import type { Schema } from "./document.ts";
import { fieldsOf, listOf, schemaOf, textOf } from "./document.ts";
import type { Child } from "./dom.ts";
import { button, disclosure, h } from "./dom.ts";
import { inline } from "./prose.ts";
import { choicesOf, jsonText, refName, rulesOf, typeText } from "./schema-text.ts";

type Resolve = (schema: Schema) => Schema;

const shownAtOnce = 100;

export function schemaView(schema: Schema, resolve: Resolve): HTMLElement {
  const full = resolve(schema);
  return h("div", { class: "schema" }, ...headOf(schema, full), ...within(full, resolve, true));
}

function headOf(schema: Schema, full: Schema): readonly Child[] {
  return [h("p", { class: "member" }, typeOf(schema, full), ...rules(full)), described(full)];
}

function typeOf(schema: Schema, full: Schema): HTMLElement {
  return h("span", { class: "type" }, refName(schema) ?? typeText(full));
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

/** The rules of a schema as small labels. */
export function rules(schema: Schema): readonly HTMLElement[] {
  return rulesOf(schema).map((text) => h("span", { class: "rule" }, text));
}

function described(schema: Schema): Child {
  const text = textOf(schema["description"]);
  return text === "" ? undefined : h("p", { class: "about" }, ...inline(text.slice(0, 2000)));
}

/**
 * What a schema is made of: members, items, alternatives.
 *
 * @param isTop The only member of a whole body is opened: many wrap what they carry.
 */
function within(schema: Schema, resolve: Resolve, isTop = false): Child[] {
  const required = new Set(listOf(schema["required"]));
  const isOpen = isTop && Object.keys(fieldsOf(schema["properties"])).length === 1;
  const parts: (() => Child)[] = [
    ...Object.entries(fieldsOf(schema["properties"])).map(
      ([name, value]) =>
        () =>
          member(h("span", { class: "name" }, name), schemaOf(value), resolve, {
            isRequired: required.has(name),
            isOpen,
          }),
    ),
    ...Object.entries(fieldsOf(schema["patternProperties"])).map(
      ([pattern, value]) =>
        () =>
          member(label("names that match", h("code", {}, pattern)), schemaOf(value), resolve),
    ),
    ...listOf(schema["allOf"]).map((value) => () => member(label("and"), schemaOf(value), resolve)),
    ...choicesOf(schema).map((value) => () => member(label("either", ...markOf(resolve(value))), value, resolve)),
    ...listOf(schema["prefixItems"]).map(
      (value, place) => () => member(label(`item ${place}`), schemaOf(value), resolve),
    ),
    ...one(schema, "items", "each item", resolve),
    ...one(schema, "additionalProperties", "any other name", resolve),
    ...one(schema, "contentSchema", "as JSON", resolve),
  ];
  if (schema["additionalProperties"] === false && schema["properties"] !== undefined) {
    parts.push(() => h("li", { class: "about" }, "No other member is taken."));
  }
  return parts.length === 0 ? [] : [listed(parts)];
}

/** The member that tells an alternative from the others. */
function markOf(choice: Schema): readonly Child[] {
  const members = Object.entries(fieldsOf(choice["properties"]));
  const found = members.find(([, value]) => "const" in schemaOf(value));
  return found === undefined ? [] : [h("code", {}, `${found[0]}: ${jsonText(schemaOf(found[1])["const"])}`)];
}

function one(schema: Schema, keyword: string, text: string, resolve: Resolve): (() => Child)[] {
  const value = schema[keyword];
  return typeof value === "object" && value !== null ? [() => member(label(text), schemaOf(value), resolve)] : [];
}

function label(text: string, ...more: readonly Child[]): HTMLElement {
  return h("span", { class: "label" }, text, more.length > 0 && " ", ...more);
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

function member(
  name: HTMLElement,
  schema: Schema,
  resolve: Resolve,
  { isRequired = false, isOpen = false } = {},
): HTMLElement {
  const full = resolve(schema);
  const head = [
    name,
    " ",
    typeOf(schema, full),
    isRequired && h("span", { class: "required" }, "required"),
    full["deprecated"] === true && h("span", { class: "deprecated" }, "deprecated"),
    ...rules(full),
  ];
  const about = described(full);
  if (!hasMore(full, resolve)) return h("li", {}, h("p", { class: "member" }, ...head), about);
  return h(
    "li",
    {},
    disclosure([h("span", { class: "member" }, ...head)], () => within(inside(full, resolve), resolve), isOpen),
    about,
  );
}

/** Of a list of objects, the members are those of the object. */
function inside(schema: Schema, resolve: Resolve): Schema {
  const item = schema["items"];
  if (typeof item !== "object" || item === null || schema["prefixItems"] !== undefined) return schema;
  return resolve(schemaOf(item));
}

function hasMore(schema: Schema, resolve: Resolve): boolean {
  const { properties, patternProperties, allOf, prefixItems, additionalProperties, contentSchema } = inside(
    schema,
    resolve,
  );
  const objects = [properties, patternProperties, additionalProperties, contentSchema];
  return (
    objects.some((value) => Object.keys(fieldsOf(value)).length > 0) ||
    [allOf, prefixItems].some((value) => listOf(value).length > 0) ||
    choicesOf(inside(schema, resolve)).some((choice) => refName(choice) !== undefined || "properties" in choice)
  );
}
