/** The fields of a form: one for each parameter, or member of a body's form. */
import type { Parameter, Schema } from "./document.ts";
import { listOf, schemaOf } from "./document.ts";
import { h, newId } from "./dom.ts";
import { markdownOf } from "./html.ts";
import { inline } from "./prose.ts";
import { factsOf, mergedOf } from "./schema-facts.ts";
import { isBinary, jsonText } from "./schema-text.ts";

export interface Field {
  readonly element: HTMLElement;
  /** The control that is focused if something is missing. */
  readonly control: HTMLElement;
  readonly texts: () => readonly string[];
  readonly files: () => readonly File[];
}

export interface FieldOf {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly description?: string;
  readonly value?: string;
}

export function parameterField({ name, schema, isRequired, description, examples }: Parameter, api: Resolver): Field {
  const [example] = examples;
  const value = example === undefined ? undefined : textFor(example.value);
  return fieldOf({ name, schema, isRequired, description, ...(value === undefined ? {} : { value }) }, api);
}

interface Resolver {
  readonly resolve: (schema: Schema) => Schema;
}

/** A value of the document as one would type it. */
export function textFor(value: unknown): string {
  if (Array.isArray(value)) return value.map(textFor).join("\n");
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

export function fieldOf({ name, schema, isRequired, description = "", value }: FieldOf, { resolve }: Resolver): Field {
  const id = newId();
  const full = mergedOf(schema, resolve);
  const facts = factsOf(schema, resolve);
  const isList = [full["type"]].flat().includes("array");
  const item = isList ? mergedOf(schemaOf(full["items"] ?? {}), resolve) : full;
  const given = { name, schema: item, isRequired, ...(value === undefined ? {} : { value }) };
  const words = wordsOf(item);
  const made = isList && words.length > 0 ? checkboxes(id, words, value) : controlOf(id, isList, given);
  const rules = [facts.type, ...facts.rules].join(" · ");
  const about = description || (facts.about[0] ?? "");
  const mark = isRequired && h("span", { class: "required" }, " required");
  const element = h(
    "div",
    { class: "field" },
    // A group has no label element: it is named by its id.
    h(made.isGroup ? "p" : "label", made.isGroup ? { id: `${id}-name`, class: "label" } : { for: id }, name, mark),
    made.element,
    h("p", { class: "hint", id: `${id}-hint` }, rules, made.isLines && " · one a line"),
    about !== "" && h("p", { class: "hint" }, ...inline(markdownOf(about.slice(0, 2000)))),
  );
  made.element.setAttribute("aria-describedby", `${id}-hint`);
  return { ...made, element };
}

/** A control, with what holds it. */
interface Control extends Field {
  readonly isGroup?: boolean;
  /** Each line of it is one value. */
  readonly isLines?: boolean;
}

function controlOf(id: string, isList: boolean, { name, schema, value, isRequired }: FieldOf): Control {
  if (isBinary(schema)) return fileControl(id, isList);
  if (isList) return linesControl(id, value);
  const words = wordsOf(schema);
  if (words.length > 0) return selectControl(id, words, value, isRequired);
  const isNumber = schema["type"] === "integer" || schema["type"] === "number";
  const placeholder = schema["default"] === undefined ? "" : textFor(schema["default"]);
  const inputmode = isNumber ? "decimal" : "text";
  const isSecret = schema["format"] === "password" || /password|secret/i.test(name);
  const type = isSecret ? "password" : "text";
  const attributes = { id, type, inputmode, placeholder, autocomplete: "off", spellcheck: "false" };
  const control = h("input", { ...attributes, value: value ?? "" });
  return single(control, () => (control.value === "" ? [] : [control.value]));
}

function single(control: HTMLElement, texts: () => readonly string[]): Control {
  return { element: control, control, texts, files: () => [] };
}

/** A list of known words: each is taken or not. */
function checkboxes(id: string, words: readonly string[], value = ""): Control {
  const taken = new Set(value.split("\n"));
  const boxes = words.map((word) => {
    const box = h("input", { type: "checkbox", value: word });
    box.checked = taken.has(word);
    return box;
  });
  const labels = boxes.map((box) => h("label", {}, box, box.value));
  const element = h("div", { id, role: "group", class: "words", "aria-labelledby": `${id}-name` }, ...labels);
  const texts = () => boxes.filter(({ checked }) => checked).map((box) => box.value);
  return { element, control: boxes[0] ?? element, texts, files: () => [], isGroup: true };
}

function wordsOf(schema: Schema): readonly string[] {
  if ([schema["type"]].flat().includes("boolean")) return ["true", "false"];
  const all = [...listOf(schema["enum"]), ...("const" in schema ? [schema["const"]] : [])];
  const words = all.filter((word) => word !== null);
  return words.map((word) => (typeof word === "string" ? word : jsonText(word)));
}

function selectControl(id: string, words: readonly string[], value: string | undefined, isRequired: boolean): Control {
  const control = h("select", { id }, ...words.map((word) => h("option", { value: word }, word)));
  // The index tells "not sent" from the word "".
  if (!isRequired) control.prepend(h("option", { value: "" }, "(not sent)"));
  control.selectedIndex = 0;
  if (value !== undefined && words.includes(value)) control.value = value;
  const isSent = () => isRequired || control.selectedIndex > 0;
  return single(control, () => (isSent() ? [control.value] : []));
}

function linesControl(id: string, value = ""): Control {
  const control = h("textarea", { id, rows: "2", spellcheck: "false" });
  control.value = value;
  return { ...single(control, () => control.value.split("\n").filter((line) => line !== "")), isLines: true };
}

function fileControl(id: string, isMany: boolean): Control {
  const control = h("input", { id, type: "file" });
  control.multiple = isMany;
  return { ...single(control, () => []), files: () => [...(control.files ?? [])] };
}
